#pragma once

#include "store/redis/index_walk.h"
#include "store/redis/redis_store.h"
#include "store/redis/rows.h"

namespace ff::store::redis {

/// Reads committed state. A record is read in one step; what spans records is as of when each was read.
class RedisReader final : public Reader {
 public:
  explicit RedisReader(std::shared_ptr<RedisShared> shared) : shared_(std::move(shared)), link_(shared_->link()) {}

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
  Result<Walk<Event>> audit(const AuditQuery& query) override;

  Result<std::vector<std::string>> verify(std::uint32_t limit) override;

  Result<Walk<core::IdempotencyRecord>> keys(const std::string& after, std::uint32_t limit) override;
  Result<Walk<Event>> log(const std::string& after, std::uint32_t limit) override;

 private:
  /// The records of these ids, in order: none where there is no such record, an error where it cannot be read.
  using Found = std::vector<Result<std::optional<ExecutionRecord>>>;
  Result<Found> load(std::span<const ExecutionId> ids);
  /// Walks an index and hands out its records in order until `visit` has enough. Entries without a record are passed
  /// over: it went while the index was read.
  using Visit = std::function<Result<bool>(const IndexEntry&, ExecutionRecord&)>;
  /// True: the walk came to the end.
  Result<bool> walk(IndexWalk& index, std::uint32_t entries_max, const Visit& visit, bool skip_unreadable);
  /// Runs the same command on every partition.
  Result<std::vector<Reply>> on_all(const std::vector<Place>& places, const std::function<Command(const Place&)>& make);
  /// The same for hints: what does not answer is left empty, unless nothing does.
  Result<std::vector<Reply>> on_most(const std::vector<Place>& places,
                                     const std::function<Command(const Place&)>& make);
  /// A chain of events from one of them back, or until one is gone.
  struct Chain {
    std::vector<Event> newest_first;
    bool cut = false;
  };
  Result<Chain> follow(const Place& place, EventPlace from, const EventPlace& behind, bool by_operator);
  Result<void> verify_place(const Place& place, std::uint32_t limit, std::vector<std::string>& faults);

  std::shared_ptr<RedisShared> shared_;
  Link link_;
  QueueCache queues_;
  std::optional<IndexEntry> retired_behind_;  ///< where a walk over refused rows stopped
};

}  // namespace ff::store::redis
