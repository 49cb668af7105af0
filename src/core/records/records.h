#pragma once

// The records besides the execution itself.

#include "core/ids.h"
#include "core/records/execution.h"

namespace ff::core {

/// One attempt that is no longer the newest of its execution.
struct AttemptKey {
  ExecutionId execution_id;
  std::uint32_t attempt_index = 0;

  auto operator<=>(const AttemptKey&) const = default;
};

/// A key under which a call was made once: the repeat gets the first answer.
struct IdempotencyId {
  std::string namespace_;
  std::string operation;
  std::string idempotency_key;

  auto operator<=>(const IdempotencyId&) const = default;
};

struct IdempotencyRecord {
  IdempotencyId id;
  std::uint16_t partition = 0;
  std::optional<ExecutionId> execution_id;
  Bytes outcome;  ///< for a create: the SHA-256 of its content
  TimeMs created_at_ms = 0;
  TimeMs expires_at_ms = 0;
  std::uint64_t version = 0;

  bool operator==(const IdempotencyRecord&) const = default;
};

/// The operation name under which creates keep their keys.
inline constexpr std::string_view kCreateOperation = "create_execution";

/// What the engine version of a data set begins with while an import fills it.
inline constexpr std::string_view kImporting = "importing ";

/// The identity of a data set, written at its first start and checked at every later one.
struct Dataset {
  Uuid data_set_id;
  std::array<std::uint8_t, 32> handle_key{};  ///< seals handles; in no answer and in no log
  Partitioning partitioning;
  std::uint16_t event_shards = 8;
  TimeMs created_at_ms = 0;
  std::string engine_version;

  /// False while an import has not brought in everything, and for ever when it was interrupted.
  bool is_whole() const { return !engine_version.starts_with(kImporting); }
  bool operator==(const Dataset&) const = default;
};

}  // namespace ff::core

template <>
struct std::hash<ff::core::AttemptKey> {
  std::size_t operator()(const ff::core::AttemptKey& key) const noexcept {
    return std::hash<ff::ExecutionId>{}(key.execution_id) * 31 + key.attempt_index;
  }
};
template <>
struct std::hash<ff::core::IdempotencyId> {
  std::size_t operator()(const ff::core::IdempotencyId& key) const noexcept {
    const std::hash<std::string> text;
    return (text(key.namespace_) * 31 + text(key.operation)) * 31 + text(key.idempotency_key);
  }
};
