// The second half of a batch: writing what the decisions changed.

#include "core/errors.h"
#include "store/postgres/session.h"
#include "store/postgres/statements.h"

namespace ff::store::postgres {
namespace {

/// Stands for the hot table where a slot is named.
constexpr std::int32_t kNoSlot = -2;

}  // namespace

void PostgresSession::clear_outgoing() {
  new_rows_.clear();
  updated_.clear();
  revived_.clear();
  updated_slots_.clear();
  for (EndedRows* rows : {&ended_, &ended_at_once_, &ended_again_}) rows->clear();
  recalled_.clear();
  for (TextRows* rows : {&live_tags_, &ended_tags_, &live_attempts_, &ended_attempts_}) rows->clear();
  added_tags_.clear();
  removed_tags_.clear();
  for (KeyRows* rows : {&new_keys_, &changed_keys_, &removed_keys_}) rows->clear();
  free_ids_.clear();
  erased_live_.clear();
  erased_ended_.clear();
  erased_slots_.clear();
  shards_.clear();
  events_.clear();
  earlier_places_.clear();
  lanes_.clear();
}

Result<Step> PostgresSession::save(std::span<Unit* const> units) {
  clear_outgoing();
  for (Unit* unit : units)
    if (auto collected = collect(*unit); !collected) return std::unexpected(before_commit(collected.error()));
  if (std::exchange(begin_owed_, false)) {
    connection_.queue(sql::kBegin);
    in_transaction_ = true;
  }
  std::optional<std::size_t> clock_at;
  if (xact_.empty()) {
    clock_at = connection_.queued();
    reckoned_ ? connection_.queue(sql::kClockCheck, Params().number(*reckoned_).number(kReckonedErrorMaxMs))
              : connection_.queue(sql::kClock);
    connection_.queue_push();
  }
  for (Unit* unit : units) {
    queue_lanes(unit->set);
    queue_documents(unit->set);
  }
  const std::size_t places_at = queue_writes();
  connection_.queue(sql::kCommit);
  const Connection::Peer peer = connection_.peer();
  const auto asked = std::chrono::steady_clock::now();
  auto answers = connection_.flush();
  const auto& answered = answers ? *answers : connection_.answered();
  if (clock_at && *clock_at < answered.size()) {
    xact_ = answered[*clock_at].text(0, 1);
    reading_ = {answered[*clock_at].number(0, 0), asked};
  }
  if (!answers) {
    const std::string_view state = answers.error().context.text("sqlstate");
    if (!connection_.is_open()) {
      // The number of the transaction is sent back before anything is written: a server that says that it ends the
      // connection, and has not said the number, has written nothing.
      if (xact_.empty() && !state.empty()) return std::unexpected(before_commit(answers.error()));
      return find_out(units, answers.error(), peer);
    }
    reading_.reset();  // it may be the clock
    if (state != "23514") return std::unexpected(answers.error());
    shared_->slots.forget();  // a partition that was there is gone
    return core::fail(ErrorCode::retry_exhausted, answers.error().message);
  }
  in_transaction_ = false;
  for (Unit* unit : units) unit->outcome = Unit::Outcome::committed;
  if (!updated_slots_.empty()) remember((*answers)[places_at]);
  if (!new_rows_.empty()) remember_new(units);
  tell_others(units);
  return Step::done;
}

/// Signs of life of workers and the like are nothing that anybody waits for.
void PostgresSession::tell_others(std::span<Unit* const> units) {
  const bool returned = learn_places(units);
  auto changed = [](const auto& slots) { return std::any_of(slots.begin(), slots.end(), [](const auto& s) { return s.dirty; }); };
  const bool matters = std::any_of(units.begin(), units.end(), [&](Unit* unit) {
    return changed(unit->set.executions().slots()) || changed(unit->set.lanes().slots());
  });
  if (matters) shared_->wake_ups.committed(returned);
}

Result<Step> PostgresSession::leave(std::span<Unit* const> units) {
  if (!recalled_any_) {
    rollback();
    return Step::done;
  }
  recalled_.clear();
  for (Unit* unit : units) collect_recalled(unit->set);
  if (!recalled_.empty()) connection_.queue(sql::kStillSame, recalled_.params());
  auto answers = send();
  if (!answers) return std::unexpected(answers.error());
  rollback();
  return Step::done;
}

Result<void> PostgresSession::collect(Unit& unit) {
  if (recalled_any_) collect_recalled(unit.set);
  find_logged(unit.set);
  if (auto done = collect_executions(unit.set, unit.now); !done) return done;
  collect_attempts(unit.set);
  collect_keys(unit.set);
  return collect_events(unit.set, unit.now);
}

/// What was remembered and is not written, or removed by its id, is still to be compared.
void PostgresSession::collect_recalled(core::WorkingSet& set) {
  for (const auto& slot : set.executions().slots()) {
    const core::ExecutionRecord* known = slot.dirty ? slot.before.get() : slot.value.get();
    if (!known || (slot.dirty && slot.value)) continue;
    const auto row = rows_.find(slot.key);
    if (row != rows_.end() && row->second.remembered) recalled_.add(*known, row->second);
  }
}

/// The next call about a leased execution will most likely come to this process.
void PostgresSession::remember(const Rows& places) {
  for (int row = 0; row < places.size(); ++row) {
    const auto& record = updated_slots_[static_cast<std::size_t>(places.number(row, 0) - 1)]->value;
    if (!record->is_leased()) continue;
    const std::size_t log_places = rows_[record->id].log_place_count;
    if (log_places < kLogPlacesMax) shared_->remembered.put({record, std::string(places.text(row, 1)), log_places});
  }
}

/// What was submitted here will most likely be claimed here.
void PostgresSession::remember_new(std::span<Unit* const> units) {
  if (xact_.empty()) return;
  const auto xact = static_cast<std::uint32_t>(std::stoull(xact_));
  const auto now = NewWork::Clock::now();
  for (Unit* unit : units)
    for (const auto& slot : unit->set.executions().slots()) {
      if (slot.stored || !slot.value || !core::is_candidate(*slot.value)) continue;
      const auto* info = unit->set.infos().find(slot.key);
      const auto* payload = unit->set.payloads().find(slot.key);
      const auto queue_id = queues_.id_of(slot.value->queue, false);
      if (!info || !queue_id || !*queue_id) continue;
      shared_->new_work.put(
          **queue_id, {slot.value, info->value, payload ? payload->value : nullptr, xact, rows_[slot.key].log_place_count},
          now);
    }
}

// ---- executions ---------------------------------------------------------------------------------------------------

Result<void> PostgresSession::collect_executions(core::WorkingSet& set, TimeMs now) {
  std::vector<const ExecutionSlot*> added;
  for (const auto& slot : set.executions().slots()) {
    if (!slot.dirty) continue;
    if (slot.value && !slot.stored) {
      added.push_back(&slot);
    } else if (slot.value) {
      if (auto done = add_final(set, slot, false, now); !done) return done;
      if (slot.before->tags != slot.value->tags) {
        const std::string text = slot.value->tags ? pack_tags(*slot.value->tags) : std::string();
        const auto& place = rows_[slot.key].slot;
        (place ? ended_tags_ : live_tags_).add(slot.key, text, place.value_or(kNoSlot));
        add_tags(slot.key, slot.value->times.created_at_ms, slot.before->tags.get(), slot.value->tags.get());
      }
    } else if (slot.stored) {
      const auto& place = rows_[slot.key].slot;
      (place ? erased_ended_ : erased_live_).add(IdBytes(slot.key).view());
      if (place) erased_slots_.add(*place);
      if (slot.before->tags) add_tags(slot.key, slot.before->times.created_at_ms, slot.before->tags.get(), nullptr);
    }
  }
  // In one order, because an id that another batch inserts too makes the later one wait.
  std::sort(added.begin(), added.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  for (const auto* slot : added) {
    if (auto done = add_new(set, *slot); !done) return done;
    if (slot->value->is_terminal())
      if (auto done = add_final(set, *slot, true, now); !done) return done;
  }
  return {};
}

Result<void> PostgresSession::add_new(core::WorkingSet& set, const ExecutionSlot& slot) {
  const core::ExecutionRecord& record = *slot.value;
  auto queue_id = queues_.id_of(record.queue, true);
  if (!queue_id) return std::unexpected(queue_id.error());
  const core::ExecutionInfo* info = set.info(slot.key);
  if (!info || !*queue_id) return std::unexpected(core::corruption("ff_exec_info", "policy", "missing at insert"));
  RowMeta& meta = rows_[slot.key];
  meta.log_place_count = meta.logs ? 1 : 0;
  new_rows_.add(record, **queue_id, *info, set.payload(slot.key), meta.logs);
  if (looked_up_free_.contains(slot.key)) free_ids_.add(IdBytes(slot.key).view());
  if (record.tags) add_tags(record.id, record.times.created_at_ms, nullptr, record.tags.get());
  return {};
}

/// Puts a row where it belongs after the batch, and remembers the place.
Result<void> PostgresSession::add_final(core::WorkingSet& set, const ExecutionSlot& slot, bool is_new, TimeMs now) {
  const core::ExecutionRecord& record = *slot.value;
  RowMeta& meta = rows_[slot.key];
  const auto from = meta.slot;
  const std::uint64_t from_version = is_new ? 0 : slot.before->version;
  LogPlaces logs = LogPlaces::as_they_are;
  if (meta.logs && !is_new) {
    const bool full = meta.log_place_count >= kLogPlacesMax;
    if (full) earlier_places_.emplace_back(slot.key, std::move(meta.log_places));
    logs = full ? LogPlaces::only_the_new : LogPlaces::one_more;
    meta.log_place_count = full ? 1 : meta.log_place_count + 1;
  }
  if (!record.is_terminal()) {
    (from ? revived_ : updated_).add(record, meta, from_version, logs);
    if (!from) updated_slots_.push_back(&slot);
    meta.slot.reset();
    return {};
  }
  const auto* result = set.results().find(slot.key);
  const bool changes_result = result && result->dirty;
  const core::ResultPart* part = changes_result ? result->value.get() : nullptr;
  const TimeMs retain_until = record.times.retain_until_ms.value_or(now);
  const bool stays = from && !is_new && slot.before->times.retain_until_ms == record.times.retain_until_ms;
  const std::int32_t to = stays ? *from : done_slot(retain_until, now);
  if (auto made = shared_->slots.ensure(History::executions, to); !made) return made;
  EndedRows& rows = from ? ended_again_ : is_new ? ended_at_once_ : ended_;
  rows.add(record, meta, from_version, to, part, from && !changes_result, logs);
  meta.slot = to;
  return {};
}

void PostgresSession::add_tags(const ExecutionId& id, TimeMs created_at_ms, const Tags* before, const Tags* after) {
  auto has = [](const Tags* tags, const std::string& key, const std::string& value) {
    if (!tags) return false;
    auto it = tags->find(key);
    return it != tags->end() && it->second == value;
  };
  if (before)
    for (const auto& [key, value] : *before)
      if (!has(after, key, value)) removed_tags_.add(key, value, created_at_ms, id);
  if (after)
    for (const auto& [key, value] : *after)
      if (!has(before, key, value)) added_tags_.add(key, value, created_at_ms, id);
}

void PostgresSession::collect_attempts(core::WorkingSet& set) {
  std::map<core::AttemptKey, const Attempt*> filed;
  for (const auto& slot : set.attempts().slots())
    if (slot.dirty && slot.value && set.execution(slot.key.execution_id)) filed.emplace(slot.key, slot.value.get());
  for (auto it = filed.begin(); it != filed.end();) {
    const ExecutionId id = it->first.execution_id;
    std::string lines;
    for (; it != filed.end() && it->first.execution_id == id; ++it)
      lines.append(pack_attempt(*it->second)).append(1, '\n');
    const auto& place = rows_[id].slot;
    (place ? ended_attempts_ : live_attempts_).add(id, lines, place.value_or(kNoSlot));
  }
}

// ---- keys, lanes, events ------------------------------------------------------------------------------------------

void PostgresSession::collect_keys(core::WorkingSet& set) {
  std::map<core::IdempotencyId, const core::IdempotencyRecord*> added;
  for (const auto& slot : set.keys().slots()) {
    if (!slot.dirty) continue;
    if (!slot.value) {
      if (slot.stored) removed_keys_.add(*slot.before);
    } else if (slot.stored) {
      changed_keys_.add(*slot.value);
    } else {
      added.emplace(slot.key, slot.value.get());
    }
  }
  for (const auto& [id, record] : added) new_keys_.add(*record);
}

void PostgresSession::queue_lanes(core::WorkingSet& set) {
  std::map<std::string, const core::Table<std::string, Lane>::Slot*> changed;
  for (const auto& slot : set.lanes().slots())
    if (slot.dirty && slot.value) changed.emplace(slot.key, &slot);
  for (const auto& [id, slot] : changed) {
    Params params = lanes_.emplace_back(*slot->value).params();
    if (!slot->stored)
      connection_.queue(sql::kLaneInsert, std::move(params));
    else
      connection_.queue(sql::kLaneUpdate, params.number(static_cast<std::int64_t>(slot->before->version)));
  }
}

void PostgresSession::queue_documents(core::WorkingSet& set) {
  std::map<core::DocumentId, const core::Table<core::DocumentId, core::Document>::Slot*> changed;
  for (const auto& slot : set.documents().slots())
    if (slot.dirty && (slot.value || slot.stored)) changed.emplace(slot.key, &slot);
  for (const auto& [id, slot] : changed) {
    const auto kind = static_cast<std::size_t>(id.kind);
    Params params;
    params.bytes(slot->key.key);
    if (slot->value)
      params.bytes(slot->value->body).number(slot->value->due_at_ms).number(static_cast<std::int64_t>(slot->value->version));
    if (slot->stored) params.number(static_cast<std::int64_t>(slot->before->version));
    const Sql* statements = !slot->stored ? sql::kDocumentInsert : slot->value ? sql::kDocumentUpdate : sql::kDocumentDelete;
    connection_.queue(statements[kind], std::move(params));
  }
}

/// Events lead back to their executions by the places that those keep.
void PostgresSession::find_logged(core::WorkingSet& set) {
  for (const auto& event : set.events())
    if (event.execution_id && set.execution(*event.execution_id)) rows_[*event.execution_id].logs = true;
}

EventRows& PostgresSession::event_rows(std::int32_t slot) {
  for (auto& rows : events_)
    if (rows.slot() == slot) return rows;
  return events_.emplace_back(slot);
}

Result<void> PostgresSession::collect_events(core::WorkingSet& set, TimeMs now) {
  const auto& events = set.events();
  if (events.size() + earlier_places_.size() > sql::kBatchEventsMax)
    return core::fail(ErrorCode::retry_exhausted, "The batch writes more events than one block of ids has room for.");
  std::set<std::int32_t> shards;
  const std::int32_t shard_count = std::max<std::int32_t>(1, shared_->event_shards.load());
  std::int32_t number = 0;
  for (std::size_t at = 0; at < events.size();) {
    const EventRow row = event_row(events, at);
    at += row.lease ? 2 : 1;
    const core::EventRecord& event = *row.event;
    std::optional<std::int32_t> queue_id;
    if (event.queue) {
      auto found = queues_.id_of(event.queue, true);
      if (!found) return std::unexpected(found.error());
      queue_id = *found;
    }
    const std::int32_t slot = event_slot(event.occurred_at_ms, event.kind == EventKind::operator_);
    if (auto made = shared_->slots.ensure(History::events, slot); !made) return made;
    const std::int32_t shard = event.partition % shard_count;
    event_rows(slot).add(row, ++number, queue_id, shard);
    shards.insert(shard);
  }
  for (const auto& [id, places] : earlier_places_) {
    // As long as any event that they lead to.
    const std::int32_t slot = event_slot(now, true);
    if (auto made = shared_->slots.ensure(History::events, slot); !made) return made;
    event_rows(slot).add_earlier(id, ++number, id.partition % shard_count, places, now);
  }
  for (std::int32_t shard : shards) shards_.add(shard);
  return {};
}

// ---- the commit ---------------------------------------------------------------------------------------------------

/// Returns which of the answers tells where the changed rows stand.
std::size_t PostgresSession::queue_writes() {
  auto queue_if = [&](auto& rows, const Sql& sql) {
    if (!rows.empty()) connection_.queue(sql, rows.params());
  };
  queue_if(recalled_, sql::kStillSame);
  queue_if(new_keys_, sql::kKeyInsert);
  queue_if(changed_keys_, sql::kKeyUpdate);
  if (!removed_keys_.empty()) connection_.queue(sql::kKeyDelete, removed_keys_.names());
  queue_if(new_rows_, sql::kInsertCore);
  if (!free_ids_.empty())
    connection_.queue(sql::kStillFree, Params().array(free_ids_).number(shared_->manual_now()));
  const std::size_t places_at = connection_.queued();
  if (!updated_.empty()) connection_.queue(updated_.locked() ? sql::kUpdateLocked : sql::kUpdateCore, updated_.params(true));
  if (!ended_.empty()) connection_.queue(sql::kMoveToDone, ended_.params(true));
  if (!ended_at_once_.empty()) connection_.queue(sql::kMoveNewToDone, ended_at_once_.params(false));
  if (!revived_.empty()) connection_.queue(sql::kMoveToCore, revived_.params(false));
  if (!ended_again_.empty()) connection_.queue(sql::kUpdateDone, ended_again_.params(false));
  if (!live_tags_.empty()) connection_.queue(sql::kTagsCore, live_tags_.params(false));
  if (!ended_tags_.empty()) connection_.queue(sql::kTagsDone, ended_tags_.params(true));
  if (!live_attempts_.empty()) connection_.queue(sql::kAttemptsCore, live_attempts_.params(false));
  if (!ended_attempts_.empty()) connection_.queue(sql::kAttemptsDone, ended_attempts_.params(true));
  if (!erased_live_.empty()) connection_.queue(sql::kDeleteCore, Params().array(erased_live_));
  if (!erased_ended_.empty())
    connection_.queue(sql::kDeleteDone, Params().array(erased_ended_).array(erased_slots_));
  queue_if(removed_tags_, sql::kTagDelete);
  queue_if(added_tags_, sql::kTagInsert);
  if (events_.empty()) return places_at;
  for (auto& rows : events_) {
    Params params = rows.params(events_.size() == 1);
    if (&rows == &events_.front())
      connection_.queue(sql::kEventInsert, params.array(shards_));
    else
      connection_.queue(sql::kEventInsertMore, std::move(params));
  }
  return places_at;
}

}  // namespace ff::store::postgres
