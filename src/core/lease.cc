#include "core/lease.h"

#include "core/handle.h"

#include <limits>

namespace ff::core {

std::string redacted(const TaskHandle& handle) {
  return fmt::format("{}#{}@{}", handle.execution_id.to_string(), handle.attempt_index, handle.lease_epoch);
}

TimeMs add_ms(TimeMs time, std::uint64_t delta_ms) {
  constexpr TimeMs kMax = std::numeric_limits<TimeMs>::max();
  if (delta_ms > static_cast<std::uint64_t>(kMax)) return kMax;
  TimeMs sum = 0;
  return __builtin_add_overflow(time, static_cast<TimeMs>(delta_ms), &sum) ? kMax : sum;
}

void release_lease(ExecutionRecord& record, const ReleaseWords& words, Writes& writes) {
  if (!record.lease) return;
  if (record.is_leased()) writes.append(lease_event(record, words.event, words.reason, writes.now()));
  if (record.attempt) {
    record.attempt->released_lease_id = record.lease->current_lease_id;
    record.attempt->released_lease_epoch = record.counters.current_lease_epoch;
    record.attempt->release_op = words.op;
    record.attempt->release_delay_until_ms.reset();
  }
  record.lease.reset();
  record.state.ownership_state = OwnershipState::unowned;
}

void end_attempt(ExecutionRecord& record, AttemptEnd end, TimeMs now) {
  if (!record.attempt) return;
  Attempt& attempt = *record.attempt;
  if (attempt.attempt_state != AttemptRecordState::started && attempt.attempt_state != AttemptRecordState::suspended)
    return;
  attempt.attempt_state = end.state;
  attempt.outcome = end.outcome;
  attempt.ended_at_ms = now;
  attempt.suspended_at_ms.reset();
  attempt.suspension_id.reset();
  attempt.failure_reason = std::move(end.failure_reason);
  attempt.failure_category = std::move(end.failure_category);
  attempt.failure_class = end.failure_class;
}

void end_execution(ExecutionRecord& record, TerminalOutcome outcome, Writes& writes) {
  StateVector& s = record.state;
  s.lifecycle_phase = LifecyclePhase::terminal;
  s.ownership_state = OwnershipState::unowned;
  s.eligibility_state = EligibilityState::not_applicable;
  s.blocking_reason = BlockingReason::none;
  s.terminal_outcome = outcome;
  s.attempt_state = record.counters.total_attempt_count > 0 ? AttemptState::attempt_terminal : AttemptState::none;

  record.times.completed_at_ms = writes.now();
  record.times.retain_until_ms = add_ms(writes.now(), record.limits.retention_ttl_ms);
  record.timers.delay_until_ms.reset();
  record.timers.attempt_timeout_at_ms.reset();
  record.timers.attempt_timeout_remaining_ms.reset();
  const auto mismatch_at = record.hold.last_capability_mismatch_at_ms;
  record.hold = Hold{};
  record.hold.last_capability_mismatch_at_ms = mismatch_at;
  record.pending = Pending{};
  writes.append(completion_event(record, writes.now()));
}

void make_eligible(ExecutionRecord& record, AttemptState attempt_state) {
  StateVector& s = record.state;
  s.lifecycle_phase = LifecyclePhase::runnable;
  s.ownership_state = OwnershipState::unowned;
  s.eligibility_state = EligibilityState::eligible_now;
  s.blocking_reason = BlockingReason::waiting_for_worker;
  s.terminal_outcome = TerminalOutcome::none;
  s.attempt_state = attempt_state;
  record.timers.delay_until_ms.reset();
  record.hold.blocking_detail.reset();
  record.hold.blocked_at_ms.reset();
  record.hold.blocked_on.reset();
  record.hold.blocked_until_ms.reset();
}

void make_delayed(ExecutionRecord& record, AttemptState attempt_state, BlockingReason reason, TimeMs until,
                  std::string detail, TimeMs now) {
  make_eligible(record, attempt_state);
  if (until <= now) return;
  record.state.eligibility_state = EligibilityState::not_eligible_until_time;
  record.state.blocking_reason = reason;
  record.timers.delay_until_ms = until;
  record.hold.blocking_detail = std::move(detail);
}

void schedule_retry(ExecutionRecord& record, std::string_view reason) {
  ++record.counters.retry_count;
  record.pending.pending_retry_reason = reason;
  record.pending.pending_previous_attempt_index = record.attempt->attempt_index;
  record.current_attempt_id.reset();
  record.timers.attempt_timeout_at_ms.reset();
  record.timers.attempt_timeout_remaining_ms.reset();
  record.hold.interrupt_kind = InterruptKind::none;
  record.hold.lease_expired_at_ms.reset();
  record.hold.lease_revoked_at_ms.reset();
  record.hold.lease_revoke_reason.reset();
}

void lose_lease(ExecutionRecord& record, Writes& writes) {
  const TimeMs now = writes.now();

  if (record.counters.lease_reclaim_count >= record.limits.max_reclaim_count) {
    release_lease(record, {ReleaseOp::lease_lost, LeaseEventType::expired, "max_reclaims_exceeded"}, writes);
    end_attempt(record,
                {AttemptRecordState::ended_failure, AttemptOutcome::failed, "max_reclaims_exceeded", "infra_crash",
                 FailureClass::infra_crash},
                now);
    record.ending.failure_reason = record.ending.last_failure_message = "max_reclaims_exceeded";
    record.ending.failure_category = "infra_crash";
    end_execution(record, TerminalOutcome::failed, writes);
    return;
  }

  if (record.limits.lease_loss_policy == LeaseLossPolicy::reclaim) {
    writes.append(lease_event(record, LeaseEventType::expired, "lease_expired", now));
    ++record.counters.lease_reclaim_count;
    record.state.ownership_state = OwnershipState::lease_expired_reclaimable;
    record.state.blocking_reason = BlockingReason::waiting_for_worker;
    record.state.attempt_state = AttemptState::attempt_interrupted;
    record.hold.blocking_detail = "lease expired, awaiting reclaim";
    record.hold.interrupt_kind = InterruptKind::lease_lost;
    record.hold.lease_expired_at_ms = now;
    Attempt& attempt = *record.attempt;
    attempt.outcome = AttemptOutcome::lease_expired_reclaimable;
    attempt.released_lease_id = record.lease->current_lease_id;
    attempt.released_lease_epoch = record.counters.current_lease_epoch;
    attempt.release_op = ReleaseOp::lease_lost;
    attempt.release_delay_until_ms.reset();
    return;
  }

  // lease_loss_policy = retry
  release_lease(record, {ReleaseOp::lease_lost, LeaseEventType::expired, "lease_expired"}, writes);
  end_attempt(record,
              {AttemptRecordState::ended_failure, AttemptOutcome::interrupted, "lease_lost", "infra_crash",
               FailureClass::infra_crash},
              now);
  record.ending.last_failure_message = "attempt_timeout";
  if (record.counters.retry_count < record.limits.max_retries) {
    ++record.counters.lease_reclaim_count;
    schedule_retry(record, "lease_lost");
    make_eligible(record, AttemptState::pending_retry_attempt);
    return;
  }
  record.ending.failure_reason = "lease_lost";
  record.ending.failure_category = "infra_crash";
  end_execution(record, TerminalOutcome::expired, writes);
}

}  // namespace ff::core
