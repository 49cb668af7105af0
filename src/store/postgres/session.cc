#include "store/postgres/session.h"

#include "core/errors.h"
#include "store/postgres/statements.h"

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;

/// How long a batch tries to get its connection back before its callers hear of it.
constexpr auto kSessionReconnectMax = 2s;
/// So long after it was read the store's clock can be told without asking.
constexpr auto kReckonedMax = 500ms;

}  // namespace

Result<std::unique_ptr<PostgresSession>> PostgresSession::open(std::shared_ptr<PostgresShared> shared) {
  std::unique_ptr<PostgresSession> session(new PostgresSession(std::move(shared)));
  if (auto opened = session->connection_.open(kSessionReconnectMax); !opened) return std::unexpected(opened.error());
  return session;
}

Result<Step> PostgresSession::begin() {
  rollback();
  if (auto opened = connection_.open(kSessionReconnectMax); !opened) return std::unexpected(opened.error());
  begin_owed_ = true;
  rows_.clear();
  looked_up_free_.clear();
  recalled_any_ = false;
  xact_.clear();
  reckoned_.reset();
  return Step::done;
}

void PostgresSession::rollback() {
  begin_owed_ = false;
  if (std::exchange(in_transaction_, false) && connection_.is_open())
    if (auto done = connection_.query(sql::kRollback); !done) connection_.close();
  end_searches();
}

Result<std::vector<Rows>> PostgresSession::send() {
  auto answers = connection_.flush();
  if (answers) return answers;
  return std::unexpected(before_commit(answers.error()));
}

Error PostgresSession::before_commit(Error error) {
  if (!is_lost(error)) return error;
  in_transaction_ = in_transaction_ && connection_.is_open();
  return {ErrorCode::retry_exhausted, error.message, {}};
}

// ---- loading ------------------------------------------------------------------------------------------------------

Result<void> PostgresSession::set_clock(Unit& unit, const Rows& clock) {
  const TimeMs now = clock.number(0, 0);
  reading_ = {now, std::chrono::steady_clock::now()};
  if (!clock.is_null(0, 1)) xact_ = clock.text(0, 1);
  if (reckoned_ && std::abs(now - *reckoned_) >= kReckonedErrorMaxMs)
    return core::fail(ErrorCode::retry_exhausted, "The time by which the batch was decided is wrong.");
  set_now(unit, shared_->manual_now().value_or(now));
  return {};
}

std::optional<TimeMs> PostgresSession::reckoned_now() const {
  if (const auto manual = shared_->manual_now()) return manual;
  if (!reading_) return std::nullopt;
  const auto since = std::chrono::steady_clock::now() - reading_->second;
  if (since > kReckonedMax) return std::nullopt;
  return reading_->first + std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

void PostgresSession::set_now(Unit& unit, TimeMs now) {
  TimeMs last = shared_->last_now;
  unit.now = std::max({unit.now, last, now});
  for (const auto& slot : unit.set.executions().slots())
    if (slot.value) unit.now = std::max(unit.now, slot.value->times.last_mutation_at_ms);
  while (last < unit.now && !shared_->last_now.compare_exchange_weak(last, unit.now)) {
  }
}

/// Keeps a row; one that cannot be read is remembered as such and harms only who wants it. False: it was there already.
Result<bool> PostgresSession::keep_row(core::WorkingSet& set, const Rows& rows, int row, bool locked) {
  const ExecutionId id = id_of_row(rows, row);
  if (set.executions().find(id) || set.why_unreadable(id)) return false;
  auto read = read_core(rows, row, queues_);
  if (!read && read.error().code != ErrorCode::corruption) return std::unexpected(read.error());
  if (!read) {
    set.unreadable(id, read.error());
    return true;
  }
  read->meta.locked = locked;
  rows_[id] = std::move(read->meta);
  set.executions().loaded(id, std::make_shared<core::ExecutionRecord>(std::move(read->record)));
  return true;
}

Result<void> PostgresSession::keep_rows(core::WorkingSet& set, const Rows& rows, bool locked) {
  for (int row = 0; row < rows.size(); ++row)
    if (auto kept = keep_row(set, rows, row, locked); !kept) return std::unexpected(kept.error());
  return {};
}

void PostgresSession::keep_info(core::WorkingSet& set, const ExecutionId& id, const Rows& rows, int row, int column,
                                bool with_payload) {
  auto info = unpack_info(rows.text(row, column), rows.text(row, column + 1));
  if (!info) return set.unreadable(id, info.error());
  info->payload_content_type = content_type_of(rows, row, column + 2);
  if (!rows.is_null(row, column + 3)) info->payload_bytes = static_cast<std::uint64_t>(rows.number(row, column + 3));
  if (with_payload) {
    std::shared_ptr<const core::PayloadPart> payload;
    if (!rows.is_null(row, column + 4))
      payload = std::make_shared<core::PayloadPart>(std::make_shared<const Bytes>(rows.text(row, column + 4)));
    set.payloads().loaded(id, std::move(payload));
  }
  set.infos().loaded(id, std::make_shared<core::ExecutionInfo>(std::move(*info)));
}

Result<void> PostgresSession::keep_attempts(core::WorkingSet& set, const std::vector<core::AttemptKey>& keys,
                                            const Rows& rows) {
  for (int row = 0; row < rows.size(); ++row) {
    const ExecutionId id = id_of_row(rows, row);
    auto attempts = read_attempts(rows.text(row, 1));
    if (!attempts) return std::unexpected(attempts.error());
    for (auto& attempt : *attempts) {
      const core::AttemptKey key{id, attempt.attempt_index};
      if (std::find(keys.begin(), keys.end(), key) != keys.end())
        set.attempts().loaded(key, std::make_shared<Attempt>(std::move(attempt)));
    }
  }
  for (const auto& key : keys) set.attempts().loaded(key, nullptr);
  return {};
}

Result<Step> PostgresSession::load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) {
  for (std::size_t i = 0; i < units.size(); ++i)
    if (auto loaded = load_unit(*units[i], reads[i], mode); !loaded) return std::unexpected(loaded.error());
  return Step::done;
}

