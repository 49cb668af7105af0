#include "store/sqlite/sqlite_session.h"

#include "core/errors.h"
#include "store/sqlite/statements.h"

#include <sqlite3.h>

namespace ff::store::sqlite {

Result<std::unique_ptr<SqliteSession>> SqliteSession::open(std::shared_ptr<SqliteShared> shared) {
  auto connection = open_connection(*shared, OpenMode::read_write);
  if (!connection) return std::unexpected(connection.error());
  auto queues = Queues::open(*connection, shared->queues);
  if (!queues) return std::unexpected(queues.error());
  std::unique_ptr<SqliteSession> session(
      new SqliteSession(std::move(shared), std::move(*connection), std::move(*queues)));
  if (auto opened = session->turnstile_.open(session->shared_->path); !opened) return std::unexpected(opened.error());
  if (auto prepared = session->prepare(); !prepared) return std::unexpected(prepared.error());
  return session;
}

Result<void> SqliteSession::prepare() {
  const std::pair<Statement*, std::string_view> all[] = {
      {&begin_, sql::kBegin},
      {&commit_, sql::kCommit},
      {&rollback_, sql::kRollback},
      {&core_by_ids_, sql::kCoreByIds},
      {&core_insert_, sql::kCoreInsert},
      {&core_update_, sql::kCoreUpdate},
      {&core_delete_, sql::kCoreDelete},
      {&last_seq_, sql::kLastSeq},
      {&info_insert_, sql::kInfoInsert},
      {&info_tags_, sql::kInfoTags},
      {&tags_of_, sql::kTagsOf},
      {&info_, sql::kInfo},
      {&info_payloads_, sql::kInfoPayloads},
      {&info_delete_, sql::kInfoDelete},
      {&result_put_, sql::kResultPut},
      {&result_delete_, sql::kResultDelete},
      {&attempt_put_, sql::kAttemptPut},
      {&attempt_, sql::kAttempt},
      {&attempts_delete_, sql::kAttemptsDelete},
      {&tag_insert_, sql::kTagInsert},
      {&tag_delete_, sql::kTagDelete},
      {&candidates_, sql::kCandidates},
      {&claimed_under_, sql::kClaimedUnder},
      {&lane_, sql::kLane},
      {&lane_put_, sql::kLanePut},
      {&key_, sql::kKey},
      {&key_put_, sql::kKeyPut},
      {&key_delete_, sql::kKeyDelete},
      {&event_head_, sql::kEventHead},
      {&event_head_set_, sql::kEventHeadSet},
      {&event_first_set_, sql::kEventFirstSet},
      {&event_insert_, sql::kEventInsert},
      {&events_from_, sql::kEventsFrom},
      {&event_delete_, sql::kEventDelete},
  };
  auto note_log_length = [](void* self, sqlite3*, const char*, int pages) {
    static_cast<SqliteSession*>(self)->wal_pages_ = pages;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(connection_.raw(), note_log_length, this);
  const std::tuple<BatchTable*, const char*, int> tables[] = {{&new_core_, "ff_new_core", CoreRows::kColumns},
                                                              {&changed_core_, "ff_changed_core", CoreRows::kColumns},
                                                              {&new_info_, "ff_new_info", InfoRows::kColumns},
                                                              {&new_events_, "ff_new_events", EventRows::kColumns},
                                                              {&ids_, "ff_ids", 1},
                                                              {&seqs_, "ff_seqs", 1}};
  for (const auto& [table, name, columns] : tables)
    if (auto attached = table->attach(connection_, name, columns); !attached) return attached;
  for (const auto& [statement, text] : all) {
    auto prepared = connection_.prepare(text);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return documents_.prepare(connection_, true);
}

Result<Step> SqliteSession::begin() {
  if (finish_checkpoint_) {
    finish_checkpoint_ = false;
    sqlite3_wal_checkpoint_v2(connection_.raw(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  }
  turnstile_.enter();
  const auto begun = begin_.run();
  turnstile_.leave();
  if (!begun) return std::unexpected(begun.error());
  in_transaction_ = true;
  rows_.clear();
  return Step::done;
}

void SqliteSession::rollback() {
  if (in_transaction_) (void)rollback_.run();
  in_transaction_ = false;
  queues_.rolled_back();
}

// ---- loading ------------------------------------------------------------------------------------------------------

void SqliteSession::set_clock(Unit& unit) {
  unit.now = std::max({unit.now, last_now_, shared_->now()});
  for (const auto& slot : unit.set.executions().slots())
    if (slot.value) unit.now = std::max(unit.now, slot.value->times.last_mutation_at_ms);
  last_now_ = unit.now;
}

Result<Step> SqliteSession::load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    core::WorkingSet& set = units[i]->set;
    Result<void> done;
    if (done = load_executions(set, reads[i].executions); !done) return std::unexpected(done.error());
    if (done = load_payloads(set, reads[i].payloads); !done) return std::unexpected(done.error());
    for (const auto& id : reads[i].infos)
      if (done = load_info(set, id); !done) return std::unexpected(done.error());
    for (const auto& key : reads[i].attempts)
      if (done = load_attempt(set, key); !done) return std::unexpected(done.error());
    for (const auto& id : reads[i].documents) {
      auto document = documents_.find(id);
      if (!document) return std::unexpected(document.error());
      set.documents().loaded(id, std::move(*document));
    }
    for (const auto& id : reads[i].lanes)
      if (done = load_lane(set, id); !done) return std::unexpected(done.error());
    for (const auto& id : reads[i].keys)
      if (done = load_key(set, id); !done) return std::unexpected(done.error());
    set_clock(*units[i]);
  }
  return Step::done;
}

/// Keeps what is under the cursor; a row that cannot be read is remembered as such and harms only who wants it.
Result<void> SqliteSession::keep_row(core::WorkingSet& set, const Statement& row) {
  const ExecutionId id = id_of_row(row);
  if (set.executions().find(id) || set.why_unreadable(id)) return {};
  auto read = read_core(row, queues_);
  if (!read && read.error().code != ErrorCode::corruption) return std::unexpected(read.error());
  if (read && read->meta.has_tags) {
    ResetLater reset(tags_of_);
    auto found = tags_of_.bind(1, read->meta.seq).step();
    if (!found) return std::unexpected(found.error());
    auto tags = unpack_tags(*found ? tags_of_.text(0) : std::string_view());
    if (tags)
      read->record.tags = std::move(*tags);
    else
      read = std::unexpected(tags.error());
  }
  if (!read) {
    set.unreadable(id, read.error());
    return {};
  }
  rows_[id] = read->meta;
  set.executions().loaded(id, std::make_shared<core::ExecutionRecord>(std::move(read->record)));
  return {};
}

Result<void> SqliteSession::load_executions(core::WorkingSet& set, const std::vector<ExecutionId>& ids) {
  if (ids.empty()) return {};
  ids_.clear();
  for (const auto& id : ids) ids_.add(id);
  {
    ResetLater reset(core_by_ids_);
    while (true) {
      auto row = core_by_ids_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      if (auto kept = keep_row(set, core_by_ids_); !kept) return kept;
    }
  }
  for (const auto& id : ids)
    if (!set.why_unreadable(id)) set.executions().loaded(id, nullptr);
  return {};
}

/// The written-once part under the cursor; one that cannot be read harms only who wants it.
Result<void> SqliteSession::keep_info(core::WorkingSet& set, const ExecutionId& id, const Statement& row,
                                      bool with_payload) {
  auto info = unpack_info(row.text(0), row.text(1));
  if (!info) {
    set.unreadable(id, info.error());
    return {};
  }
  if (!row.is_null(2)) info->payload_content_type = row.text(2);
  if (!row.is_null(3)) {
    info->payload_bytes = static_cast<std::uint64_t>(row.number(3));
    if (with_payload)
      set.payloads().loaded(id, std::make_shared<core::PayloadPart>(std::make_shared<const Bytes>(row.blob(4))));
  }
  set.infos().loaded(id, std::make_shared<core::ExecutionInfo>(std::move(*info)));
  return {};
}

Result<void> SqliteSession::load_payloads(core::WorkingSet& set, const std::vector<ExecutionId>& ids) {
  seqs_.clear();
  std::vector<ExecutionId> wanted;
  for (const auto& id : ids) {
    if (set.payloads().find(id)) continue;
    if (auto meta = rows_.find(id); meta != rows_.end() && meta->second.seq != 0) {
      seqs_.add(meta->second.seq);
      wanted.push_back(id);
    }
  }
  if (!wanted.empty()) {
    ResetLater reset(info_payloads_);
    for (const auto& id : wanted) {  // the rows come one for one
      auto row = info_payloads_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row || info_payloads_.is_null(5)) {
        set.unreadable(id, core::corruption("ff_exec_info", "seq", "missing"));
        continue;
      }
      if (auto kept = keep_info(set, id, info_payloads_, true); !kept) return kept;
    }
  }
  for (const auto& id : ids) set.payloads().loaded(id, nullptr);
  return {};
}

Result<void> SqliteSession::load_info(core::WorkingSet& set, const ExecutionId& id) {
  if (set.infos().find(id)) return {};
  auto meta = rows_.find(id);
  if (meta == rows_.end()) {
    set.infos().loaded(id, nullptr);
    return {};
  }
  ResetLater reset(info_);
  auto row = info_.bind(1, meta->second.seq).step();
  if (!row) return std::unexpected(row.error());
  if (*row) return keep_info(set, id, info_, false);
  set.infos().loaded(id, nullptr);
  return {};
}

Result<void> SqliteSession::load_attempt(core::WorkingSet& set, const core::AttemptKey& key) {
  if (set.attempts().find(key)) return {};
  std::optional<Attempt> found;
  if (auto meta = rows_.find(key.execution_id); meta != rows_.end()) {
    ResetLater reset(attempt_);
    auto row = attempt_.bind(1, meta->second.seq).bind(2, std::int64_t{key.attempt_index}).step();
    if (!row) return std::unexpected(row.error());
    if (*row) {
      auto attempt = unpack_attempt(attempt_.text(0));
      if (!attempt) return std::unexpected(attempt.error());
      found = std::move(*attempt);
    }
  }
  set.attempts().loaded(key, std::move(found));
  return {};
}

Result<void> SqliteSession::load_lane(core::WorkingSet& set, const std::string& id) {
  if (set.lanes().find(id)) return {};
  ResetLater reset(lane_);
  auto row = lane_.bind(1, id).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) {
    set.lanes().loaded(id, std::nullopt);
    return {};
  }
  auto lane = read_lane(lane_);
  if (!lane) return std::unexpected(lane.error());
  set.lanes().loaded(id, std::move(*lane));
  return {};
}

Result<void> SqliteSession::load_key(core::WorkingSet& set, const core::IdempotencyId& id) {
  if (set.keys().find(id)) return {};
  ResetLater reset(key_);
  auto row = key_.bind(1, id.idempotency_key).bind(2, id.namespace_).bind(3, id.operation).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) {
    set.keys().loaded(id, std::nullopt);
    return {};
  }
  auto record = read_key(key_, id);
  if (!record) return std::unexpected(record.error());
  set.keys().loaded(id, std::move(*record));
  return {};
}

