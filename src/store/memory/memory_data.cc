#include "store/memory/memory_data.h"

namespace ff::store {

void MemoryData::index(const ExecutionRecord& record) {
  if (core::is_candidate(record)) queues[name_of(*record.queue)].insert(core::order_key(record));
  if (auto at = core::due_at(record)) due.emplace(*at, record.id);
  if (record.times.retain_until_ms) retention.emplace(*record.times.retain_until_ms, record.id);
  by_created.emplace(record.times.created_at_ms, record.id);
  if (record.priority > 0) raised.insert(core::order_key(record));
}

void MemoryData::unindex(const ExecutionRecord& record) {
  if (core::is_candidate(record)) {
    auto queue = queues.find(name_of(*record.queue));
    queue->second.erase(core::order_key(record));
    if (queue->second.empty()) queues.erase(queue);
  }
  if (auto at = core::due_at(record)) due.erase({*at, record.id});
  if (record.times.retain_until_ms) retention.erase({*record.times.retain_until_ms, record.id});
  by_created.erase({record.times.created_at_ms, record.id});
  if (record.priority > 0) raised.erase(core::order_key(record));
}

void MemoryData::append(const core::EventRecord& event) {
  events.push_back({++last_event_id, event});
  if (event.execution_id && executions.contains(*event.execution_id))
    events_of[*event.execution_id].push_back(last_event_id);
}

void MemoryData::save(const core::WorkingSet& const_set) {
  auto& set = const_cast<core::WorkingSet&>(const_set);  // tables are only read here
  for (const auto& slot : set.executions().slots()) {
    if (!slot.dirty) continue;
    auto old = executions.find(slot.key);
    if (old != executions.end()) unindex(old->second.record);
    if (slot.value) {
      Row& row = executions[slot.key];
      row.record = *slot.value;
      index(row.record);
    } else {
      if (old != executions.end()) executions.erase(old);
      events_of.erase(slot.key);  // the events stay, but a later execution of that id does not inherit them
      attempts.erase(attempts.lower_bound({slot.key, 0}), attempts.upper_bound({slot.key, ~0U}));
    }
  }
  auto row_of = [&](const ExecutionId& id) -> Row* {
    auto it = executions.find(id);
    return it == executions.end() ? nullptr : &it->second;
  };
  for (const auto& slot : set.infos().slots())
    if (Row* row = slot.dirty && slot.value ? row_of(slot.key) : nullptr) row->info = *slot.value;
  for (const auto& slot : set.payloads().slots())
    if (Row* row = slot.dirty && slot.value ? row_of(slot.key) : nullptr) row->payload = slot.value->payload;
  for (const auto& slot : set.results().slots())
    if (Row* row = slot.dirty ? row_of(slot.key) : nullptr)
      row->result = slot.value ? std::optional(*slot.value) : std::nullopt;
  for (const auto& slot : set.attempts().slots())
    if (slot.dirty && slot.value && row_of(slot.key.execution_id)) attempts[slot.key] = *slot.value;
  for (const auto& slot : set.lanes().slots())
    if (slot.dirty && slot.value) lanes[slot.key] = *slot.value;
  for (const auto& slot : set.keys().slots()) {
    if (!slot.dirty) continue;
    if (slot.value)
      keys[slot.key] = *slot.value;
    else
      keys.erase(slot.key);
  }
  for (const auto& slot : set.documents().slots()) {
    if (!slot.dirty) continue;
    if (slot.value)
      documents[slot.key] = *slot.value;
    else
      documents.erase(slot.key);
  }
  for (const auto& event : set.events()) append(event);
}

std::uint64_t MemoryData::trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) {
  std::uint64_t removed = 0;
  std::deque<StoredEvent> kept;
  while (!events.empty()) {
    StoredEvent& item = events.front();
    const TimeMs limit_at = item.event.kind == EventKind::operator_ ? audit_before : before;
    if (removed < limit && item.event.occurred_at_ms < limit_at) {
      ++removed;
      if (item.event.execution_id) {
        auto of = events_of.find(*item.event.execution_id);
        if (of != events_of.end()) std::erase(of->second, item.event_id);
        if (of != events_of.end() && of->second.empty()) events_of.erase(of);
      }
    } else {
      kept.push_back(std::move(item));
    }
    events.pop_front();
  }
  events = std::move(kept);
  return removed;
}

}  // namespace ff::store
