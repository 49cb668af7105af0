#include "core/errors.h"
#include "store/memory/memory_shared.h"

namespace ff::store {
namespace {

/// A take in the optimistic character hides its candidates from other takes for at most this long.
constexpr TimeMs kReservationMs = 5'000;

std::string lock_name(const ExecutionId& id) { return "execution " + id.to_string(); }

/// The unit of the batch that has loaded this execution.
Unit* holder_of(const ExecutionId& id, std::deque<Unit>& units) {
  auto holds = [&](Unit& unit) { return unit.set.executions().find(id) != nullptr; };
  auto it = std::find_if(units.begin(), units.end(), holds);
  return it == units.end() ? nullptr : &*it;
}

bool is_candidate_in(const Unit& unit, const ExecutionId& id) {
  const ExecutionRecord* record = unit.set.execution(id);
  return record && core::is_candidate(*record);
}

}  // namespace

Result<Step> MemorySession::begin() {
  std::lock_guard guard(shared_->data.mutex);
  if (shared_->character != MemoryCharacter::serial) return Step::done;
  if (shared_->transaction && shared_->transaction != this) return Step::blocked;
  shared_->transaction = this;
  return Step::done;
}

bool MemorySession::lock(const std::string& name) {
  auto [it, added] = shared_->locks.try_emplace(name, this);
  if (added || it->second == this) {
    shared_->waits_for.erase(this);
    return true;
  }
  // Who holds what I want, what does that one want, and so on. A wait that is over shows as a lock that is free: its
  // session has not come back to look yet.
  shared_->waits_for[this] = name;
  MemorySession* at = it->second;
  for (std::size_t hops = 0; hops <= shared_->waits_for.size(); ++hops) {
    auto wanted = shared_->waits_for.find(at);
    if (wanted == shared_->waits_for.end()) return false;
    auto held = shared_->locks.find(wanted->second);
    if (held == shared_->locks.end()) return false;
    at = held->second;
    if (at == this) {
      ++shared_->deadlocks;
      return false;
    }
  }
  return false;
}

/// What a load has to lock, in one canonical order: keys, then executions, each by key. Rows that do not exist cannot
/// be locked.
std::vector<std::string> MemorySession::locks_for(std::span<core::Reads> reads) const {
  const MemoryData& data = shared_->data;
  std::set<std::string> keys;
  std::set<ExecutionId> executions;
  for (const auto& wanted : reads) {
    for (const auto& key : wanted.keys)
      if (data.keys.contains(key))
        keys.insert("key " + key.namespace_ + '\0' + key.operation + '\0' + key.idempotency_key);
    for (const auto& id : wanted.executions)
      if (data.executions.contains(id)) executions.insert(id);
  }
  std::vector<std::string> names(keys.begin(), keys.end());
  for (const auto& id : executions) names.push_back(lock_name(id));
  return names;
}

/// A load that waits keeps to the rows that it found at first: one that was made meanwhile may stand before those that
/// it holds, and two that took locks against the order could wait for each other.
bool MemorySession::lock_all(std::span<core::Reads> reads) {
  if (!wanted_locks_) wanted_locks_ = locks_for(reads);
  for (const auto& name : *wanted_locks_)
    if (!lock(name)) return false;
  wanted_locks_.reset();
  return true;
}

void MemorySession::fill(core::WorkingSet& set, const core::Reads& reads) {
  MemoryData& data = shared_->data;
  auto row_of = [&](const ExecutionId& id) -> const MemoryData::Row* {
    auto it = data.executions.find(id);
    return it == data.executions.end() ? nullptr : &it->second;
  };
  auto found = [](auto& map, const auto& key) -> std::optional<typename std::decay_t<decltype(map)>::mapped_type> {
    auto it = map.find(key);
    if (it == map.end()) return std::nullopt;
    return it->second;
  };
  for (const auto& id : reads.executions) {
    const auto* row = row_of(id);
    set.executions().loaded(id, row ? std::optional(row->record) : std::nullopt);
  }
  for (const auto& id : reads.infos) {
    const auto* row = row_of(id);
    set.infos().loaded(id, row ? std::optional(row->info) : std::nullopt);
  }
  for (const auto& id : reads.payloads) {
    const auto* row = row_of(id);
    set.payloads().loaded(id, row && row->payload ? std::optional(core::PayloadPart{row->payload}) : std::nullopt);
  }
  for (const auto& key : reads.attempts) set.attempts().loaded(key, found(data.attempts, key));
  for (const auto& id : reads.lanes) set.lanes().loaded(id, found(data.lanes, id));
  for (const auto& key : reads.keys) set.keys().loaded(key, found(data.keys, key));
  for (const auto& id : reads.documents) set.documents().loaded(id, found(data.documents, id));
}

Result<Step> MemorySession::load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) {
  std::lock_guard guard(shared_->data.mutex);
  if (mode == LoadMode::lock && shared_->character == MemoryCharacter::locking && !lock_all(reads))
    return Step::blocked;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Unit& unit = *units[i];
    fill(unit.set, reads[i]);
    const std::uint16_t partition = reads[i].executions.empty() ? 0 : reads[i].executions.front().partition;
    unit.now = std::max(unit.now, shared_->now(options_, partition));
    for (const auto& slot : unit.set.executions().slots())
      if (slot.value) unit.now = std::max(unit.now, slot.value->times.last_mutation_at_ms);
  }
  return Step::done;
}

