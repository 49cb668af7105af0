#include "core/ops/pause.h"

#include "core/fence.h"
#include "core/lease.h"

#include <algorithm>

namespace ff::core {
namespace {

/// The attempt is paused by its holder: it keeps its id, its index and what is left of its time.
void pause_attempt(ExecutionRecord& record, std::string_view suspension_id, InterruptKind kind, TimeMs now) {
  Attempt& attempt = *record.attempt;
  attempt.attempt_state = AttemptRecordState::suspended;
  attempt.suspended_at_ms = now;
  attempt.suspension_id = suspension_id;
  record.hold.interrupt_kind = kind;
  if (record.timers.attempt_timeout_at_ms) {
    record.timers.attempt_timeout_remaining_ms =
        static_cast<std::uint64_t>(std::max<TimeMs>(0, *record.timers.attempt_timeout_at_ms - now));
    record.timers.attempt_timeout_at_ms.reset();
  }
}

TaskDelayed delayed(const Attempt& attempt, TimeMs now) {
  const TimeMs until = attempt.release_delay_until_ms.value_or(now);
  return {until > now ? PublicState::delayed : PublicState::resumable, until};
}

}  // namespace

void reads(const Delay& op, const Records& in, Reads& out) { read_fenced(op.handle, in, out); }

Decision<TaskDelayed> decide(const Delay& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto attempt = own_attempt(op.handle, in);
  if (!attempt) return {std::unexpected(attempt.error()), std::move(writes)};
  if (is_repeat(**attempt, op.handle, ReleaseOp::delay)) return {delayed(**attempt, now), std::move(writes)};
  auto held = holder_check(op.handle, in, writes);
  if (!held) return {std::unexpected(held.error()), std::move(writes)};

  const TimeMs until = op.delay_ms ? add_ms(now, *op.delay_ms) : op.delay_until_ms.value_or(now);
  ExecutionRecord paused = **held;
  release_lease(paused, {ReleaseOp::delay, LeaseEventType::released, "worker_delay"}, writes);
  pause_attempt(paused, "worker_delay", InterruptKind::worker_delay, now);
  paused.attempt->release_delay_until_ms = until;
  make_delayed(paused, AttemptState::attempt_interrupted, BlockingReason::waiting_for_delay, until,
               fmt::format("delayed until {}", until), now);
  const TaskDelayed reply = delayed(*paused.attempt, now);
  writes.update(**held, std::move(paused));
  return {reply, std::move(writes)};
}

void reads(const WaitForChildren& op, const Records& in, Reads& out) { read_fenced(op.handle, in, out); }

Decision<Changed> decide(const WaitForChildren& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto attempt = own_attempt(op.handle, in);
  if (!attempt) return {std::unexpected(attempt.error()), std::move(writes)};
  if (is_repeat(**attempt, op.handle, ReleaseOp::wait_children)) {
    const ExecutionRecord* record = in.execution(op.handle.execution_id);
    return {Changed{record->id, record->state.public_state, true}, std::move(writes)};
  }
  auto held = holder_check(op.handle, in, writes);
  if (!held) return {std::unexpected(held.error()), std::move(writes)};
  if (op.names_children)
    return {fail(ErrorCode::execution_not_in_flow,
                 "Only a member of a flow can wait for children by name; this execution is in no flow.",
                 {{"execution_id", op.handle.execution_id.to_string()}}),
            std::move(writes)};

  // An execution without a flow has no inbound edges: nothing is unresolved.
  ExecutionRecord paused = **held;
  release_lease(paused, {ReleaseOp::wait_children, LeaseEventType::released, "waiting_children"}, writes);
  pause_attempt(paused, "waiting_children", InterruptKind::waiting_children, now);
  make_eligible(paused, AttemptState::attempt_interrupted);
  writes.update(**held, std::move(paused));
  return {Changed{op.handle.execution_id, writes.saved().state.public_state, false}, std::move(writes)};
}

}  // namespace ff::core
