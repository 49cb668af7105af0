#include "core/ops/complete.h"

#include "core/fence.h"
#include "core/lease.h"

namespace ff::core {

void reads(const Complete& op, const Records& in, Reads& out) { read_fenced(op.handle, in, out); }

Decision<Changed> decide(const Complete& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto attempt = own_attempt(op.handle, in);
  if (!attempt) return {std::unexpected(attempt.error()), std::move(writes)};
  if (is_repeat(**attempt, op.handle, ReleaseOp::complete))
    return {Changed{op.handle.execution_id, PublicState::completed, true}, std::move(writes)};
  auto held = holder_check(op.handle, in, writes);
  if (!held) return {std::unexpected(held.error()), std::move(writes)};

  auto ended = std::make_shared<ExecutionRecord>(**held);
  release_lease(*ended, {ReleaseOp::complete, LeaseEventType::released, "completed"}, writes);
  end_attempt(*ended, {AttemptRecordState::ended_success, AttemptOutcome::success}, now);
  end_execution(*ended, TerminalOutcome::success, writes);
  writes.update(**held, std::move(ended));
  if (op.result) writes.result(op.handle.execution_id, ResultPart{op.result, op.content_type});
  return {Changed{op.handle.execution_id, PublicState::completed, false}, std::move(writes)};
}

}  // namespace ff::core