void MemorySession::load_candidate(core::WorkingSet& set, const ExecutionId& id) {
  std::vector<core::Reads> reads;
  core::Reads& wanted = reads.emplace_back(set);
  wanted.execution(id);
  wanted.info(id);
  wanted.payload(id);
  fill(set, wanted);
}

Result<Step> MemorySession::take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) {
  std::lock_guard guard(shared_->data.mutex);
  MemoryData& data = shared_->data;
  const TimeMs now = shared_->now(options_, 0);
  for (const auto& row : plan) {
    Taken& found = taken.emplace_back();
    auto queue = data.queues.find(MemoryData::name_of(*row.queue));
    if (queue == data.queues.end()) continue;
    for (const auto& key : queue->second) {
      // What this batch has already leased, cancelled or moved is still in the index: the working set knows better.
      Unit* holder = holder_of(key.id, units);
      if (holder && !is_candidate_in(*holder, key.id)) continue;
      const bool enough = found.candidates.size() >= row.count || key.priority < row.priority_floor;
      if (enough) {
        found.next_head = key;
        break;
      }
      if (shared_->character == MemoryCharacter::locking) {
        auto held = shared_->locks.find(lock_name(key.id));
        if (held != shared_->locks.end() && held->second != this) continue;
        shared_->locks.try_emplace(lock_name(key.id), this);
      }
      if (shared_->character != MemoryCharacter::optimistic) {
        Unit& unit = units.front();
        load_candidate(unit.set, key.id);
        if (const auto* record = unit.set.execution(key.id))
          unit.now = std::max(unit.now, record->times.last_mutation_at_ms);
        found.candidates.emplace_back(&unit, key.id);
        continue;
      }
      if (holder) {
        load_candidate(holder->set, key.id);
        found.candidates.emplace_back(holder, key.id);
        continue;
      }
      auto reserved = shared_->reserved.find(key.id);
      if (reserved != shared_->reserved.end() && reserved->second.first != this && reserved->second.second > now)
        continue;
      shared_->reserved[key.id] = {this, now + kReservationMs};
      Unit& unit = units.emplace_back();
      load_candidate(unit.set, key.id);
      unit.now = std::max(shared_->now(options_, key.id.partition), unit.set.execution(key.id)->times.last_mutation_at_ms);
      found.candidates.emplace_back(&unit, key.id);
    }
  }
  return Step::done;
}

Result<std::vector<ExecutionId>> MemorySession::claimed_under(const std::string& worker_instance_id,
                                                              const std::string& claim_key) {
  std::lock_guard guard(shared_->data.mutex);
  std::vector<ExecutionId> held;
  for (const auto& [id, row] : shared_->data.executions)
    if (row.record.is_leased() && row.record.lease->claim_key == claim_key &&
        row.record.lease->current_worker_instance_id == worker_instance_id)
      held.push_back(id);
  return held;
}

/// Whether what the set relies on is no longer what is stored.
bool MemorySession::conflicts(core::WorkingSet& set) const {
  const MemoryData& data = shared_->data;
  // The version alone does not tell: what is removed and made anew counts from 1 again.
  auto changed = [](const auto& map, const auto& slot, const auto& same) {
    auto it = map.find(slot.key);
    const auto& loaded = slot.dirty ? slot.before : slot.value;
    if (it == map.end()) return loaded != nullptr;
    return !loaded || !same(*loaded, it->second);
  };
  for (const auto& slot : set.executions().slots())
    if (changed(data.executions, slot, [](const ExecutionRecord& loaded, const MemoryData::Row& stored) {
          return core::same_record(loaded, stored.record);
        }))
      return true;
  for (const auto& slot : set.keys().slots())
    if (changed(data.keys, slot, std::equal_to<>())) return true;
  for (const auto& slot : set.lanes().slots())
    if (slot.dirty && changed(data.lanes, slot, std::equal_to<>())) return true;
  for (const auto& slot : set.documents().slots())
    if (slot.dirty && changed(data.documents, slot, std::equal_to<>())) return true;
  return false;
}

Result<Step> MemorySession::save(std::span<Unit* const> units) {
  bool committed = false;
  {
    std::lock_guard guard(shared_->data.mutex);
    for (Unit* unit : units) {
      if (shared_->character != MemoryCharacter::serial && conflicts(unit->set)) {
        unit->outcome = Unit::Outcome::conflict;
        continue;
      }
      shared_->data.save(unit->set);
      unit->outcome = Unit::Outcome::committed;
      committed = true;
    }
    release();
  }
  tell_others(committed);
  return Step::done;
}

void MemorySession::release() {
  if (shared_->transaction == this) shared_->transaction = nullptr;
  std::erase_if(shared_->locks, [&](const auto& item) { return item.second == this; });
  std::erase_if(shared_->reserved, [&](const auto& item) { return item.second.first == this; });
  shared_->waits_for.erase(this);
  wanted_locks_.reset();
}

void MemorySession::rollback() {
  std::lock_guard guard(shared_->data.mutex);
  release();
}

Result<std::uint64_t> MemorySession::trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) {
  std::lock_guard guard(shared_->data.mutex);
  return shared_->data.trim_events(before, audit_before, limit);
}

void MemorySession::tell_others(bool committed) {
  if (!committed) return;
  std::lock_guard guard(shared_->watch_mutex);
  for (const auto& [store, watcher] : shared_->watchers)
    if (store != owner_) watcher->foreign_commit();
}

}  // namespace ff::store
