#include "core/why.h"

#include "core/access.h"

#include <fmt/chrono.h>

namespace ff::core {
namespace {

std::string at(TimeMs time) {
  const auto seconds = static_cast<std::time_t>(time / 1000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", fmt::gmtime(seconds), time % 1000);
}

Why ended(const ExecutionRecord& record) {
  const TimeMs since = record.times.completed_at_ms.value_or(record.times.last_transition_at_ms);
  std::string text = fmt::format("It ended as {} at {}", name_of(record.state.public_state), at(since));
  if (record.ending.cancellation_reason && record.state.terminal_outcome == TerminalOutcome::cancelled) {
    text += fmt::format(": {}", *record.ending.cancellation_reason);
    if (record.ending.cancelled_by) text += fmt::format(" (by {})", name_of(*record.ending.cancelled_by));
  } else if (record.ending.failure_reason) {
    text += fmt::format(": {}", *record.ending.failure_reason);
  }
  return {std::string(name_of(record.state.terminal_outcome)), text + ".", since, std::nullopt};
}

Why running(const ExecutionRecord& record, TimeMs now) {
  const LeaseFields& lease = *record.lease;
  std::string text = fmt::format("It is running on worker '{}', attempt {}, since {}; the lease holds until {}",
                                 lease.current_worker_instance_id, record.attempt->attempt_index,
                                 at(lease.lease_acquired_at_ms), at(lease.lease_expires_at_ms));
  if (record.progress.progress_pct) text += fmt::format("; last progress {} %", *record.progress.progress_pct);
  if (record.progress.progress_message) text += fmt::format(" ({})", *record.progress.progress_message);
  if (!record.is_live(now)) text += "; that time is over, which the next sweep of any process will notice";
  return {"running", text + ".", lease.lease_acquired_at_ms, lease.lease_expires_at_ms};
}

Why left_behind(const ExecutionRecord& record) {
  const bool revoked = record.state.ownership_state == OwnershipState::lease_revoked;
  const TimeMs since = (revoked ? record.hold.lease_revoked_at_ms : record.hold.lease_expired_at_ms)
                           .value_or(record.times.last_transition_at_ms);
  std::string text =
      revoked ? fmt::format("The lease of worker '{}' was revoked at {} ({}); it waits for a worker to take over.",
                            record.lease->current_worker_instance_id, at(since),
                            record.hold.lease_revoke_reason.value_or("operator"))
              : fmt::format("The lease of worker '{}' ran out at {}; it waits for a worker to take over (lost lease {} of "
                            "at most {}).",
                            record.lease->current_worker_instance_id, at(record.lease->lease_expires_at_ms),
                            record.counters.lease_reclaim_count, record.limits.max_reclaim_count);
  return {revoked ? "lease_revoked" : "lease_lost", std::move(text), since, std::nullopt};
}

std::string live_workers(std::uint32_t count) { return fmt::format("{} live worker{}", count, count == 1 ? "" : "s"); }

std::string uncovered(const ExecutionRecord& record, const WorkerCoverage& workers) {
  std::string text = fmt::format("It waits for a worker: lane '{}' has {}, but ", record.lane_id(),
                                 live_workers(workers.serving));
  if (workers.missing.empty())
    return text + fmt::format("none that handles '{}'.", record.queue->execution_kind);
  return text + fmt::format("none with all that it requires; missing: {}.", fmt::join(workers.missing, ", "));
}

Why waiting(const ExecutionRecord& record, const QueueSituation& situation) {
  const std::string& lane = record.lane_id();
  const std::string ahead = fmt::format("{}{}", situation.ahead, situation.ahead_is_bound ? "+" : "");
  std::string text;
  if (!hands_out(situation.lane_state)) {
    text = fmt::format("It waits for a worker, but lane '{}' is {}: resume the lane.", lane,
                       name_of(situation.lane_state));
  } else if (situation.workers && situation.workers->serving == 0) {
    text = fmt::format("It waits for a worker: no live worker serves lane '{}'; {} before it.", lane, ahead);
  } else if (situation.workers && situation.workers->covering == 0) {
    Why why{"waiting_for_worker", uncovered(record, *situation.workers), record.times.last_transition_at_ms, std::nullopt};
    if (!situation.workers->missing.empty()) why.needs = {{"capabilities", situation.workers->missing}};
    return why;
  } else {
    text = fmt::format("It waits for a worker of lane '{}', {} before it", lane, ahead);
    if (situation.workers) text += fmt::format("; {} can do it", live_workers(situation.workers->covering));
    text += '.';
  }
  return {"waiting_for_worker", std::move(text), record.times.last_transition_at_ms, std::nullopt};
}

Why delayed(const ExecutionRecord& record) {
  const TimeMs until = record.timers.delay_until_ms.value_or(0);
  std::string text;
  if (record.state.blocking_reason == BlockingReason::waiting_for_retry_backoff)
    text = fmt::format("Attempt {} failed ({}); retry {} of {} starts at {}.",
                       record.attempt ? record.attempt->attempt_index : 0,
                       record.ending.last_failure_message.value_or("no message"), record.counters.retry_count,
                       record.limits.max_retries, at(until));
  else if (record.hold.interrupt_kind == InterruptKind::worker_delay)
    text = fmt::format("Its worker delayed it until {}; the same attempt goes on then.", at(until));
  else
    text = fmt::format("Its creator delayed it until {}.", at(until));
  return {std::string(name_of(record.state.blocking_reason)), std::move(text), record.times.last_transition_at_ms, until};
}

Why blocked(const ExecutionRecord& record) {
  const std::string reason(name_of(record.state.blocking_reason));
  return {reason, fmt::format("It is held: {}.", record.hold.blocking_detail.value_or(reason)),
          record.hold.blocked_at_ms.value_or(record.times.last_transition_at_ms), record.hold.blocked_until_ms};
}

Why of_state(const ExecutionRecord& record, const QueueSituation& situation, TimeMs now) {
  switch (record.state.lifecycle_phase) {
    case LifecyclePhase::terminal: return ended(record);
    case LifecyclePhase::active: return record.is_leased() ? running(record, now) : left_behind(record);
    case LifecyclePhase::suspended: return blocked(record);
    case LifecyclePhase::runnable: break;
  }
  switch (record.state.eligibility_state) {
    case EligibilityState::eligible_now: return waiting(record, situation);
    case EligibilityState::not_eligible_until_time: return delayed(record);
    default: return blocked(record);
  }
}

}  // namespace

WorkerCoverage coverage(const std::vector<WorkerRecord>& live, const Queue& queue) {
  WorkerCoverage found;
  bool handled = false;
  for (const auto& worker : live) {
    if (!serves(worker, queue.lane_id, queue.namespace_)) continue;
    ++found.serving;
    if (covers(worker, queue)) ++found.covering;
    const bool handles = worker.kinds.empty() ||
                         std::find(worker.kinds.begin(), worker.kinds.end(), queue.execution_kind) != worker.kinds.end();
    if (!handles) continue;
    std::vector<std::string> missing;
    for (const auto& token : queue.required_capabilities)
      if (std::find(worker.capabilities.begin(), worker.capabilities.end(), token) == worker.capabilities.end())
        missing.push_back(token);
    if (!handled || missing.size() < found.missing.size()) found.missing = std::move(missing);
    handled = true;
  }
  return found;
}

Why explain(const ExecutionRecord& record, const QueueSituation& situation, TimeMs now) {
  Why why = of_state(record, situation, now);
  if (record.hold.cancel_owed == CancelOwed::now) why.text += " Its flow was cancelled: it will be cancelled.";
  if (record.hold.cancel_owed == CancelOwed::on_release)
    why.text += " Its flow was cancelled: it will be cancelled when its worker lets go.";
  return why;
}

}  // namespace ff::core
