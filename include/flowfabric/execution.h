#pragma once

#include <flowfabric/ids.h>
#include <flowfabric/policy.h>
#include <flowfabric/states.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ff {

/// Free labels by which executions are found and events are filtered.
using Tags = std::map<std::string, std::string>;

// The groups below are the facts of an execution that belong together. They are flat on the wire:
// `state.lifecycle_phase` is the JSON member `lifecycle_phase`.

/// Six facts and one derived word that together say where an execution stands.
struct StateVector {
  LifecyclePhase lifecycle_phase = LifecyclePhase::runnable;
  OwnershipState ownership_state = OwnershipState::unowned;
  EligibilityState eligibility_state = EligibilityState::eligible_now;
  BlockingReason blocking_reason = BlockingReason::waiting_for_worker;
  TerminalOutcome terminal_outcome = TerminalOutcome::none;
  AttemptState attempt_state = AttemptState::pending_first_attempt;
  PublicState public_state = PublicState::waiting;

  bool operator==(const StateVector&) const = default;
};

struct Counters {
  std::uint32_t total_attempt_count = 0;
  std::uint64_t current_lease_epoch = 0;  ///< +1 at every lease issue, never otherwise
  std::uint32_t claim_count = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t lease_reclaim_count = 0;
  std::uint32_t replay_count = 0;
  std::uint32_t signal_count = 0;

  bool operator==(const Counters&) const = default;
};

struct Times {
  TimeMs created_at_ms = 0;
  std::optional<TimeMs> started_at_ms;
  std::optional<TimeMs> completed_at_ms;
  std::optional<TimeMs> retain_until_ms;
  TimeMs last_transition_at_ms = 0;
  TimeMs last_mutation_at_ms = 0;

  bool operator==(const Times&) const = default;
};

/// The clocks that may ring for an execution, besides its lease.
struct Timers {
  std::optional<TimeMs> delay_until_ms;
  std::optional<TimeMs> attempt_timeout_at_ms;
  std::optional<std::uint64_t> attempt_timeout_remaining_ms;
  std::optional<TimeMs> execution_deadline_at_ms;

  bool operator==(const Timers&) const = default;
};

/// Why it stands still, as far as the state vector does not say it.
struct Hold {
  std::optional<std::string> blocking_detail;
  std::optional<TimeMs> blocked_at_ms;
  std::optional<std::string> blocked_on;
  std::optional<TimeMs> blocked_until_ms;
  InterruptKind interrupt_kind = InterruptKind::none;
  CancelOwed cancel_owed = CancelOwed::none;
  std::optional<TimeMs> lease_expired_at_ms;
  std::optional<TimeMs> lease_revoked_at_ms;
  std::optional<std::string> lease_revoke_reason;
  std::optional<TimeMs> last_capability_mismatch_at_ms;

  bool operator==(const Hold&) const = default;
};

struct Progress {
  std::optional<std::uint32_t> progress_pct;
  std::optional<std::string> progress_message;
  std::optional<TimeMs> progress_updated_at_ms;

  bool operator==(const Progress&) const = default;
};

struct Ending {
  std::optional<std::string> failure_reason;
  std::optional<std::string> failure_category;
  std::optional<std::string> last_failure_message;  ///< survives a successful retry
  std::optional<std::string> cancellation_reason;
  std::optional<CancelSource> cancelled_by;

  bool operator==(const Ending&) const = default;
};

/// One try at running an execution. Retries, reclaims and replays make new ones; a resume goes on with the old.
struct Attempt {
  std::uint32_t attempt_index = 0;
  Uuid attempt_id;
  AttemptType attempt_type = AttemptType::initial;
  AttemptRecordState attempt_state = AttemptRecordState::started;
  std::optional<AttemptOutcome> outcome;
  // The last holder.
  Uuid lease_id;
  std::uint64_t lease_epoch = 0;
  std::string worker_id;
  std::string worker_instance_id;
  TimeMs created_at_ms = 0;
  TimeMs started_at_ms = 0;
  std::optional<TimeMs> suspended_at_ms;
  std::optional<std::string> suspension_id;  ///< `worker_delay`, `waiting_children` or a suspension's UUID
  std::optional<TimeMs> resumed_at_ms;
  std::optional<TimeMs> ended_at_ms;
  std::optional<std::string> failure_reason;
  std::optional<std::string> failure_category;
  std::optional<FailureClass> failure_class;
  // Where it comes from, by type.
  std::optional<std::string> retry_reason;
  std::optional<std::string> replay_reason;
  std::optional<std::string> replay_requested_by;
  std::optional<std::string> reclaim_reason;
  std::optional<std::uint32_t> previous_attempt_index;
  std::optional<std::uint32_t> replayed_from_attempt_index;
  std::map<std::string, std::uint64_t> usage;
  // The receipt of the last release: recognises a call that is repeated after a lost reply.
  std::optional<Uuid> released_lease_id;
  std::optional<std::uint64_t> released_lease_epoch;
  std::optional<ReleaseOp> release_op;
  std::optional<TimeMs> release_delay_until_ms;
  std::uint64_t version = 0;

