#include "core/ops/change.h"

#include "core/json.h"
#include "core/lease.h"
#include "core/ops/visible.h"

namespace ff::core {

void reads(const ChangePriorityOp& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<PriorityChanged> decide(const ChangePriorityOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = visible(in, op.id, op.caller);
  if (!found) return {std::unexpected(found.error()), std::move(writes)};
  const ExecutionRecord& record = **found;
  if (record.is_terminal()) return {std::unexpected(not_active(record)), std::move(writes)};

  ExecutionRecord changed = record;
  changed.priority = clamp_priority(op.priority);
  const PriorityChanged reply{record.priority, changed.priority};
  json::object details{{"old_priority", reply.old_priority}, {"new_priority", reply.new_priority}};
  writes.append(operator_event(record, "priority_changed", op.caller, std::move(details), now));
  writes.update(record, std::move(changed));
  return {reply, std::move(writes)};
}

void reads(const SetTagsOp& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<Changed> decide(const SetTagsOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = visible(in, op.id, op.caller);
  if (!found) return {std::unexpected(found.error()), std::move(writes)};
  const ExecutionRecord& record = **found;

  Tags merged = record.tags ? *record.tags : Tags{};
  json::object given;
  for (const auto& [key, value] : op.tags) {
    given[key] = value ? json::value(json::string(*value)) : json::value(nullptr);
    if (value)
      merged[key] = *value;
    else
      merged.erase(key);
  }
  if (merged.size() > kTagsMax)
    return {std::unexpected(invalid_input("tags", "too_many",
                                          fmt::format("The execution would have {} tags; {} are the most. Remove some.",
                                                      merged.size(), kTagsMax))),
            std::move(writes)};

  ExecutionRecord changed = record;
  changed.tags = merged.empty() ? nullptr : std::make_shared<const Tags>(std::move(merged));
  writes.append(operator_event(changed, "tags_changed", op.caller, json::object{{"tags", std::move(given)}}, now));
  const PublicState state = record.state.public_state;
  writes.update(record, std::move(changed));
  return {Changed{op.id, state, false}, std::move(writes)};
}

void reads(const Replay& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<Changed> decide(const Replay& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = visible(in, op.id, op.caller);
  if (!found) return {std::unexpected(found.error()), std::move(writes)};
  const ExecutionRecord& record = **found;
  if (!record.is_terminal())
    return {fail(ErrorCode::execution_not_terminal,
                 fmt::format("Only an execution that has ended can be replayed; this one is {}.",
                             name_of(record.state.public_state)),
                 {{"execution_id", op.id.to_string()}}),
            std::move(writes)};
  if (record.counters.replay_count >= record.limits.max_replay_count)
    return {fail(ErrorCode::max_replays_exhausted,
                 fmt::format("It was replayed {} times, which is the most its policy allows.", record.counters.replay_count),
                 {{"limit", static_cast<std::int64_t>(record.limits.max_replay_count)}}),
            std::move(writes)};

  ExecutionRecord again = record;
  make_eligible(again, AttemptState::pending_replay_attempt);
  again.times.completed_at_ms.reset();
  again.times.retain_until_ms.reset();
  again.ending.failure_reason.reset();
  again.ending.failure_category.reset();
  again.ending.cancellation_reason.reset();
  again.ending.cancelled_by.reset();
  again.progress = Progress{};
  again.current_attempt_id.reset();
  again.pending = Pending{};
  again.pending.pending_replay_reason = op.reason;
  again.pending.pending_replay_requested_by = op.requested_by;
  if (record.attempt) again.pending.pending_previous_attempt_index = record.attempt->attempt_index;
  ++again.counters.replay_count;
  again.counters.retry_count = again.counters.lease_reclaim_count = again.counters.claim_count = 0;
  if (again.timers.execution_deadline_at_ms && *again.timers.execution_deadline_at_ms <= now)
    again.timers.execution_deadline_at_ms.reset();
  writes.result(op.id, std::nullopt);

  json::object details{{"branch", "normal"}, {"groups_reset", 0}, {"replay_count", again.counters.replay_count}};
  writes.append(operator_event(record, "replayed", op.caller, std::move(details), now));
  writes.update(record, std::move(again));
  return {Changed{op.id, writes.saved().state.public_state, false}, std::move(writes)};
}

}  // namespace ff::core
