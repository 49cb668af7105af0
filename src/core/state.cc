#include "core/state.h"

namespace ff::core {
namespace {

using enum LifecyclePhase;

/// The reasons that may stand beside an eligibility (runnable executions).
bool pairs(EligibilityState eligibility, BlockingReason reason) {
  using R = BlockingReason;
  switch (eligibility) {
    case EligibilityState::eligible_now: return reason == R::waiting_for_worker;
    case EligibilityState::not_eligible_until_time:
      return reason == R::waiting_for_delay || reason == R::waiting_for_retry_backoff ||
             reason == R::waiting_for_resume_delay;
    case EligibilityState::blocked_by_dependencies: return reason == R::waiting_for_children;
    case EligibilityState::blocked_by_budget: return reason == R::waiting_for_budget;
    case EligibilityState::blocked_by_quota: return reason == R::waiting_for_quota;
    case EligibilityState::blocked_by_route: return reason == R::waiting_for_capable_worker;
    case EligibilityState::not_applicable: return false;
  }
  return false;
}

bool suspends(BlockingReason reason) {
  using R = BlockingReason;
  switch (reason) {
    case R::waiting_for_signal:
    case R::waiting_for_approval:
    case R::waiting_for_callback:
    case R::waiting_for_tool_result:
    case R::paused_by_operator:
    case R::paused_by_policy:
    case R::waiting_for_budget: return true;
    default: return false;
  }
}

bool pending_or_paused(AttemptState state) {
  using A = AttemptState;
  return state == A::pending_first_attempt || state == A::pending_retry_attempt ||
         state == A::pending_replay_attempt || state == A::attempt_interrupted;
}

template <class E>
std::string names(std::string_view field, E value) {
  return fmt::format("{}: {}", field, name_of(value));
}

std::string vector_illegality(const ExecutionRecord& record) {
  const StateVector& s = record.state;
  const bool owned = s.ownership_state != OwnershipState::unowned;
  if ((s.terminal_outcome != TerminalOutcome::none) != (s.lifecycle_phase == terminal))
    return names("terminal_outcome", s.terminal_outcome);
  if (owned != (s.lifecycle_phase == active)) return names("ownership_state", s.ownership_state);
  if ((s.eligibility_state == EligibilityState::not_applicable) == (s.lifecycle_phase == runnable))
    return names("eligibility_state", s.eligibility_state);

  bool reason_ok = false, attempt_ok = false;
  switch (s.lifecycle_phase) {
    case runnable:
      reason_ok = pairs(s.eligibility_state, s.blocking_reason);
      attempt_ok = pending_or_paused(s.attempt_state);
      break;
    case active:
      reason_ok = s.blocking_reason == (record.is_leased() ? BlockingReason::none : BlockingReason::waiting_for_worker);
      attempt_ok =
          s.attempt_state == (record.is_leased() ? AttemptState::running_attempt : AttemptState::attempt_interrupted);
      break;
    case suspended:
      reason_ok = suspends(s.blocking_reason);
      attempt_ok = s.attempt_state == AttemptState::attempt_interrupted;
      break;
    case terminal:
      reason_ok = s.blocking_reason == BlockingReason::none;
      attempt_ok = s.attempt_state == (record.counters.total_attempt_count > 0 ? AttemptState::attempt_terminal
                                                                               : AttemptState::none);
      break;
  }
  if (!reason_ok) return names("blocking_reason", s.blocking_reason);
  if (!attempt_ok) return names("attempt_state", s.attempt_state);
  const auto derived = derive_public_state(s);
  if (!derived || *derived != s.public_state) return names("public_state", s.public_state);
  return {};
}

bool open_attempt(const Attempt& attempt) {
  return attempt.attempt_state == AttemptRecordState::started || attempt.attempt_state == AttemptRecordState::suspended;
}

}  // namespace

Result<PublicState> derive_public_state(const StateVector& s) {
  using P = PublicState;
  switch (s.lifecycle_phase) {
    case terminal:
      switch (s.terminal_outcome) {
        case TerminalOutcome::success: return P::completed;
        case TerminalOutcome::failed: return P::failed;
        case TerminalOutcome::cancelled: return P::cancelled;
        case TerminalOutcome::expired: return P::expired;
        case TerminalOutcome::skipped: return P::skipped;
        case TerminalOutcome::none: break;
      }
      return std::unexpected(corruption("ff_exec_core", "terminal_outcome", "none"));
    case suspended: return P::suspended;
    case active: return P::active;
    case runnable: break;
  }
  switch (s.eligibility_state) {
    case EligibilityState::eligible_now:
      return s.attempt_state == AttemptState::attempt_interrupted ? P::resumable : P::waiting;
    case EligibilityState::not_eligible_until_time: return P::delayed;
    case EligibilityState::blocked_by_dependencies: return P::waiting_children;
    case EligibilityState::blocked_by_budget:
    case EligibilityState::blocked_by_quota: return P::rate_limited;
    case EligibilityState::blocked_by_route: return P::waiting;
    case EligibilityState::not_applicable: break;
  }
  return std::unexpected(corruption("ff_exec_core", "eligibility_state", "not_applicable"));
}

std::optional<EligibilityState> eligibility_for(BlockingReason reason) {
  switch (reason) {
    case BlockingReason::waiting_for_children: return EligibilityState::blocked_by_dependencies;
    case BlockingReason::waiting_for_budget: return EligibilityState::blocked_by_budget;
    case BlockingReason::waiting_for_quota: return EligibilityState::blocked_by_quota;
    case BlockingReason::waiting_for_capable_worker: return EligibilityState::blocked_by_route;
    default: return std::nullopt;
  }
}

std::string illegality(const ExecutionRecord& record) {
  if (auto bad = vector_illegality(record); !bad.empty()) return bad;
  const StateVector& s = record.state;
  if (record.lease.has_value() != (s.ownership_state != OwnershipState::unowned))
    return fmt::format("current_lease_id: {}", record.lease ? "set" : "unset");
  if ((record.hold.interrupt_kind != InterruptKind::none) != (s.attempt_state == AttemptState::attempt_interrupted))
    return names("interrupt_kind", record.hold.interrupt_kind);
  const bool delayed = s.eligibility_state == EligibilityState::not_eligible_until_time;
  const bool may_keep_delay = s.eligibility_state == EligibilityState::blocked_by_dependencies;
  if (record.timers.delay_until_ms ? !(delayed || may_keep_delay) : delayed)
    return fmt::format("delay_until_ms: {}", record.timers.delay_until_ms ? "set" : "unset");
  if (record.times.completed_at_ms.has_value() != record.is_terminal())
    return fmt::format("completed_at_ms: {}", record.times.completed_at_ms ? "set" : "unset");
  if (record.times.retain_until_ms.has_value() != record.is_terminal())
    return fmt::format("retain_until_ms: {}", record.times.retain_until_ms ? "set" : "unset");
  if (record.attempt.has_value() != (record.counters.total_attempt_count > 0) ||
      (record.attempt && record.attempt->attempt_index + 1 != record.counters.total_attempt_count))
    return fmt::format("total_attempt_count: {}", record.counters.total_attempt_count);
  const bool attempt_runs =
      s.attempt_state == AttemptState::running_attempt || s.attempt_state == AttemptState::attempt_interrupted;
  if (record.attempt && open_attempt(*record.attempt) != attempt_runs)
    return names("attempt.attempt_state", record.attempt->attempt_state);
  return {};
}

}  // namespace ff::core
