#pragma once

// How SQL stores and packed records keep an execution: a narrow row of the facts that most executions have, and one
// column with everything that differs from what those facts let one expect. A plain submit, claim, complete writes no
// details at all.

#include "core/records/execution.h"

#include <flowfabric/error.h>

namespace ff::store {

/// The row. Texts are views: into the record when packed, into the driver's memory when read.
struct PackedRow {
  ExecutionId id;
  std::int32_t priority = 0;
  TimeMs created_at_ms = 0;
  // Index columns, computed by core.
  bool candidate = false;
  std::optional<TimeMs> due_at_ms;
  std::optional<TimeMs> retain_until_ms;
  std::int64_t bucket = 0;  ///< place in the counts of its lane
  // The state vector, by enumerator number.
  std::int64_t lifecycle_phase = 0, ownership_state = 0, eligibility_state = 0, blocking_reason = 0;
  std::int64_t terminal_outcome = 0, attempt_state = 0, public_state = 0;
  std::uint32_t total_attempt_count = 0;
  std::uint64_t current_lease_epoch = 0;
  // The newest attempt's last lease; its times only while the execution is owned.
  std::optional<Uuid> lease_id;
  std::string_view worker_id, worker_instance_id;
  std::optional<std::uint32_t> lease_ttl_ms;
  std::optional<TimeMs> lease_acquired_at_ms, lease_expires_at_ms;
  std::optional<std::string_view> claim_key;
  std::optional<Uuid> attempt_id;
  std::int64_t attempt_type = 0;
  std::optional<TimeMs> started_at_ms;
  TimeMs last_mutation_at_ms = 0;
  std::uint64_t version = 0;
  bool has_tags = false;
  /// JSON object of the fields that are not as expected; empty when all are.
  std::string details;
};

PackedRow pack(const core::ExecutionRecord& record);
/// The record without its tags. Contradictions are `corruption` with the field and its value.
Result<core::ExecutionRecord> unpack(const PackedRow& row, core::QueueRef queue);

std::string pack_attempt(const Attempt& attempt);
Result<Attempt> unpack_attempt(std::string_view text);

std::string pack_tags(const Tags& tags);
Result<std::shared_ptr<const Tags>> unpack_tags(std::string_view text);

/// Creator, key and trace of an execution as JSON; empty when it has none of them.
std::string pack_origin(const core::ExecutionInfo& info);
Result<core::ExecutionInfo> unpack_info(std::string_view policy, std::string_view origin);

}  // namespace ff::store