Result<void> PostgresSession::load_unit(Unit& unit, core::Reads& reads, LoadMode mode) {
  // A batch of claims alone reads nothing by key: its take brings the clock.
  if (reads.empty() && unit.operations.empty()) return {};
  core::WorkingSet& set = unit.set;
  const bool lock = mode == LoadMode::lock;
  const auto manual_now = shared_->manual_now();
  if (lock) recall(set, reads.executions);
  // What locks nothing need not ask for the time either: it travels with the save.
  if (lock && reads.empty())
    if (const auto now = reckoned_now()) {
      set_now(unit, *now);
      if (!manual_now) reckoned_ = *now;
      return {};
    }
  if (std::exchange(begin_owed_, false)) {
    connection_.queue(sql::kBegin);
    in_transaction_ = true;
  }
  const std::size_t before = connection_.queued();
  auto ids_of = [](const auto& wanted, const auto& id_in) {
    ByteaArray ids;
    for (const auto& item : wanted) ids.add(IdBytes(id_in(item)).view());
    return ids;
  };
  auto same = [](const ExecutionId& id) -> const ExecutionId& { return id; };

  std::sort(reads.keys.begin(), reads.keys.end(), [](const core::IdempotencyId& a, const core::IdempotencyId& b) {
    return std::tie(a.idempotency_key, a.namespace_, a.operation) <
           std::tie(b.idempotency_key, b.namespace_, b.operation);
  });
  TextArray keys, namespaces, operations, lane_ids;
  for (const auto& key : reads.keys) {
    keys.add(std::string_view(key.idempotency_key));
    namespaces.add(std::string_view(key.namespace_));
    operations.add(std::string_view(key.operation));
  }
  for (const auto& lane : reads.lanes) lane_ids.add(std::string_view(lane));
  std::array<TextArray, core::kDocumentKinds> documents;
  for (const auto& id : reads.documents) documents[static_cast<std::size_t>(id.kind)].add(std::string_view(id.key));
  ByteaArray executions = ids_of(reads.executions, same), infos = ids_of(reads.infos, same),
             payloads = ids_of(reads.payloads, same),
             attempts = ids_of(reads.attempts, [](const core::AttemptKey& key) { return key.execution_id; });

  if (!keys.empty()) connection_.queue(sql::kKeys, Params().array(keys).array(namespaces).array(operations));
  if (!executions.empty() && lock) connection_.queue(sql::kLoadCore, Params().array(executions));
  if (!executions.empty() && !lock) connection_.queue(sql::kLookAtAll, Params().array(executions).number(manual_now));
  if (!infos.empty()) connection_.queue(sql::kInfos, Params().array(infos).number(manual_now));
  if (!payloads.empty()) connection_.queue(sql::kPayloads, Params().array(payloads).number(manual_now));
  if (!attempts.empty()) connection_.queue(sql::kPastAttempts, Params().array(attempts).number(manual_now));
  if (!lane_ids.empty()) connection_.queue(sql::kLanes, Params().array(lane_ids));
  for (std::size_t kind = 0; kind < documents.size(); ++kind)
    if (!documents[kind].empty()) connection_.queue(sql::kDocuments[kind], Params().array(documents[kind]));
  connection_.queue(lock ? sql::kClock : sql::kClockOnly);
  auto answers = send();
  if (!answers) return std::unexpected(answers.error());

  auto answer = answers->begin() + static_cast<std::ptrdiff_t>(before);
  if (!keys.empty()) {
    for (int row = 0; row < answer->size(); ++row) {
      auto record = read_key(*answer, row);
      const core::IdempotencyId id = record.id;
      set.keys().loaded(id, std::make_shared<core::IdempotencyRecord>(std::move(record)));
    }
    for (const auto& id : reads.keys) set.keys().loaded(id, nullptr);
    ++answer;
  }
  if (!executions.empty())
    if (auto kept = keep_rows(set, *answer++, lock); !kept) return kept;
  if (!infos.empty()) {
    for (int row = 0; row < answer->size(); ++row)
      keep_info(set, id_of_row(*answer, row), *answer, row, 1, false);
    ++answer;
  }
  if (!payloads.empty()) {
    for (int row = 0; row < answer->size(); ++row)
      keep_info(set, id_of_row(*answer, row), *answer, row, 1, true);
    ++answer;
  }
  if (!attempts.empty())
    if (auto kept = keep_attempts(set, reads.attempts, *answer++); !kept) return kept;
  if (!lane_ids.empty()) {
    for (int row = 0; row < answer->size(); ++row) {
      auto lane = read_lane(*answer, row);
      if (!lane) return std::unexpected(lane.error());
      const std::string id = lane->lane_id;
      set.lanes().loaded(id, std::make_shared<Lane>(std::move(*lane)));
    }
    for (const auto& id : reads.lanes) set.lanes().loaded(id, nullptr);
    ++answer;
  }
  for (core::DocumentKind kind : core::kAllDocumentKinds) {
    if (documents[static_cast<std::size_t>(kind)].empty()) continue;
    for (int row = 0; row < answer->size(); ++row) {
      core::Document document = read_document_row(*answer, row, kind);
      const core::DocumentId id = document.id;
      set.documents().loaded(id, std::make_shared<core::Document>(std::move(document)));
    }
    ++answer;
  }
  for (const auto& id : reads.documents) set.documents().loaded(id, nullptr);
  if (lock)
    if (auto loaded = load_ended(set, reads.executions); !loaded) return loaded;
  for (const auto& id : reads.executions)
    if (!set.why_unreadable(id)) set.executions().loaded(id, nullptr);
  for (const auto& id : reads.infos) set.infos().loaded(id, nullptr);
  for (const auto& id : reads.payloads) set.payloads().loaded(id, nullptr);
  return set_clock(unit, *answer);
}

