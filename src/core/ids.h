#pragma once

#include <flowfabric/ids.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

namespace ff::core {

/// The counts that place ids into partitions; fixed for the life of a data set.
struct Partitioning {
  std::uint16_t num_flow_partitions = 256;
  std::uint16_t num_budget_partitions = 32;
  std::uint16_t num_quota_partitions = 32;
  std::uint16_t lane_spread = 8;

  bool operator==(const Partitioning&) const = default;
};

std::string_view raw_bytes(const Uuid& uuid);

/// Where an execution without a flow lives.
std::uint16_t solo_partition(std::string_view lane_id, const Uuid& uuid, const Partitioning& partitioning);
/// Where the executions of one (namespace, idempotency key) live, together with the key's record.
std::uint16_t keyed_partition(std::string_view namespace_, std::string_view key, const Partitioning& partitioning);
/// Where a flow and all its members live.
std::uint16_t flow_partition(const Uuid& flow_id, const Partitioning& partitioning);

/// A UUID of version 7 made from a time and 74 bits that the caller drew.
Uuid make_uuid7(TimeMs now_ms, std::uint64_t high, std::uint64_t low);

/// Ids for a decision: a pure function of a seed drawn before it. Asking again with the same seed gives the same ids.
class IdSource {
 public:
  IdSource() = default;
  IdSource(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}
  Uuid next(TimeMs now_ms);

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

/// The wire form of a partition: `{fp:3}`, `{b:0}`, `{q:31}`.
enum class PartitionFamily : std::uint8_t { flow, budget, quota };
struct PartitionKey {
  PartitionFamily family = PartitionFamily::flow;
  std::uint16_t index = 0;

  bool operator==(const PartitionKey&) const = default;
};
std::string to_string(const PartitionKey& key);
/// `invalid_input`, details `no_braces`, `no_prefix_index`, `unknown_prefix`, `invalid_index`.
Result<PartitionKey> parse_partition_key(std::string_view text);

}  // namespace ff::core

template <>
struct std::hash<ff::Uuid> {
  std::size_t operator()(const ff::Uuid& uuid) const noexcept {
    std::uint64_t low = 0, high = 0;
    std::memcpy(&high, uuid.bytes.data(), 8);
    std::memcpy(&low, uuid.bytes.data() + 8, 8);
    return static_cast<std::size_t>((low ^ (high * 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL);
  }
};
template <>
struct std::hash<ff::ExecutionId> {
  std::size_t operator()(const ff::ExecutionId& id) const noexcept {
    return std::hash<ff::Uuid>{}(id.uuid) ^ id.partition;
  }
};
