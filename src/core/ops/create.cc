#include "core/ops/create.h"

#include "core/lease.h"

namespace ff::core {
namespace {

std::shared_ptr<ExecutionRecord> new_record(const Create& op, TimeMs now) {
  auto made = std::make_shared<ExecutionRecord>();
  ExecutionRecord& record = *made;
  record.id = op.id;
  record.queue = op.queue;
  record.priority = op.priority;
  record.limits = op.limits;
  record.tags = op.tags;
  std::optional<TimeMs> until = op.delay_until_ms;
  if (op.delay_ms) until = add_ms(now, *op.delay_ms);
  if (until)
    make_delayed(record, AttemptState::pending_first_attempt, BlockingReason::waiting_for_delay, *until,
                 fmt::format("delayed until {}", *until), now);
  record.timers.execution_deadline_at_ms = op.execution_deadline_at_ms;
  if (!record.timers.execution_deadline_at_ms && op.execution_deadline_ms)
    record.timers.execution_deadline_at_ms = add_ms(now, *op.execution_deadline_ms);
  return made;
}

Submitted duplicate_of(const ExecutionId& id, const ExecutionRecord* existing) {
  return {id, existing ? existing->state.public_state : PublicState::waiting, true};
}

Error not_accepting(const std::string& lane_id, LaneState state) {
  return {ErrorCode::lane_not_accepting,
          fmt::format("Lane '{}' is {} and takes no new executions. Submit to another lane, or resume this one.", lane_id,
                      name_of(state)),
          {{"lane_id", lane_id}, {"lane_state", std::string(name_of(state))}}};
}

}  // namespace

void reads(const Create& op, const Records& in, Reads& out) {
  if (op.own_id) out.execution(op.id);
  if (op.key) {
    out.key(*op.key);
    const IdempotencyRecord* known = in.key(*op.key);
    if (known && known->execution_id) out.execution(*known->execution_id);
  }
  if (!op.known_lane_state) out.lane(op.queue->lane_id);
}

Decision<Submitted> decide(const Create& op, const Records& in, TimeMs now) {
  Writes writes(now);
  if (op.key) {
    const IdempotencyRecord* known = in.key(*op.key);
    if (known && known->expires_at_ms > now && known->execution_id) {
      if (known->outcome != op.content_digest)
        return {fail(ErrorCode::idempotency_conflict,
                     fmt::format("The key '{}' was used for a submission with other content. Repeat that one, or choose "
                                 "another key.",
                                 op.key->idempotency_key),
                     {{"execution_id", known->execution_id->to_string()}}),
                Writes(now)};
      return {duplicate_of(*known->execution_id, in.execution(*known->execution_id)), Writes(now)};
    }
  }
  if (const ExecutionRecord* existing = in.execution(op.id)) return {duplicate_of(op.id, existing), Writes(now)};

  const std::string& lane_id = op.queue->lane_id;
  const Lane* lane = op.known_lane_state ? nullptr : in.lane(lane_id);
  const LaneState lane_state = op.known_lane_state.value_or(lane ? lane->lane_state : LaneState::active);
  if (lane_state == LaneState::draining || lane_state == LaneState::disabled)
    return {std::unexpected(not_accepting(lane_id, lane_state)), Writes(now)};
  if (!op.known_lane_state && !lane) {
    Lane added;
    added.lane_id = lane_id;
    added.registered_at_ms = now;
    added.registered_by = "create_execution";
    writes.lane(std::move(added));
  }

  writes.insert(new_record(op, now));
  writes.info(op.id, op.info);
  if (op.payload) writes.payload(op.id, PayloadPart{op.payload});
  if (op.key && op.dedup_window_ms > 0)
    writes.key(*op.key, IdempotencyRecord{*op.key, op.id.partition, op.id, op.content_digest, now,
                                          add_ms(now, op.dedup_window_ms), 0});
  const PublicState state = writes.saved().state.public_state;
  return {Submitted{op.id, state, false}, std::move(writes)};
}

}  // namespace ff::core
