#include "core/ops/deletion.h"

#include "core/ops/visible.h"

namespace ff::core {

void reads(const DeleteExecution& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<Done> decide(const DeleteExecution& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = visible(in, op.id, op.caller);
  if (!found) return {Done{}, std::move(writes)};
  const ExecutionRecord& record = **found;
  if (!record.is_terminal())
    return {fail(ErrorCode::execution_not_terminal,
                 fmt::format("Only an execution that has ended can be deleted; this one is {}. Cancel it first.",
                             name_of(record.state.public_state)),
                 {{"execution_id", op.id.to_string()}}),
            std::move(writes)};
  writes.append(operator_event(record, "execution_deleted", op.caller, {}, now));
  writes.erase(op.id);
  return {Done{}, std::move(writes)};
}

void reads(const Retire& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<bool> decide(const Retire& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const ExecutionRecord* record = in.execution(op.id);
  if (!record || !record->times.retain_until_ms || *record->times.retain_until_ms > now)
    return {false, std::move(writes)};
  writes.erase(op.id);
  return {true, std::move(writes)};
}

void reads(const ForgetKey& op, const Records&, Reads& out) { out.key(op.id); }

Decision<bool> decide(const ForgetKey& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const IdempotencyRecord* record = in.key(op.id);
  if (!record || record->expires_at_ms >= now) return {false, std::move(writes)};
  writes.key(op.id, std::nullopt);
  return {true, std::move(writes)};
}

}  // namespace ff::core
