#include "store/sqlite/sqlite_reader.h"

#include "store/sqlite/statements.h"

namespace ff::store::sqlite {

Result<std::unique_ptr<SqliteReader>> SqliteReader::open(std::shared_ptr<SqliteShared> shared) {
  auto connection = open_connection(*shared, OpenMode::read_only);
  if (!connection) return std::unexpected(connection.error());
  auto queues = Queues::open(*connection, shared->queues);
  if (!queues) return std::unexpected(queues.error());
  std::unique_ptr<SqliteReader> reader(new SqliteReader(std::move(shared), std::move(*connection), std::move(*queues)));
  if (auto prepared = reader->prepare(); !prepared) return std::unexpected(prepared.error());
  return reader;
}

Result<void> SqliteReader::prepare() {
  const std::pair<Statement*, std::string_view> all[] = {
      {&begin_, sql::kBeginRead},
      {&commit_, sql::kCommit},
      {&core_by_id_, sql::kCoreById},
      {&tags_of_, sql::kTagsOf},
      {&info_, sql::kInfo},
      {&info_payload_, sql::kInfoPayload},
      {&result_, sql::kResult},
      {&result_size_, sql::kResultSize},
      {&attempts_after_, sql::kAttemptsAfter},
      {&event_, sql::kEvent},
      {&operator_events_, sql::kOperatorEventsBefore},
      {&list_newest_, sql::kListNewest},
      {&list_oldest_, sql::kListOldest},
      {&list_raised_, sql::kListRaised},
      {&tagged_newest_, sql::kTaggedNewest},
      {&tagged_oldest_, sql::kTaggedOldest},
      {&leases_, sql::kLeases},
      {&lane_, sql::kLane},
      {&lanes_after_, sql::kLanesAfter},
      {&candidate_head_, sql::kCandidateHead},
      {&candidate_count_, sql::kCandidateCount},
      {&candidate_oldest_, sql::kCandidateOldest},
      {&candidate_next_priority_, sql::kCandidateNextPriority},
      {&ahead_higher_, sql::kAheadHigher},
      {&ahead_equal_, sql::kAheadEqual},
      {&candidates_, sql::kCandidates},
      {&due_, sql::kDue},
      {&next_due_, sql::kNextDue},
      {&due_count_, sql::kDueCount},
      {&retired_, sql::kRetired},
      {&terminal_count_, sql::kTerminalCount},
      {&queue_ids_, sql::kQueueIds},
      {&keys_expired_, sql::kKeysExpired},
      {&keys_after_, sql::kKeysAfter},
      {&events_after_, sql::kEventsAfter},
      {&audit_before_, sql::kAuditBefore},
  };
  for (const auto& [statement, text] : all) {
    auto prepared = connection_.prepare(text);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return documents_.prepare(connection_, false);
}

Result<std::optional<ExecutionSnapshot>> SqliteReader::execution(const ExecutionId& id) {
  Snapshot snapshot(*this);
  auto row = find(id);
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  ExecutionSnapshot found;
  found.record = std::move((*row)->record);
  ResetLater reset_info(info_);
  auto info_row = info_.bind(1, (*row)->meta.seq).step();
  if (!info_row) return std::unexpected(info_row.error());
  if (!*info_row) return std::unexpected(core::corruption("ff_exec_info", "seq", "missing"));
  auto info = unpack_info(info_.text(0), info_.text(1));
  if (!info) return std::unexpected(info.error());
  if (!info_.is_null(2)) info->payload_content_type = info_.text(2);
  if (!info_.is_null(3)) info->payload_bytes = static_cast<std::uint64_t>(info_.number(3));
  found.info = std::move(*info);
  ResetLater reset_result(result_size_);
  auto result_row = result_size_.bind(1, (*row)->meta.seq).step();
  if (!result_row) return std::unexpected(result_row.error());
  if (*result_row) {
    found.result_content_type = result_size_.is_null(0) ? "application/json" : std::string(result_size_.text(0));
    found.result_bytes = static_cast<std::uint64_t>(result_size_.number(1));
  }
  return found;
}

Result<std::optional<std::optional<Blob>>> SqliteReader::payload(const ExecutionId& id) {
  Snapshot snapshot(*this);
  return blob_of(id, info_payload_, 2, 3, 4);
}

Result<std::optional<std::optional<Blob>>> SqliteReader::result(const ExecutionId& id) {
  Snapshot snapshot(*this);
  return blob_of(id, result_, 0, 1, 2);
}

Result<std::optional<std::vector<Attempt>>> SqliteReader::attempts(const ExecutionId& id,
                                                                   std::optional<std::uint32_t> after,
                                                                   std::uint32_t limit) {
  Snapshot snapshot(*this);
  auto row = find(id);
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  std::vector<Attempt> found;
  ResetLater reset(attempts_after_);
  attempts_after_.bind(1, (*row)->meta.seq).bind(2, after ? std::int64_t{*after} + 1 : 0).bind(3, std::int64_t{limit});
  while (true) {
    auto stepped = attempts_after_.step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped) break;
    auto attempt = unpack_attempt(attempts_after_.text(0));
    if (!attempt) return std::unexpected(attempt.error());
    found.push_back(std::move(*attempt));
  }
  const auto& newest = (*row)->record.attempt;
  if (newest && found.size() < limit && (!after || newest->attempt_index > *after)) found.push_back(*newest);
  return found;
}

/// Events of one execution are chained from the newest back; a page is cut from the whole chain.
Result<std::optional<HistoryPage>> SqliteReader::history(const ExecutionId& id, std::int64_t after_event_id,
                                                         std::uint32_t limit) {
  Snapshot snapshot(*this);
  auto row = find(id);
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  std::deque<Event> chain;
  bool more = false;
  auto keep = [&](std::vector<Event>& events) {
    for (auto it = events.rbegin(); it != events.rend(); ++it)
      if (it->event_id > after_event_id && it->event_type != "renewed") chain.push_front(std::move(*it));
    for (; chain.size() > limit; more = true) chain.pop_back();
  };
  std::int64_t at = (*row)->meta.last_event_id;
  while (at > after_event_id) {
    ResetLater reset(event_);
    auto stepped = event_.bind(1, at).step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped) break;
    auto read = read_events(event_, queues_);
    if (!read) return std::unexpected(read.error());
    keep(read->events);
    at = read->prev_event_id;
  }
  // The chain is cut where events are past their retention. Operator events are kept longer, and those before the cut
  // have an index of their own; what is older than the record belongs to an execution that had its id before.
  const IdBytes bytes(id);
  ResetLater reset(operator_events_);
  operator_events_.bind_blob(1, bytes.view()).bind(2, at);
  while (at > after_event_id) {
    auto stepped = operator_events_.step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped) break;
    auto read = read_events(operator_events_, queues_);
    if (!read) return std::unexpected(read.error());
    const Event& event = read->events.front();
    if (event.occurred_at_ms < (*row)->record.times.created_at_ms || event.event_type == "execution_deleted") break;
    keep(read->events);
  }
  return HistoryPage{std::vector(std::make_move_iterator(chain.begin()), std::make_move_iterator(chain.end())), more};
}

