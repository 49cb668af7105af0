#pragma once

#include "store/postgres/rows.h"
#include "store/postgres/shared.h"

#include <limits>

namespace ff::store::postgres {

/// How long a read tries to get its connection back.
inline constexpr std::chrono::seconds kReconnectMax{2};

/// Reads committed state; nearly every call is one statement and thus one snapshot.
class PostgresReader final : public Reader {
 public:
  explicit PostgresReader(std::shared_ptr<PostgresShared> shared)
      : shared_(std::move(shared)), connection_(shared_->connection("flowfabric reader")), queues_(shared_->queues) {}
  Result<void> open();

  Result<TimeMs> clock() override;
  Result<std::optional<ExecutionSnapshot>> execution(const ExecutionId& id) override;
  Result<std::optional<std::optional<Blob>>> payload(const ExecutionId& id) override;
  Result<std::optional<std::optional<Blob>>> result(const ExecutionId& id) override;
  Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId& id, std::optional<std::uint32_t> after,
                                                       std::uint32_t limit) override;
  Result<std::optional<HistoryPage>> history(const ExecutionId& id, std::int64_t after_event_id,
                                             std::uint32_t limit) override;
  Result<ListResult> list(const ListQuery& query) override;
  Result<std::vector<LeaseItem>> leases(const LeaseQuery& query) override;
  Result<std::optional<Lane>> lane(const std::string& lane_id) override;
  Result<std::vector<Lane>> lanes(const std::string& after, std::uint32_t limit) override;
  Result<LaneCounts> lane_counts(const std::string& lane_id) override;
  Result<std::optional<TimeMs>> oldest_candidate(const std::string& lane_id) override;
  Result<std::uint64_t> ahead_of(const ExecutionRecord& record) override;
  Result<std::vector<QueueHead>> queue_heads(const std::string& lane_id, std::uint32_t count_max) override;
  Result<DueResult> due(const DueQuery& query) override;
  Result<std::optional<TimeMs>> next_due() override;
  Result<std::vector<ExecutionId>> retired(TimeMs now, std::uint32_t limit,
                                           const std::function<bool(const ExecutionRecord&)>& accept) override;
  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs now, std::uint32_t limit) override;
  Result<std::optional<core::Document>> document(const core::DocumentId& id) override;
  Result<std::vector<core::Document>> documents(core::DocumentKind kind, const std::string& after,
                                                std::uint32_t limit) override;
  Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind kind, TimeMs now,
                                                      std::uint32_t limit) override;
  Result<store::Walk<Event>> audit(const AuditQuery& query) override;
  Result<std::vector<std::string>> verify(std::uint32_t limit) override;
  Result<store::Walk<core::IdempotencyRecord>> keys(const std::string& after, std::uint32_t limit) override;
  Result<store::Walk<Event>> log(const std::string& after, std::uint32_t limit) override;

 private:
  /// Runs a statement; on a connection that was lost, once more on a new one.
  Result<Rows> run(const Sql& sql, Params params = {});
  /// The parameters of a statement about one execution.
  Params about(std::string_view id) const { return Params().bytes(id).number(shared_->manual_now()); }
  Result<std::optional<std::optional<Blob>>> blob(const Sql& sql, const ExecutionId& id);

  /// One page of candidates for a list, in order, from behind a position.
  struct ListPart {
    std::vector<ExecutionRecord> records;
    std::size_t walked = 0;
    std::optional<ListPosition> last;
  };
  Result<ListPart> walk(const ListQuery& query, const ListPosition& from, std::uint32_t count);
  Result<ListPart> walk_tagged(const ListQuery& query, const ListPosition& from, std::uint32_t count);

  /// What a look at the queues of a lane tells about where they go on.
  void learn_places(std::vector<QueuePlaces::Search> slow, const Rows* rows, Pace::Clock::duration took);
  Result<std::vector<std::int64_t>> log_places(std::string_view id, std::string_view kept, std::int64_t after);

  Result<bool> verify_live(std::vector<std::string>& faults, std::uint32_t limit);
  Result<bool> verify_ended(std::vector<std::string>& faults, std::uint32_t limit);

  std::shared_ptr<PostgresShared> shared_;
  Connection connection_;
  Queues queues_;
  /// Where the walk over retired executions goes on; see `retired`.
  std::pair<TimeMs, std::string> retired_after_{std::numeric_limits<TimeMs>::min(), std::string()};
};

}  // namespace ff::store::postgres
