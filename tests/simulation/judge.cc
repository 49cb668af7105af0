#include "judge.h"

namespace ff::sim {
namespace {

/// Errors that any call may meet, whatever it asks for. Only the first leaves open what happened.
bool is_common(ErrorCode code) {
  return code == ErrorCode::store_unavailable || code == ErrorCode::retry_exhausted ||
         code == ErrorCode::resource_exhausted || code == ErrorCode::draining;
}

bool any_outcome(TerminalOutcome) { return true; }
bool is_cancelled(TerminalOutcome outcome) { return outcome == TerminalOutcome::cancelled; }

}  // namespace

bool Judge::settle(Intent& intent, const Error* error) {
  if (!error) {
    intent.outcome = Intent::Outcome::done;
    return true;
  }
  const bool unknown = error->code == ErrorCode::store_unavailable;
  intent.outcome = unknown ? Intent::Outcome::unknown : Intent::Outcome::refused;
  if (error->category() == ErrorCategory::bug || error->category() == ErrorCategory::validation)
    fail(intent, "answered {}", error->to_string());
  if (!unknown && intent.effects > 0) fail(intent, "refused with {}, yet it took effect", error->to_string());
  return false;
}

void Judge::check_absent(const Intent& intent, const Error& error) {
  if (is_common(error.code)) return;
  if (error.code != ErrorCode::execution_not_found) return fail(intent, "answered {}", error.to_string());
  // What is outside the caller's namespace is as if it did not exist.
  if (intent.claim && intent.claim->namespace_)
    for (const auto& life : history_.lives_of(*intent.id))
      if (life->row.record.namespace_() != *intent.claim->namespace_) return;
  if (!history_.was_absent_since(*intent.id, intent.started_step))
    fail(intent, "not found, but it was there all the time");
}

/// `wants_open`: the call needs an execution that has not ended; else it needs one that has.
void Judge::check_operator_error(const Intent& intent, const Error& error, bool wants_open) {
  if (history_.was_ghost_since(*intent.id, intent.started_step)) return;
  const auto wrong_phase = wants_open ? ErrorCode::execution_not_active : ErrorCode::execution_not_terminal;
  if (error.code != wrong_phase) return check_absent(intent, error);
  for (const auto& life : history_.lives_of(*intent.id))
    if (wants_open ? life->was_ended_since(intent.started_step, any_outcome)
                   : life->was_open_since(intent.started_step))
      return;
  fail(intent, "answered {}, which was never so", error.to_string());
}

void Judge::submitted(Intent& intent, const Result<Submitted>& reply) {
  const Submission& given = *intent.submission;
  if (!settle(intent, reply)) {
    const ErrorCode code = reply.error().code;
    if (code == ErrorCode::lane_not_accepting) {
      for (const auto& moment : history_.lanes[given.lane_id])
        if (moment.state == LaneState::draining || moment.state == LaneState::disabled) return;
      fail(intent, "refused by a lane that always accepted");
    } else if (!is_common(code) && !(code == ErrorCode::idempotency_conflict && given.idempotency_key)) {
      fail(intent, "answered {}", reply.error().to_string());
    }
    return;
  }
  if (!reply->duplicate) {
    const Life* life = history_.created_by(intent.call);
    if (!life && !history_.was_ghost_since(reply->execution_id, intent.started_step))
      return fail(intent, "acknowledged, but it does not exist");
    if (life && life->id != reply->execution_id) fail(intent, "acknowledged under another id");
    return;
  }
  const auto& lives = history_.lives_of(reply->execution_id);
  if (history_.was_ghost_since(reply->execution_id, intent.started_step)) return;
  if (lives.empty()) return fail(intent, "a duplicate of something that never was");
  if (given.execution_id && *given.execution_id != reply->execution_id) fail(intent, "a duplicate of another id");
  if (!given.idempotency_key) return;
  const Submission& first = *book_.find(lives.back()->creator)->submission;
  if (first.idempotency_key != given.idempotency_key) fail(intent, "a duplicate of a submission with another key");
  if (first.payload != given.payload || first.execution_kind != given.execution_kind || first.lane_id != given.lane_id)
    fail(intent, "a duplicate of a submission with other content");
}

void Judge::cancelled(Intent& intent, const Result<Changed>& reply) {
  if (!settle(intent, reply)) return check_operator_error(intent, reply.error(), true);
  if (history_.was_ghost_since(*intent.id, intent.started_step)) return;
  if (!reply->unchanged && intent.effects == 0) return fail(intent, "acknowledged, but nobody was cancelled for it");
  for (const auto& life : history_.lives_of(*intent.id))
    if (life->was_ended_since(intent.started_step, is_cancelled)) return;
  fail(intent, "acknowledged, but it was not cancelled");
}

void Judge::replayed(Intent& intent, const Result<Changed>& reply) {
  if (!settle(intent, reply)) {
    if (reply.error().code != ErrorCode::max_replays_exhausted) check_operator_error(intent, reply.error(), false);
    return;
  }
  for (const auto& life : history_.lives_of(*intent.id))
    for (const auto& end : life->ends)
      if (end.replayed_step && *end.replayed_step >= intent.started_step) return;
  if (!history_.was_ghost_since(*intent.id, intent.started_step)) fail(intent, "acknowledged, but it was not replayed");
}

void Judge::priority_changed(Intent& intent, const Result<PriorityChanged>& reply) {
  if (!settle(intent, reply)) check_operator_error(intent, reply.error(), true);
}

void Judge::tags_set(Intent& intent, const Result<Changed>& reply) {
  if (!settle(intent, reply)) return check_absent(intent, reply.error());
  if (intent.effects == 0 && !history_.was_ghost_since(*intent.id, intent.started_step))
    fail(intent, "acknowledged, but no tag was set");
}

void Judge::revoked(Intent& intent, const Result<Revoked>& reply) {
  if (!settle(intent, reply)) return check_absent(intent, reply.error());
  if (!reply->already_satisfied.empty()) return;
  for (const auto& life : history_.lives_of(*intent.id))
    for (const auto& lease : life->leases)
      if (lease.lease_id == reply->lease_id && lease.epoch == reply->lease_epoch && lease.end &&
          lease.end->type == LeaseEventType::revoked)
        return;
  fail(intent, "acknowledged, but that lease was not revoked");
}

void Judge::finished_by_operator(Intent& intent, const Result<Changed>& reply) {
  if (!settle(intent, reply)) return check_operator_error(intent, reply.error(), true);
  if (intent.effects == 0 && !history_.was_ghost_since(*intent.id, intent.started_step))
    fail(intent, "acknowledged, but it did not end by it");
}

void Judge::removed(Intent& intent, const Result<Done>& reply) {
  if (!settle(intent, reply)) return check_operator_error(intent, reply.error(), false);
  if (!history_.was_absent_since(*intent.id, intent.started_step)) fail(intent, "acknowledged, but it is still there");
}

void Judge::lane_configured(Intent& intent, const Result<Lane>& reply) {
  if (!settle(intent, reply) && !is_common(reply.error().code)) fail(intent, "answered {}", reply.error().to_string());
}

void Judge::read(Intent& intent, const Result<Execution>& reply) {
  if (!settle(intent, reply)) return check_absent(intent, reply.error());
  for (const auto& life : history_.lives_of(*intent.id))
    if (life->showed_since(intent.started_step, reply->version, reply->state.public_state,
                           reply->counters.current_lease_epoch))
      return;
  fail(intent, "read {} version {}, which it was not since the call began", static_cast<int>(reply->state.public_state),
       reply->version);
}

// ---- workers ------------------------------------------------------------------------------------------------------

void Judge::claimed(Intent& intent, const Result<std::vector<ClaimedTask>>& reply) {
  const auto& issued = history_.leases_of_worker[Book::tag(intent.call)];
  if (!settle(intent, reply)) {
    const Error& error = reply.error();
    if (error.code != ErrorCode::store_unavailable && !issued.empty())
      fail(intent, "refused with {}, yet it holds a lease", error.to_string());
    if (!intent.claim->execution_id) {
      if (!is_common(error.code)) fail(intent, "answered {}", error.to_string());
    } else if (error.code == ErrorCode::execution_not_active) {
      check_operator_error(intent, error, true);
    } else if (error.code != ErrorCode::execution_not_eligible && error.code != ErrorCode::capability_mismatch) {
      check_absent(intent, error);
    }
    return;
  }
  if (reply->size() > intent.claim->max) fail(intent, "asked for {}, got {}", intent.claim->max, reply->size());
  std::size_t own = 0;
  std::set<ExecutionId> seen;
  for (const auto& task : *reply) {
    check_task(intent, task);
    if (!seen.insert(task.execution.execution_id).second) fail(intent, "one execution twice in an answer");
    auto [life, lease] = history_.lease(task.execution.execution_id, task.attempt.attempt_id, task.lease_epoch);
    if (lease && lease->worker_id == Book::tag(intent.call)) ++own;
  }
  if (own != issued.size()) fail(intent, "{} leases were issued for it, and it was told of {}", issued.size(), own);
}

void Judge::check_task(const Intent& intent, const ClaimedTask& task) {
  const ClaimRequest& request = *intent.claim;
  const ExecutionId& id = task.execution.execution_id;
  auto [life, lease] = history_.lease(id, task.attempt.attempt_id, task.lease_epoch);
  if (!lease) return fail(intent, "got {} epoch {}, which was never issued", id.to_string(), task.lease_epoch);
  if (lease->kind != task.kind) fail(intent, "the kind of its task is not that of the lease");
  if (lease->worker_id != Book::tag(intent.call)) {
    // Somebody else's call: only the same instance with the same key may be told again, and only of a lease that lives.
    const Intent* first = book_.find(Book::call_in(lease->worker_id).value_or(0));
    if (!request.idempotency_key || !first || first->claim->idempotency_key != request.idempotency_key ||
        first->claim->worker_instance_id != request.worker_instance_id)
      return fail(intent, "got the lease of '{}'", lease->worker_id);
    if (lease->end && lease->end->step < intent.started_step) fail(intent, "got a lease again that was over");
  }
  const core::Queue& queue = *life->row.record.queue;
  const auto& lanes = request.lanes;
  if (!request.execution_id && std::find(lanes.begin(), lanes.end(), queue.lane_id) == lanes.end())
    fail(intent, "got work of lane '{}'", queue.lane_id);
  if (request.execution_id && *request.execution_id != id) fail(intent, "got another execution than it named");
  if (request.namespace_ && *request.namespace_ != queue.namespace_) fail(intent, "got work of another namespace");
  const auto& kinds = request.kinds;
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), queue.execution_kind) == kinds.end())
    fail(intent, "got work of kind '{}'", queue.execution_kind);
  for (const auto& token : queue.required_capabilities)
    if (std::find(request.capabilities.begin(), request.capabilities.end(), token) == request.capabilities.end())
      fail(intent, "got work that needs '{}'", token);
  if (task.payload != book_.find(life->creator)->submission->payload)
    fail(intent, "the payload of {} is not its own", id.to_string());
}

