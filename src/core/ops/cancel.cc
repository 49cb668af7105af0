#include "core/ops/cancel.h"

#include "core/fence.h"
#include "core/lease.h"
#include "core/ops/visible.h"

namespace ff::core {

void cancel_record(ExecutionRecord& record, const CancelCause& cause, Writes& writes) {
  const bool by_holder = cause.source == CancelSource::lease_holder;
  release_lease(record,
                {ReleaseOp::cancel, by_holder ? LeaseEventType::released : LeaseEventType::revoked, "cancelled"},
                writes);
  end_attempt(record,
              {AttemptRecordState::ended_cancelled, AttemptOutcome::cancelled,
               fmt::format("cancelled: {}", cause.reason), "cancelled", FailureClass::cancelled},
              writes.now());
  record.ending.cancellation_reason = cause.reason;
  record.ending.cancelled_by = cause.source;
  end_execution(record, TerminalOutcome::cancelled, writes);
}

void reads(const CancelByOperator& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<Changed> decide(const CancelByOperator& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = visible(in, op.id, op.caller);
  if (!found) return {std::unexpected(found.error()), std::move(writes)};
  const ExecutionRecord& record = **found;
  if (record.state.terminal_outcome == TerminalOutcome::cancelled)
    return {Changed{op.id, PublicState::cancelled, true}, std::move(writes)};
  if (record.is_terminal()) return {std::unexpected(not_active(record)), std::move(writes)};

  ExecutionRecord cancelled = record;
  cancel_record(cancelled, {op.reason, CancelSource::operator_override}, writes);
  writes.append(operator_event(record, "execution_cancelled", op.caller, reason_details(op.reason), now));
  writes.update(record, std::move(cancelled));
  return {Changed{op.id, PublicState::cancelled, false}, std::move(writes)};
}

void reads(const CancelByHolder& op, const Records& in, Reads& out) { read_fenced(op.handle, in, out); }

Decision<Changed> decide(const CancelByHolder& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto attempt = own_attempt(op.handle, in);
  if (!attempt) return {std::unexpected(attempt.error()), std::move(writes)};
  if (is_repeat(**attempt, op.handle, ReleaseOp::cancel))
    return {Changed{op.handle.execution_id, PublicState::cancelled, true}, std::move(writes)};
  auto held = holder_check(op.handle, in, writes);
  if (!held) return {std::unexpected(held.error()), std::move(writes)};

  ExecutionRecord cancelled = **held;
  cancel_record(cancelled, {op.reason, CancelSource::lease_holder}, writes);
  writes.update(**held, std::move(cancelled));
  return {Changed{op.handle.execution_id, PublicState::cancelled, false}, std::move(writes)};
}

}  // namespace ff::core
