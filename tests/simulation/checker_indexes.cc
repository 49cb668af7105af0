// Keys, lanes and access paths: what is stored besides the executions, or derived from them.

#include "checker.h"

namespace ff::sim {

core::IdempotencyId Checker::create_key(const Row& row) {
  return {row.record.namespace_(), std::string(core::kCreateOperation), row.info.idempotency_key.value_or("")};
}

void Checker::check_keys() {
  for (const auto& [id, known] : keys_) {
    auto stored = data_.keys.find(id);
    if (stored != data_.keys.end() && stored->second == known) continue;
    if (known.expires_at_ms > latest_)
      verdict_.fail("key '{}' was {} before its window was over", id.idempotency_key,
                    stored == data_.keys.end() ? "removed" : "changed");
  }
  for (const auto& [id, record] : data_.keys) {
    if (!record.execution_id || record.execution_id->partition != record.partition)
      verdict_.fail("key '{}' does not live where its execution lives", id.idempotency_key);
  }
  keys_ = data_.keys;
  // An execution that was created under a key has left it behind for the repeat to find.
  for (const auto& [id, touched] : touched_) {
    const auto& [life, now] = touched;
    if (!now || life->moments.size() > 1 || !now->info.idempotency_key) continue;
    if (now->info.policy->dedup_window_ms.value_or(0) == 0) continue;
    auto key = data_.keys.find(create_key(*now));
    if (key == data_.keys.end() || key->second.execution_id != id)
      fail(id, "its idempotency key '{}' is not stored", *now->info.idempotency_key);
  }
}

void Checker::check_lanes() {
  for (const auto& [id, known] : lanes_) {
    auto stored = data_.lanes.find(id);
    if (stored == data_.lanes.end()) return verdict_.fail("lane '{}' disappeared", id);
    if (stored->second.version < known.version) verdict_.fail("the version of lane '{}' fell", id);
    if (stored->second.registered_at_ms != known.registered_at_ms) verdict_.fail("lane '{}' was registered twice", id);
  }
  for (const auto& [id, lane] : data_.lanes) {
    auto& moments = history_.lanes[id];
    if (moments.empty()) moments.push_back({step_, now_us_, LaneState::active});
    if (moments.back().state != lane.lane_state) verdict_.fail("lane '{}' changed without an event", id);
  }
  lanes_ = data_.lanes;
}

/// Every access path holds exactly what the index functions say of the records.
void Checker::check_indexes() {
  using Timed = std::set<std::pair<TimeMs, ExecutionId>>;
  std::map<store::MemoryData::QueueName, std::set<core::OrderKey>> queues;
  Timed due, retention, by_created;
  for (const auto& [id, row] : data_.executions) {
    const core::ExecutionRecord& record = row.record;
    if (core::is_candidate(record)) queues[store::MemoryData::name_of(*record.queue)].insert(core::order_key(record));
    if (auto at = core::due_at(record)) due.emplace(*at, id);
    if (record.times.retain_until_ms) retention.emplace(*record.times.retain_until_ms, id);
    by_created.emplace(record.times.created_at_ms, id);
  }
  if (queues != data_.queues) verdict_.fail("the queues are not those of the records");
  queues_ = std::move(queues);
  if (due != data_.due) verdict_.fail("the due index is not that of the records");
  if (retention != data_.retention) verdict_.fail("the retention index is not that of the records");
  if (by_created != data_.by_created) verdict_.fail("the list index is not that of the records");
}

void Checker::look_at_everything() {
  std::map<ExecutionId, std::vector<std::int64_t>> events_of;
  std::int64_t last = 0;
  for (const auto& [event_id, event] : data_.events) {
    if (event_id <= last) verdict_.fail("the event log is not in order at {}", event_id);
    last = event_id;
    // An execution has the events of its own life, not those of an earlier one under the same id.
    const auto life = event.execution_id ? alive_.find(*event.execution_id) : alive_.end();
    if (life != alive_.end() && event_id >= life->second->first_event_id) events_of[life->first].push_back(event_id);
  }
  if (events_of != data_.events_of) verdict_.fail("the events by execution are not those of the log");
  for (const auto& [key, attempt] : data_.attempts)
    if (!data_.executions.contains(key.execution_id))
      fail(key.execution_id, "attempt {} without an execution", key.attempt_index);
  for (const auto& [id, row] : data_.executions)
    if (auto life = alive_.find(id); life == alive_.end() || !core::same_record(life->second->row.record, row.record))
      fail(id, "changed behind the back of its version");
}

}  // namespace ff::sim