void Judge::check_holder_error(const Intent& intent, const Error& error) {
  if (is_common(error.code)) return;
  auto [life, lease] = history_.lease(intent.lease->id, intent.lease->attempt_id, intent.lease->epoch);
  if (!lease) return fail(intent, "made with a handle of a lease that never was");
  const bool over = lease->end.has_value();
  bool true_word = false;
  switch (error.code) {
    case ErrorCode::stale_lease: true_word = life->leases.size() > lease->epoch || life->gone_step; break;
    case ErrorCode::lease_expired: true_word = over && lease->end->type == LeaseEventType::expired; break;
    case ErrorCode::lease_revoked: true_word = over && lease->end->type == LeaseEventType::revoked; break;
    case ErrorCode::execution_not_active: true_word = over; break;
    case ErrorCode::execution_not_found:
    case ErrorCode::attempt_not_found: true_word = life->gone_step.has_value(); break;
    default: break;
  }
  if (!true_word) fail(intent, "epoch {} was told {}, which is not so", lease->epoch, error.to_string());
}

/// The lease was the caller's at some time during the call.
void Judge::check_held(const Intent& intent) {
  auto [life, lease] = history_.lease(intent.lease->id, intent.lease->attempt_id, intent.lease->epoch);
  if (!lease) return fail(intent, "accepted from a lease that never was");
  if (lease->end && lease->end->step < intent.started_step)
    fail(intent, "accepted under epoch {}, which was over before ({})", lease->epoch, lease->end->reason);
}

