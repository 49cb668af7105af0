#pragma once

// How SQL stores and packed records keep an execution: a narrow row of the facts that most executions have, and one
// column with everything that differs from what those facts let one expect. A plain submit, claim, complete writes no
// details at all.

#include "core/records/execution.h"

#include <flowfabric/error.h>

namespace ff::store {

/// The row. Views point into the record when it was packed, into the driver's memory when it was read.
struct PackedRow {
  ExecutionId id;
  std::int32_t priority = 0;
  TimeMs created_at_ms = 0;
  // Index columns, computed by core.
  bool candidate = false;
  std::optional<TimeMs> due_at_ms;
  std::optional<TimeMs> retain_until_ms;
  std::int64_t bucket = 0;  ///< place in the counts of its lane
  /// The state vector, the newest attempt's type and whether there are tags, each in its bits; see `StateBits`.
  std::int64_t state = 0;
  std::uint32_t total_attempt_count = 0;
  std::uint64_t current_lease_epoch = 0;
  /// Of the newest attempt: lease id and attempt id, then while the execution is owned ttl, acquired and expiry
  /// (big-endian). Empty without an attempt.
  std::string_view lease;
  /// The holder, `<worker_id>\n<worker_instance_id>`; empty without an attempt.
  std::string_view worker;
  std::optional<std::string_view> claim_key;
  std::optional<TimeMs> started_at_ms;
  TimeMs last_mutation_at_ms = 0;
  std::uint64_t version = 0;
  /// JSON object of the fields that are not as expected; empty when all are.
  std::string_view details;
};

/// Where each fact stands in `PackedRow::state`: a contract with what is stored.
struct StateBits {
  int shift;
  int width;
};
inline constexpr StateBits kPhaseBits{0, 2}, kOwnershipBits{2, 2}, kEligibilityBits{4, 3}, kReasonBits{7, 4},
    kOutcomeBits{11, 3}, kAttemptStateBits{14, 3}, kPublicStateBits{17, 4}, kAttemptTypeBits{21, 2}, kTagsBits{23, 1};
constexpr std::int64_t get_bits(std::int64_t state, StateBits bits) {
  return (state >> bits.shift) & ((std::int64_t{1} << bits.width) - 1);
}

/// Owns what a packed row points to besides the record.
struct PackBuffer {
  std::string lease, worker, details;
};

PackedRow pack(const core::ExecutionRecord& record, PackBuffer& buffer);
/// Fills a new record, but for its tags. Contradictions are `corruption` with the field and its value.
Result<void> unpack(const PackedRow& row, core::QueueRef queue, core::ExecutionRecord& record);

std::string pack_attempt(const Attempt& attempt);
Result<Attempt> unpack_attempt(std::string_view text);

std::string pack_tags(const Tags& tags);
Result<std::shared_ptr<const Tags>> unpack_tags(std::string_view text);

/// Creator, key and trace of an execution as JSON; empty when it has none of them.
std::string pack_origin(const core::ExecutionInfo& info);
Result<core::ExecutionInfo> unpack_info(std::string_view policy, std::string_view origin);

}  // namespace ff::store
