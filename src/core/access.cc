#include "core/access.h"

namespace ff::core {

OrderKey order_key(const ExecutionRecord& record) { return {record.priority, record.times.created_at_ms, record.id}; }

bool is_candidate(const ExecutionRecord& record) {
  if (record.hold.cancel_owed == CancelOwed::now) return false;
  const StateVector& s = record.state;
  if (s.lifecycle_phase == LifecyclePhase::runnable) return s.eligibility_state == EligibilityState::eligible_now;
  return s.ownership_state == OwnershipState::lease_expired_reclaimable ||
         s.ownership_state == OwnershipState::lease_revoked;
}

std::optional<TimeMs> timer_at(const ExecutionRecord& record, TimerKind kind) {
  switch (kind) {
    case TimerKind::delay:
      if (record.state.eligibility_state != EligibilityState::not_eligible_until_time) return std::nullopt;
      return record.timers.delay_until_ms;
    case TimerKind::lease:
      if (!record.is_leased() || !record.lease) return std::nullopt;
      return record.lease->lease_expires_at_ms;
    case TimerKind::attempt_timeout:
      if (record.state.lifecycle_phase != LifecyclePhase::active) return std::nullopt;
      return record.timers.attempt_timeout_at_ms;
    case TimerKind::deadline:
      if (record.is_terminal()) return std::nullopt;
      return record.timers.execution_deadline_at_ms;
  }
  return std::nullopt;
}

bool has_rung(const ExecutionRecord& record, TimerKind kind, TimeMs now) {
  const auto at = timer_at(record, kind);
  return at && rings_from(kind, *at) <= now;
}

std::optional<TimeMs> due_at(const ExecutionRecord& record) {
  std::optional<TimeMs> earliest;
  for (int kind = 0; kind < kTimerKinds; ++kind)
    if (auto at = timer_at(record, static_cast<TimerKind>(kind)); at && (!earliest || *at < *earliest)) earliest = at;
  return earliest;
}

Bucket bucket_of(const ExecutionRecord& record) {
  switch (record.state.lifecycle_phase) {
    case LifecyclePhase::terminal: return Bucket::terminal;
    case LifecyclePhase::suspended: return Bucket::suspended;
    case LifecyclePhase::active: return record.is_leased() ? Bucket::active : Bucket::reclaimable;
    case LifecyclePhase::runnable: break;
  }
  switch (record.state.eligibility_state) {
    case EligibilityState::not_eligible_until_time: return Bucket::delayed;
    case EligibilityState::blocked_by_dependencies: return Bucket::blocked_dependencies;
    case EligibilityState::blocked_by_budget: return Bucket::blocked_budget;
    case EligibilityState::blocked_by_quota: return Bucket::blocked_quota;
    case EligibilityState::blocked_by_route: return Bucket::blocked_route;
    default: return Bucket::eligible;
  }
}

}  // namespace ff::core