  bool operator==(const Attempt&) const = default;
};

/// Who holds an execution, and until when.
struct LeaseInfo {
  Uuid lease_id;
  std::uint64_t lease_epoch = 0;
  std::string worker_id;
  std::string worker_instance_id;
  TimeMs acquired_at_ms = 0;
  TimeMs expires_at_ms = 0;
  TimeMs last_renewed_at_ms = 0;

  bool operator==(const LeaseInfo&) const = default;
};

struct AttemptRef {
  std::uint32_t attempt_index = 0;
  Uuid attempt_id;
  AttemptType attempt_type = AttemptType::initial;

  bool operator==(const AttemptRef&) const = default;
};

/// Why an execution is not moving, in words; never empty.
struct Why {
  std::string reason;  ///< a blocking reason, a terminal outcome, or `running`, `lease_lost`, `lease_revoked`
  std::string text;
  TimeMs since_ms = 0;
  std::optional<TimeMs> until_ms;
  std::optional<std::map<std::string, std::vector<std::string>>> needs = {};  ///< what is lacking, by its sort

  bool operator==(const Why&) const = default;
};

/// Everything that is known of an execution but its payload and result.
struct Execution {
  ExecutionId execution_id;
  std::string namespace_;
  std::string lane_id;
  std::string execution_kind;
  std::optional<std::string> creator_identity;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> traceparent;
  std::int32_t priority = 0;
  std::vector<std::string> required_capabilities;
  std::string queue_class;
  Policy policy;
  Tags tags;
  std::optional<std::uint64_t> payload_bytes;
  std::string payload_content_type;
  std::optional<std::uint64_t> result_bytes;
  std::optional<std::string> result_content_type;
  StateVector state;
  Hold hold;
  Counters counters;
  Timers timers;
  Times times;
  Progress progress;
  Ending ending;
  std::optional<AttemptRef> current_attempt;
  std::optional<LeaseInfo> lease;
  Why why;
  std::uint64_t version = 0;
};

/// One line of a list.
struct ExecutionSummary {
  ExecutionId execution_id;
  std::string namespace_;
  std::string lane_id;
  std::string execution_kind;
  PublicState public_state = PublicState::waiting;
  BlockingReason blocking_reason = BlockingReason::none;
  std::int32_t priority = 0;
  std::optional<Uuid> flow_id;
  Tags tags;
  TimeMs created_at_ms = 0;
  std::optional<TimeMs> started_at_ms;
  std::optional<TimeMs> completed_at_ms;
  std::uint32_t total_attempt_count = 0;

  bool operator==(const ExecutionSummary&) const = default;
};

/// Something that happened, written in the commit that made it happen. Which fields are set follows from `kind`.
struct Event {
  std::uint16_t partition = 0;
  std::int64_t event_id = 0;  ///< rises in commit order within the partition's shard, with gaps
  EventKind kind = EventKind::completion;
  std::optional<ExecutionId> execution_id;
  std::optional<Uuid> flow_id;
  std::string namespace_;
  Tags tags;
  TimeMs occurred_at_ms = 0;

  std::optional<TerminalOutcome> outcome;    ///< completion
  std::optional<CancelSource> cancelled_by;  ///< completion

  std::string event_type;  ///< lease and operator events
  std::optional<Uuid> lease_id;
  std::optional<std::uint64_t> lease_epoch;
  std::optional<std::uint32_t> attempt_index;
  std::optional<Uuid> attempt_id;
  std::optional<std::string> worker_id;
  std::optional<std::string> worker_instance_id;
  std::optional<std::string> reason;

  std::optional<std::string> actor;    ///< operator events: who did it
  std::optional<std::string> details;  ///< operator events: a JSON object

  bool operator==(const Event&) const = default;
};

/// A named queue and its settings.
struct Lane {
  std::string lane_id;
  LaneState lane_state = LaneState::active;
  LaneFairness fairness = LaneFairness::fair;
  std::map<std::string, std::uint32_t> namespace_weights;
  std::vector<Uuid> budget_ids;
  std::optional<Uuid> quota_id;
  TimeMs registered_at_ms = 0;
  std::string registered_by;
  std::optional<TimeMs> state_changed_at_ms;
  std::optional<std::string> state_reason;
  std::uint64_t version = 0;

  bool operator==(const Lane&) const = default;
};

/// A number of executions; beyond 10,000 an estimate.
struct Count {
  std::uint64_t value = 0;
  bool estimate = false;

  bool operator==(const Count&) const = default;
};

/// How many executions of a lane stand where.
struct LaneCounts {
  Count eligible, delayed, blocked_dependencies, blocked_budget, blocked_quota, blocked_route;
  Count active, reclaimable, suspended, terminal;

  bool operator==(const LaneCounts&) const = default;
};

}  // namespace ff
