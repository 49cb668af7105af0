#pragma once

#include <flowfabric/error.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ff {

/// Milliseconds since the Unix epoch.
using TimeMs = std::int64_t;

/// Opaque bytes: payloads and results are kept exactly as given, NUL and invalid UTF-8 included.
using Bytes = std::string;

/// A UUID, 16 raw bytes; ordered by its bytes.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;
  bool is_nil() const { return *this == Uuid{}; }
  /// 36 characters, lower case.
  std::string to_string() const;
  /// Accepts the 36-character form in either case and nothing else.
  static std::optional<Uuid> parse(std::string_view text);
};

/// The identity of an execution: `{fp:N}:<uuid>`. The partition is part of the identity.
struct ExecutionId {
  std::uint16_t partition = 0;
  Uuid uuid;

  bool operator==(const ExecutionId&) const = default;
  /// By uuid, then partition: the order of queues and lists.
  std::strong_ordering operator<=>(const ExecutionId& other) const {
    if (auto by_uuid = uuid <=> other.uuid; by_uuid != 0) return by_uuid;
    return partition <=> other.partition;
  }
  std::string to_string() const;
  /// `invalid_input` with detail `missing_tag`, `invalid_partition_index` or `invalid_uuid`.
  static Result<ExecutionId> parse(std::string_view text);
};

}  // namespace ff