Result<std::optional<CoreRow>> SqliteReader::read(const Statement& row) {
  auto found = read_core(row, queues_);
  if (!found) return std::unexpected(found.error());
  if (found->meta.has_tags) {
    ResetLater reset(tags_of_);
    auto stepped = tags_of_.bind(1, found->meta.seq).step();
    if (!stepped) return std::unexpected(stepped.error());
    auto tags = unpack_tags(*stepped ? tags_of_.text(0) : std::string_view());
    if (!tags) return std::unexpected(tags.error());
    found->record.tags = std::move(*tags);
  }
  return std::optional(std::move(*found));
}

Result<std::optional<CoreRow>> SqliteReader::find(const ExecutionId& id) {
  const IdBytes bytes(id);
  ResetLater reset(core_by_id_);
  auto row = core_by_id_.bind_blob(1, bytes.view()).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return read(core_by_id_);
}

Result<std::optional<std::optional<Blob>>> SqliteReader::blob_of(const ExecutionId& id, Statement& statement,
                                                                 int type_column, int size_column, int blob_column) {
  auto row = find(id);
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  ResetLater reset(statement);
  auto stepped = statement.bind(1, (*row)->meta.seq).step();
  if (!stepped) return std::unexpected(stepped.error());
  std::optional<Blob> blob;
  if (*stepped && !statement.is_null(size_column)) {
    blob.emplace();
    blob->bytes = statement.blob(blob_column);
    blob->content_type = statement.is_null(type_column) ? "application/json" : std::string(statement.text(type_column));
  }
  return std::optional(std::move(blob));
}

Result<std::optional<std::int64_t>> SqliteReader::number(Statement& statement) {
  ResetLater reset(statement);
  auto row = statement.step();
  if (!row) return std::unexpected(row.error());
  return *row ? statement.number_if(0) : std::nullopt;
}

Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<SqliteShared> shared) {
  auto reader = SqliteReader::open(std::move(shared));
  if (!reader) return std::unexpected(reader.error());
  return std::unique_ptr<Reader>(std::move(*reader));
}

}  // namespace ff::store::sqlite
