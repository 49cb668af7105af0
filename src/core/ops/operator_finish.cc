#include "core/ops/operator_finish.h"

#include "core/lease.h"
#include "core/ops/visible.h"

namespace ff::core {
namespace {

/// The execution that an operator may end: visible, and not terminal.
Result<const ExecutionRecord*> endable(const Records& in, const ExecutionId& id, const Caller& caller) {
  auto found = visible(in, id, caller);
  if (found && (*found)->is_terminal()) return std::unexpected(not_active(**found));
  return found;
}

}  // namespace

void reads(const CompleteByOperator& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<Changed> decide(const CompleteByOperator& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = endable(in, op.id, op.caller);
  if (!found) return {std::unexpected(found.error()), std::move(writes)};
  const ExecutionRecord& record = **found;

  ExecutionRecord ended = record;
  release_lease(ended, {ReleaseOp::operator_, LeaseEventType::revoked, "operator_completed"}, writes);
  end_attempt(ended, {AttemptRecordState::ended_success, AttemptOutcome::success}, now);
  end_execution(ended, TerminalOutcome::success, writes);
  writes.append(operator_event(record, "execution_completed", op.caller, reason_details(op.reason), now));
  writes.update(record, std::move(ended));
  if (op.result) writes.result(op.id, ResultPart{op.result, op.content_type});
  return {Changed{op.id, PublicState::completed, false}, std::move(writes)};
}

void reads(const FailByOperator& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<Changed> decide(const FailByOperator& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = endable(in, op.id, op.caller);
  if (!found) return {std::unexpected(found.error()), std::move(writes)};
  const ExecutionRecord& record = **found;

  ExecutionRecord ended = record;
  release_lease(ended, {ReleaseOp::operator_, LeaseEventType::revoked, "operator_failed"}, writes);
  end_attempt(ended,
              {AttemptRecordState::ended_failure, AttemptOutcome::failed, op.message, op.category,
               FailureClass::permanent},
              now);
  ended.ending.failure_reason = ended.ending.last_failure_message = op.message;
  ended.ending.failure_category = op.category;
  end_execution(ended, TerminalOutcome::failed, writes);
  writes.append(operator_event(record, "execution_failed", op.caller, reason_details(op.reason), now));
  writes.update(record, std::move(ended));
  return {Changed{op.id, PublicState::failed, false}, std::move(writes)};
}

}  // namespace ff::core
