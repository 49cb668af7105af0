#pragma once

#include <cstdint>

namespace ff {

// Enumerators are spelled exactly as on the wire. Their numbers are kept in SQL columns and packed records:
// new ones are added at the end, none is ever renumbered.

enum class LifecyclePhase : std::uint8_t { runnable, active, suspended, terminal };

enum class OwnershipState : std::uint8_t { unowned, leased, lease_expired_reclaimable, lease_revoked };

enum class EligibilityState : std::uint8_t {
  eligible_now,
  not_eligible_until_time,
  blocked_by_dependencies,
  blocked_by_budget,
  blocked_by_quota,
  blocked_by_route,
  not_applicable,
};

enum class BlockingReason : std::uint8_t {
  none,
  waiting_for_worker,
  waiting_for_retry_backoff,
  waiting_for_resume_delay,
  waiting_for_delay,
  waiting_for_signal,
  waiting_for_approval,
  waiting_for_callback,
  waiting_for_tool_result,
  waiting_for_children,
  waiting_for_budget,
  waiting_for_quota,
  waiting_for_capable_worker,
  paused_by_operator,
  paused_by_policy,
};

enum class TerminalOutcome : std::uint8_t { none, success, failed, cancelled, expired, skipped };

/// What the execution's state vector says about its attempts.
enum class AttemptState : std::uint8_t {
  none,
  pending_first_attempt,
  running_attempt,
  attempt_interrupted,
  pending_retry_attempt,
  pending_replay_attempt,
  attempt_terminal,
};

/// The one word that people see; derived from the other six facts, never stored by hand.
enum class PublicState : std::uint8_t {
  waiting,
  delayed,
  rate_limited,
  waiting_children,
  active,
  suspended,
  resumable,
  completed,
  failed,
  cancelled,
  expired,
  skipped,
};

/// What paused the current attempt.
enum class InterruptKind : std::uint8_t { none, suspension, worker_delay, waiting_children, lease_lost };

/// The state of one attempt's own record.
enum class AttemptRecordState : std::uint8_t {
  started,
  suspended,
  ended_success,
  ended_failure,
  ended_cancelled,
  interrupted_reclaimed,
};

enum class AttemptType : std::uint8_t { initial, retry, reclaim, replay };

/// How an attempt ended, for readers; unset while it runs or is paused.
enum class AttemptOutcome : std::uint8_t {
  success,
  retry,
  failed,
  interrupted,
  lease_expired_reclaimable,
  interrupted_reclaimed,
  cancelled,
  expired,
};

enum class FailureClass : std::uint8_t { transient, permanent, infra_crash, timeout, cancelled };

/// What ended an attempt's last lease: the receipt by which a repeated call is recognised.
enum class ReleaseOp : std::uint8_t {
  complete,
  fail_retry,
  fail_terminal,
  cancel,
  delay,
  wait_children,
  suspend,
  expire,
  lease_lost,
  revoke,
  reclaim,
  operator_,
  engine,
};

/// Which kind of candidate a claim found.
enum class HandleKind : std::uint8_t { fresh = 1, resumed = 2, reclaimed = 3 };

/// Who cancelled an execution.
enum class CancelSource : std::uint8_t {
  operator_override,
  lease_holder,
  cancel_flow,
  engine,
  system_timeout,
};

enum class CancelOwed : std::uint8_t { none, now, on_release };

enum class LaneState : std::uint8_t { active, paused, draining, disabled };

enum class LaneFairness : std::uint8_t { fair, strict };

enum class LeaseLossPolicy : std::uint8_t { reclaim, retry };

enum class BackoffType : std::uint8_t { exponential, fixed };

enum class SuspensionTimeoutBehavior : std::uint8_t {
  fail,
  cancel,
  expire,
  auto_resume_with_timeout_signal,
  escalate,
};

/// The kinds of the event log.
enum class EventKind : std::uint8_t { completion, lease, signal, operator_ };

enum class LeaseEventType : std::uint8_t { acquired, reclaimed, renewed, expired, revoked, released };

/// Where an execution stands in the counts of its lane; each is in exactly one.
enum class Bucket : std::uint8_t {
  eligible,
  delayed,
  blocked_dependencies,
  blocked_budget,
  blocked_quota,
  blocked_route,
  active,
  reclaimable,
  suspended,
  terminal,
};
inline constexpr int kBucketCount = 10;

}  // namespace ff
