#pragma once

#include "store/sqlite/documents.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

namespace ff::store::sqlite {

/// Reads committed rows on a connection of its own. Each group of calls has a source of its own.
class SqliteReader final : public Reader {
 public:
  static Result<std::unique_ptr<SqliteReader>> open(std::shared_ptr<SqliteShared> shared);

  Result<TimeMs> clock() override { return shared_->now(); }

  // ---- one execution (sqlite_reader.cc) ----
  Result<std::optional<ExecutionSnapshot>> execution(const ExecutionId& id) override;
  Result<std::optional<std::optional<Blob>>> payload(const ExecutionId& id) override;
  Result<std::optional<std::optional<Blob>>> result(const ExecutionId& id) override;
  Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId& id, std::optional<std::uint32_t> after,
                                                       std::uint32_t limit) override;
  Result<std::optional<HistoryPage>> history(const ExecutionId& id, std::int64_t after_event_id,
                                             std::uint32_t limit) override;

  // ---- lists (sqlite_lists.cc) ----
  Result<ListResult> list(const ListQuery& query) override;
  Result<std::vector<LeaseItem>> leases(const LeaseQuery& query) override;
  Result<std::optional<Lane>> lane(const std::string& lane_id) override;
  Result<std::vector<Lane>> lanes(const std::string& after, std::uint32_t limit) override;
  Result<std::optional<core::Document>> document(const core::DocumentId& id) override { return documents_.find(id); }
  Result<std::vector<core::Document>> documents(core::DocumentKind kind, const std::string& after,
                                                std::uint32_t limit) override {
    return documents_.after(kind, after, limit);
  }
  Result<Walk<Event>> audit(const AuditQuery& query) override;

  // ---- how much waits, and where (sqlite_depths.cc) ----
  Result<LaneCounts> lane_counts(const std::string& lane_id) override;
  Result<std::optional<TimeMs>> oldest_candidate(const std::string& lane_id) override;
  Result<std::uint64_t> ahead_of(const ExecutionRecord& record) override;
  Result<std::vector<QueueHead>> queue_heads(const std::string& lane_id, std::uint32_t count_max) override;

  // ---- for sweeps (sqlite_due.cc) ----
  Result<DueResult> due(const DueQuery& query) override;
  Result<std::optional<TimeMs>> next_due() override { return number(next_due_); }
  Result<std::vector<ExecutionId>> retired(TimeMs now, std::uint32_t limit,
                                           const std::function<bool(const ExecutionRecord&)>& accept) override;
  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs now, std::uint32_t limit) override;
  Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind kind, TimeMs now,
                                                      std::uint32_t limit) override {
    return documents_.due(kind, now, limit);
  }

  // ---- everything (sqlite_walks.cc, sqlite_verify.cc) ----
  Result<Walk<core::IdempotencyRecord>> keys(const std::string& after, std::uint32_t limit) override;
  Result<Walk<Event>> log(const std::string& after, std::uint32_t limit) override;
  Result<std::vector<std::string>> verify(std::uint32_t limit) override;

 private:
  /// All statements of one call see the same state; no snapshot outlives the call.
  class Snapshot {
   public:
    explicit Snapshot(SqliteReader& reader) : reader_(reader) { (void)reader_.begin_.run(); }
    ~Snapshot() { (void)reader_.commit_.run(); }
    Snapshot(const Snapshot&) = delete;

   private:
    SqliteReader& reader_;
  };

  SqliteReader(std::shared_ptr<SqliteShared> shared, Connection connection, Queues queues)
      : shared_(std::move(shared)), connection_(std::move(connection)), queues_(std::move(queues)) {}

  Result<void> prepare();

  /// The row under the cursor with its tags.
  Result<std::optional<CoreRow>> read(const Statement& row);
  Result<std::optional<CoreRow>> find(const ExecutionId& id);
  Result<std::optional<std::optional<Blob>>> blob_of(const ExecutionId& id, Statement& statement, int type_column,
                                                     int size_column, int blob_column);
  /// The first column of the first row, if there is one.
  static Result<std::optional<std::int64_t>> number(Statement& statement);

  std::shared_ptr<SqliteShared> shared_;
  Connection connection_;
  Queues queues_;
  Statement begin_, commit_, core_by_id_, tags_of_, info_, info_payload_, result_, result_size_, attempts_after_,
      event_, operator_events_;
  Statement list_newest_, list_oldest_, list_raised_, tagged_newest_, tagged_oldest_, leases_, lane_, lanes_after_;
  Statement candidate_head_, candidate_count_, candidate_oldest_, candidate_next_priority_, ahead_higher_, ahead_equal_;
  Statement candidates_, due_, next_due_, due_count_, retired_, terminal_count_, queue_ids_, keys_expired_;
  /// Per queue, behind which row the walk over ended executions goes on.
  std::map<std::int64_t, std::pair<TimeMs, std::int64_t>> retired_after_;
  Statement keys_after_, events_after_, audit_before_;
  Documents documents_;
};

}  // namespace ff::store::sqlite