void PostgresSession::recall(core::WorkingSet& set, std::vector<ExecutionId>& ids) {
  std::erase_if(ids, [&](const ExecutionId& id) {
    auto known = shared_->remembered.take(id);
    if (!known) return false;
    rows_[id] = {.tid = std::move(known->tid),
                 .locked = false,
                 .remembered = true,
                 .log_place_count = known->log_place_count};
    set.executions().loaded(id, std::move(known->record));
    recalled_any_ = true;
    return true;
  });
}

/// What is not in the hot table has ended, or was replayed just now: one more look at the hot table tells.
Result<void> PostgresSession::load_ended(core::WorkingSet& set, const std::vector<ExecutionId>& ids) {
  ByteaArray missing;
  std::vector<ExecutionId> looked_for;
  for (const auto& id : ids) {
    if (set.executions().find(id) || set.why_unreadable(id)) continue;
    missing.add(IdBytes(id).view());
    looked_for.push_back(id);
  }
  if (missing.empty()) return {};
  connection_.queue(sql::kLoadDone, Params().array(missing).number(shared_->manual_now()));
  connection_.queue(sql::kLoadCore, Params().array(missing));
  auto answers = send();
  if (!answers) return std::unexpected(answers.error());
  for (const auto& rows : *answers)
    if (auto kept = keep_rows(set, rows, true); !kept) return kept;
  for (const auto& id : looked_for)
    if (!set.executions().find(id) && !set.why_unreadable(id)) looked_up_free_.insert(id);
  return {};
}

/// Events before these times are no longer shown; their partitions are dropped when all of one is that old. How many
/// rows that will be is not counted.
Result<std::uint64_t> PostgresSession::trim_events(TimeMs before, TimeMs audit_before, std::uint32_t) {
  rollback();
  if (auto opened = connection_.open(kSessionReconnectMax); !opened) return std::unexpected(opened.error());
  auto done = connection_.query(sql::kKeptFrom, Params().number(before).number(audit_before));
  if (!done) return std::unexpected(done.error());
  return 0;
}

Result<std::unique_ptr<Session>> open_session(std::shared_ptr<PostgresShared> shared) {
  auto session = PostgresSession::open(std::move(shared));
  if (!session) return std::unexpected(session.error());
  return std::unique_ptr<Session>(std::move(*session));
}

}  // namespace ff::store::postgres
