#pragma once

#include <flowfabric/ids.h>
#include <flowfabric/states.h>

#include <optional>
#include <string>

namespace ff::core {

/// An opened worker handle: what the lease was when it was given. Authority comes from comparing it with the record.
struct TaskHandle {
  HandleKind kind = HandleKind::fresh;
  ExecutionId execution_id;
  std::uint32_t attempt_index = 0;
  Uuid attempt_id;
  Uuid lease_id;
  std::uint64_t lease_epoch = 0;
  std::string lane_id;
  /// Of whoever shows it: executions of other namespaces are as if they did not exist. Not part of the sealed text.
  std::optional<std::string> namespace_scope = std::nullopt;

  bool operator==(const TaskHandle&) const = default;
};

/// How logs show a handle; the handle itself is a secret.
std::string redacted(const TaskHandle& handle);

}  // namespace ff::core