// ---- claims -------------------------------------------------------------------------------------------------------

Result<Taken> SqliteSession::take_row(const TakeRow& row, Unit& unit) {
  Taken taken;
  auto queue_id = queues_.id_of(row.queue, false);
  if (!queue_id) return std::unexpected(queue_id.error());
  if (!*queue_id) return taken;
  ResetLater reset(candidates_);
  candidates_.bind(1, **queue_id);
  while (true) {
    auto found = candidates_.step();
    if (!found) return std::unexpected(found.error());
    if (!*found) return taken;
    const ExecutionId id = id_of_row(candidates_);
    // What this batch has already leased, cancelled or moved is still in the index: the working set knows better.
    const auto* known = unit.set.executions().find(id);
    if (known && (!known->value || !core::is_candidate(*known->value))) continue;
    if (auto kept = keep_row(unit.set, candidates_); !kept) return std::unexpected(kept.error());
    const core::ExecutionRecord* record = unit.set.execution(id);
    if (!record || unit.set.why_unreadable(id)) continue;
    if (taken.candidates.size() == row.count || record->priority < row.priority_floor) {
      taken.next_head = core::order_key(*record);
      return taken;
    }
    taken.candidates.emplace_back(&unit, id);
  }
}

Result<Step> SqliteSession::take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) {
  Unit& unit = units.front();
  for (const auto& row : plan) {
    auto found = take_row(row, unit);
    if (!found) return std::unexpected(found.error());
    std::vector<ExecutionId> ids;
    for (const auto& [owner, id] : found->candidates) ids.push_back(id);
    if (auto loaded = load_payloads(unit.set, ids); !loaded) return std::unexpected(loaded.error());
    std::erase_if(found->candidates, [&](const auto& candidate) { return unit.set.why_unreadable(candidate.second); });
    taken.push_back(std::move(*found));
  }
  set_clock(unit);
  return Step::done;
}

Result<std::vector<ExecutionId>> SqliteSession::claimed_under(const std::string&, const std::string& claim_key) {
  std::vector<ExecutionId> held;
  ResetLater reset(claimed_under_);
  claimed_under_.bind(1, claim_key);
  while (true) {
    auto row = claimed_under_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return held;
    held.push_back(id_from(claimed_under_.blob(0)));
  }
}

Result<std::unique_ptr<Session>> open_session(std::shared_ptr<SqliteShared> shared) {
  auto session = SqliteSession::open(std::move(shared));
  if (!session) return std::unexpected(session.error());
  return std::unique_ptr<Session>(std::move(*session));
}

}  // namespace ff::store::sqlite
