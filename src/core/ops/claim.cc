#include "core/ops/claim.h"

#include "core/fence.h"
#include "core/lease.h"

namespace ff::core {
namespace {

/// The part that all three kinds share: epoch, lease fields, vector.
void issue_lease(ExecutionRecord& record, const Claim& claim, const Uuid& lease_id, TimeMs now) {
  ++record.counters.current_lease_epoch;
  ++record.counters.claim_count;
  LeaseFields lease;
  lease.current_lease_id = lease_id;
  lease.current_worker_id = claim.worker.worker_id;
  lease.current_worker_instance_id = claim.worker.worker_instance_id;
  lease.lease_ttl_ms = claim.lease_ttl_ms;
  lease.lease_acquired_at_ms = lease.lease_last_renewed_at_ms = now;
  lease.lease_expires_at_ms = add_ms(now, claim.lease_ttl_ms);
  lease.lease_renewal_deadline_ms = add_ms(now, claim.lease_ttl_ms * 2ULL / 3);
  lease.claim_key = claim.claim_key;
  record.lease = std::move(lease);

  StateVector& s = record.state;
  s.lifecycle_phase = LifecyclePhase::active;
  s.ownership_state = OwnershipState::leased;
  s.eligibility_state = EligibilityState::not_applicable;
  s.blocking_reason = BlockingReason::none;
  s.attempt_state = AttemptState::running_attempt;
  if (!record.times.started_at_ms) record.times.started_at_ms = now;
  record.hold.interrupt_kind = InterruptKind::none;
  record.hold.blocking_detail.reset();
  record.hold.lease_expired_at_ms.reset();
  record.hold.lease_revoked_at_ms.reset();
  record.hold.lease_revoke_reason.reset();
}

void give_to_holder(Attempt& attempt, const ExecutionRecord& record) {
  attempt.lease_id = record.lease->current_lease_id;
  attempt.lease_epoch = record.counters.current_lease_epoch;
  attempt.worker_id = record.lease->current_worker_id;
  attempt.worker_instance_id = record.lease->current_worker_instance_id;
}

/// Starts the next attempt; the one before, if any, is filed.
void start_attempt(ExecutionRecord& record, AttemptType type, const Uuid& attempt_id, TimeMs now, Writes& writes) {
  if (record.attempt) writes.past_attempt(record.id, std::move(*record.attempt));
  Attempt attempt;
  attempt.attempt_index = record.counters.total_attempt_count++;
  attempt.attempt_id = attempt_id;
  attempt.attempt_type = type;
  attempt.created_at_ms = attempt.started_at_ms = now;
  give_to_holder(attempt, record);
  record.attempt = std::move(attempt);
  record.current_attempt_id = attempt_id;
  record.timers.attempt_timeout_remaining_ms.reset();
  record.timers.attempt_timeout_at_ms.reset();
  if (record.limits.attempt_timeout_ms) record.timers.attempt_timeout_at_ms = add_ms(now, *record.limits.attempt_timeout_ms);
}

HandleKind lease_fresh(ExecutionRecord& record, const Claim& claim, IdSource& ids, Writes& writes) {
  const TimeMs now = writes.now();
  const AttemptState pending = record.state.attempt_state;
  const Uuid attempt_id = ids.next(now);
  issue_lease(record, claim, ids.next(now), now);
  Pending from = std::move(record.pending);
  record.pending = Pending{};
  if (pending == AttemptState::pending_retry_attempt) {
    start_attempt(record, AttemptType::retry, attempt_id, now, writes);
    record.attempt->retry_reason = std::move(from.pending_retry_reason);
    record.attempt->previous_attempt_index = from.pending_previous_attempt_index;
  } else if (pending == AttemptState::pending_replay_attempt) {
    start_attempt(record, AttemptType::replay, attempt_id, now, writes);
    record.attempt->replay_reason = std::move(from.pending_replay_reason);
    record.attempt->replay_requested_by = std::move(from.pending_replay_requested_by);
    record.attempt->replayed_from_attempt_index = from.pending_previous_attempt_index;
  } else {
    start_attempt(record, AttemptType::initial, attempt_id, now, writes);
  }
  writes.append(lease_event(record, LeaseEventType::acquired, "", now));
  return HandleKind::fresh;
}

HandleKind lease_resumed(ExecutionRecord& record, const Claim& claim, IdSource& ids, Writes& writes) {
  const TimeMs now = writes.now();
  issue_lease(record, claim, ids.next(now), now);
  Attempt& attempt = *record.attempt;
  attempt.attempt_state = AttemptRecordState::started;
  attempt.resumed_at_ms = now;
  attempt.suspended_at_ms.reset();
  attempt.suspension_id.reset();
  give_to_holder(attempt, record);
  if (record.timers.attempt_timeout_remaining_ms) {
    record.timers.attempt_timeout_at_ms = add_ms(now, *record.timers.attempt_timeout_remaining_ms);
    record.timers.attempt_timeout_remaining_ms.reset();
  }
  writes.append(lease_event(record, LeaseEventType::acquired, "claim_resumed", now));
  return HandleKind::resumed;
}

HandleKind lease_reclaimed(ExecutionRecord& record, const Claim& claim, IdSource& ids, Writes& writes) {
  const TimeMs now = writes.now();
  const std::string reason =
      record.state.ownership_state == OwnershipState::lease_revoked ? "lease_revoked" : "lease_expired";
  Attempt& old = *record.attempt;
  const std::uint32_t old_index = old.attempt_index;
  end_attempt(record,
              {AttemptRecordState::interrupted_reclaimed, AttemptOutcome::interrupted_reclaimed, reason, "infra_crash",
               FailureClass::infra_crash},
              now);
  old.released_lease_id = record.lease->current_lease_id;
  old.released_lease_epoch = record.counters.current_lease_epoch;
  old.release_op = ReleaseOp::reclaim;
  ++old.version;
  record.ending.last_failure_message = reason;

  const Uuid attempt_id = ids.next(now);
  issue_lease(record, claim, ids.next(now), now);
  start_attempt(record, AttemptType::reclaim, attempt_id, now, writes);
  record.attempt->reclaim_reason = reason;
  record.attempt->previous_attempt_index = old_index;
  writes.append(lease_event(record, LeaseEventType::reclaimed, reason, now));
  return HandleKind::reclaimed;
}

}  // namespace

bool can_serve(const WorkerScope& worker, const Queue& queue) {
  if (worker.namespace_scope && *worker.namespace_scope != queue.namespace_) return false;
  if (!worker.kinds.empty() && !worker.kinds.contains(queue.execution_kind)) return false;
  for (const auto& token : queue.required_capabilities)
    if (!worker.capabilities.contains(token)) return false;
  return true;
}

std::vector<std::string> missing_capabilities(const WorkerScope& worker, const Queue& queue) {
  std::vector<std::string> missing;
  for (const auto& token : queue.required_capabilities)
    if (!worker.capabilities.contains(token)) missing.push_back(token);
  return missing;
}

HandleKind lease_kind(const ExecutionRecord& record) {
  if (record.attempt->resumed_at_ms == record.lease->lease_acquired_at_ms) return HandleKind::resumed;
  return record.attempt->attempt_type == AttemptType::reclaim ? HandleKind::reclaimed : HandleKind::fresh;
}

LeasedTask task_of(const ExecutionRecord& record, const Records& in, HandleKind kind) {
  LeasedTask task;
  task.handle = {kind,
                 record.id,
                 record.attempt->attempt_index,
                 record.attempt->attempt_id,
                 record.lease->current_lease_id,
                 record.counters.current_lease_epoch,
                 record.lane_id()};
  task.execution.execution_id = record.id;
  task.execution.namespace_ = record.queue->namespace_;
  task.execution.lane_id = record.queue->lane_id;
  task.execution.execution_kind = record.queue->execution_kind;
  task.execution.priority = record.priority;
  if (record.tags) task.execution.tags = *record.tags;
  if (const ExecutionInfo* info = in.info(record.id)) {
    task.execution.traceparent = info->traceparent;
    task.payload_content_type = info->payload_content_type;
  }
  if (const PayloadPart* part = in.payload(record.id)) task.payload = part->payload;
  task.attempt = {record.attempt->attempt_index, record.attempt->attempt_id, record.attempt->attempt_type};
  task.lease_expires_at_ms = record.lease->lease_expires_at_ms;
  return task;
}

std::optional<LeasedTask> lease_candidate(const ExecutionRecord& record, const Records& in, const Claim& claim,
                                          IdSource& ids, Writes& writes) {
  if (!is_candidate(record) || !can_serve(claim.worker, *record.queue)) return std::nullopt;
  auto leased = std::make_shared<ExecutionRecord>(record);
  HandleKind kind = HandleKind::fresh;
  if (record.state.lifecycle_phase == LifecyclePhase::active)
    kind = lease_reclaimed(*leased, claim, ids, writes);
  else if (record.state.attempt_state == AttemptState::attempt_interrupted)
    kind = lease_resumed(*leased, claim, ids, writes);
  else
    kind = lease_fresh(*leased, claim, ids, writes);
  LeasedTask task = task_of(*leased, in, kind);
  writes.update(record, std::move(leased));
  return task;
}

bool is_repeated_claim(const ExecutionRecord& held, const Claim& claim) {
  return claim.claim_key && held.lease && held.lease->claim_key == claim.claim_key &&
         held.lease->current_worker_instance_id == claim.worker.worker_instance_id;
}

void reads(const ClaimNamed& op, const Records& in, Reads& out) {
  out.execution(op.id);
  out.info(op.id);
  out.payload(op.id);
  if (!op.known_lane_state)
    if (const ExecutionRecord* record = in.execution(op.id)) out.lane(record->lane_id());
}

Decision<LeasedTasks> decide(const ClaimNamed& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto refuse = [&](Error error) { return Decision<LeasedTasks>{std::unexpected(std::move(error)), Writes(now)}; };
  auto not_eligible = [&](const ExecutionRecord& record, std::string detail) {
    return Error{ErrorCode::execution_not_eligible,
                 fmt::format("Execution {} cannot be claimed now: {}.", record.id.to_string(), detail),
                 {{"execution_id", record.id.to_string()}, {"detail", detail}}};
  };

  const ExecutionRecord* stored = in.execution(op.id);
  const WorkerScope& worker = op.claim.worker;
  if (!stored || (worker.namespace_scope && *worker.namespace_scope != stored->namespace_()))
    return refuse(not_found(op.id));
  if (stored->is_terminal()) return refuse(not_active(*stored));
  if (stored->is_live(now)) {
    LeasedTasks held;
    if (is_repeated_claim(*stored, op.claim)) held.push_back(task_of(*stored, in, lease_kind(*stored)));
    return {std::move(held), std::move(writes)};
  }

  // A lapsed lease is lost here, and the claim goes on with what that leaves.
  ExecutionRecord lost;
  const ExecutionRecord* record = stored;
  if (stored->is_leased()) {
    lost = *stored;
    lose_lease(lost, writes);
    writes.update(*stored, std::move(lost));
    lost = writes.saved();
    lost.version = stored->version;
    record = &lost;
    if (record->is_terminal()) return {std::unexpected(not_active(*record)), std::move(writes)};
  }
  auto refuse_after_loss = [&](Error error) {
    return Decision<LeasedTasks>{std::unexpected(std::move(error)), std::move(writes)};
  };
  if (!is_candidate(*record)) {
    const bool owed = record->hold.cancel_owed == CancelOwed::now;
    return refuse_after_loss(
        not_eligible(*record, owed ? "its cancel is owed" : std::string(name_of(record->state.blocking_reason))));
  }
  const Lane* lane = op.known_lane_state ? nullptr : in.lane(record->lane_id());
  const LaneState lane_state = op.known_lane_state.value_or(lane ? lane->lane_state : LaneState::active);
  if (!hands_out(lane_state))
    return refuse_after_loss(not_eligible(*record, fmt::format("lane {}", name_of(lane_state))));

  if (auto missing = missing_capabilities(worker, *record->queue); !missing.empty()) {
    ExecutionRecord stamped = *record;
    stamped.hold.last_capability_mismatch_at_ms = now;
    writes.executions.clear();
    writes.update(*stored, std::move(stamped));
    return refuse_after_loss({ErrorCode::capability_mismatch,
                              "The worker lacks capabilities that this execution requires.",
                              {{"missing", missing}, {"execution_id", record->id.to_string()}}});
  }
  if (!can_serve(worker, *record->queue)) return refuse_after_loss(not_eligible(*record, "the worker does not handle its kind"));

  Writes lease_writes(now);
  IdSource ids = op.claim.ids;
  auto task = lease_candidate(*record, in, op.claim, ids, lease_writes);
  // One operation, one version: the loss and the lease are one change of the stored record.
  ExecutionRecord after = lease_writes.saved();
  writes.executions.clear();
  writes.update(*stored, std::move(after));
  for (auto& [id, attempt] : lease_writes.attempts) {
    if (stored->attempt && attempt != *stored->attempt) attempt.version = stored->attempt->version + 1;
    writes.past_attempt(id, std::move(attempt));
  }
  for (auto& event : lease_writes.events) writes.append(std::move(event));
  return {LeasedTasks{std::move(*task)}, std::move(writes)};
}

}  // namespace ff::core