void Judge::check_released(const Intent& intent, std::string_view reason) {
  auto [life, lease] = history_.lease(intent.lease->id, intent.lease->attempt_id, intent.lease->epoch);
  if (!lease) return fail(intent, "accepted from a lease that never was");
  if (!lease->end || lease->end->type != LeaseEventType::released || lease->end->reason != reason)
    fail(intent, "acknowledged, but epoch {} {} and not '{}'", lease->epoch,
         lease->end ? "ended with '" + lease->end->reason + "'" : std::string("has not ended"), reason);
}

void Judge::renewed(Intent& intent, const Result<LeaseRenewed>& reply) {
  if (!settle(intent, reply)) return check_holder_error(intent, reply.error());
  check_held(intent);
  if (reply->lease_epoch != intent.lease->epoch)
    fail(intent, "epoch {} renewed epoch {}", intent.lease->epoch, reply->lease_epoch);
}

void Judge::progressed(Intent& intent, const Result<Done>& reply) {
  if (!settle(intent, reply)) return check_holder_error(intent, reply.error());
  check_held(intent);
}

void Judge::completed(Intent& intent, const Result<Changed>& reply) {
  if (!settle(intent, reply)) return check_holder_error(intent, reply.error());
  check_released(intent, "completed");
}

void Judge::failed(Intent& intent, const Result<TaskFailed>& reply) {
  if (!settle(intent, reply)) return check_holder_error(intent, reply.error());
  check_released(intent, reply->status == FailStatus::retry_scheduled ? "failed_retry_scheduled" : "failed_terminal");
}

void Judge::delayed(Intent& intent, const Result<TaskDelayed>& reply) {
  if (!settle(intent, reply)) return check_holder_error(intent, reply.error());
  check_released(intent, "worker_delay");
}

void Judge::moved(Intent& intent, const Result<Changed>& reply) {
  if (!settle(intent, reply)) return check_holder_error(intent, reply.error());
  check_released(intent, "waiting_children");
}

void Judge::cancelled_by_holder(Intent& intent, const Result<Changed>& reply) {
  if (!settle(intent, reply)) return check_holder_error(intent, reply.error());
  // An operator's cancel leaves the same receipt, also on a lost lease: what the holder wants has been done.
  auto [life, lease] = history_.lease(intent.lease->id, intent.lease->attempt_id, intent.lease->epoch);
  if (!life || !life->was_ended_since(0, is_cancelled))
    fail(intent, "acknowledged, but it was not cancelled");
}

}  // namespace ff::sim
