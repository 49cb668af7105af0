#pragma once

#include "store/postgres/outgoing.h"
#include "store/postgres/shared.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace ff::store::postgres {

/// One executor's connection. A batch is one transaction in two round trips: begin and load, save and commit; claims
/// take theirs in between. When there is nothing to lock, all of it is the second.
///
/// Rows are locked in the order of their keys, and all at once; takes pass over what others hold. Whatever a save may
/// still have to wait for comes in one order too: lanes, keys, new executions, shards of the log. So batches cannot
/// wait for each other in a circle.
class PostgresSession final : public Session {
 public:
  static Result<std::unique_ptr<PostgresSession>> open(std::shared_ptr<PostgresShared> shared);
  ~PostgresSession() override { rollback(); }

  Result<Step> begin() override;
  Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) override;
  Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) override;
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                 const std::string& claim_key) override;
  Result<Step> save(std::span<Unit* const> units) override;
  Result<Step> leave(std::span<Unit* const> units) override;
  void rollback() override;
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override;

 private:
  explicit PostgresSession(std::shared_ptr<PostgresShared> shared)
      : shared_(std::move(shared)), connection_(shared_->connection("flowfabric executor")), queues_(shared_->queues) {}

  /// A time that was reckoned may be wrong by less than this when the server sees it. Smaller than what searches allow for
  /// commits that are late; see places.cc.
  static constexpr std::int64_t kReckonedErrorMaxMs = 400;

  // Loading.
  Result<void> load_unit(Unit& unit, core::Reads& reads, LoadMode mode);
  Result<void> load_ended(core::WorkingSet& set, const std::vector<ExecutionId>& ids);
  /// Takes what this process remembers instead of loading it.
  void recall(core::WorkingSet& set, std::vector<ExecutionId>& ids);
  Result<void> keep_rows(core::WorkingSet& set, const Rows& rows, bool locked);
  Result<bool> keep_row(core::WorkingSet& set, const Rows& rows, int row, bool locked);
  void keep_info(core::WorkingSet& set, const ExecutionId& id, const Rows& rows, int row, int column,
                 bool with_payload);
  Result<void> keep_attempts(core::WorkingSet& set, const std::vector<core::AttemptKey>& keys, const Rows& rows);
  Result<void> set_clock(Unit& unit, const Rows& clock);
  /// The store's clock without asking it, if it was read a moment ago.
  std::optional<TimeMs> reckoned_now() const;
  void set_now(Unit& unit, TimeMs now);
  /// Sends what is queued.
  Result<std::vector<Rows>> send();
  /// What a lost connection means for a batch that has not asked for its commit: nothing was done, decide again.
  Error before_commit(Error error);

  // Taking.
  struct LockedRows;
  Result<void> find_known(LockedRows& locked, std::size_t first_taking);
  Result<void> keep_locked(core::WorkingSet& set, const LockedRows& locked, int row);
  /// Ends the searches of this batch's takes. After a commit they tell where the queues go on; what the batch has put
  /// into queues is told too. True: something was put back that had been there before.
  bool learn_places(std::span<Unit* const> units);
  void tell_others(std::span<Unit* const> units);
  void end_searches();

  // Saving.
  using ExecutionSlot = core::Table<ExecutionId, core::ExecutionRecord>::Slot;
  Result<void> collect(Unit& unit);
  void find_logged(core::WorkingSet& set);
  Result<void> collect_executions(core::WorkingSet& set, TimeMs now);
  Result<void> add_new(core::WorkingSet& set, const ExecutionSlot& slot);
  Result<void> add_final(core::WorkingSet& set, const ExecutionSlot& slot, bool is_new, TimeMs now);
  void add_tags(const ExecutionId& id, TimeMs created_at_ms, const Tags* before, const Tags* after);
  void collect_attempts(core::WorkingSet& set);
  void collect_keys(core::WorkingSet& set);
  Result<void> collect_events(core::WorkingSet& set, TimeMs now);
  void queue_lanes(core::WorkingSet& set);
  void queue_documents(core::WorkingSet& set);
  EventRows& event_rows(std::int32_t slot);
  std::size_t queue_writes();
  void collect_recalled(core::WorkingSet& set);
  void remember(const Rows& places);
  void remember_new(std::span<Unit* const> units);
  void clear_outgoing();
  /// The commit was sent to that process and no answer came: asks the server what became of it.
  Result<Step> find_out(std::span<Unit* const> units, const Error& error, const Connection::Peer& asked);
  /// True: committed. Otherwise why that cannot be known.
  using Fate = std::expected<bool, std::string>;
  Fate fate_by_number(std::span<Unit* const> units, const Connection::Peer& asked);
  Fate fate_by_rows(std::span<Unit* const> units, const Connection::Peer& asked);

  std::shared_ptr<PostgresShared> shared_;
  Connection connection_;
  Queues queues_;
  bool begin_owed_ = false;
  bool in_transaction_ = false;
  std::string xact_;  ///< number of the transaction, once it has one
  /// The last reading of the store's clock, and when that was.
  std::optional<std::pair<TimeMs, std::chrono::steady_clock::time_point>> reading_;
  std::optional<TimeMs> reckoned_;  ///< the time by which this batch decides, when it was not read
  boost::unordered_flat_map<ExecutionId, RowMeta, std::hash<ExecutionId>> rows_;
  std::set<ExecutionId> looked_up_free_;  ///< ids that were looked for and not there
  bool recalled_any_ = false;             ///< some records of this batch were remembered, not loaded

  /// A search of a queue that a take of this batch made, and what it came across.
  struct Taking {
    QueuePlaces::Search search;
    std::vector<ExecutionId> met;
    QueuePlaces::Found found;
  };
  std::vector<Taking> takings_;

  NewRows new_rows_;
  LiveRows updated_, revived_;
  std::vector<const ExecutionSlot*> updated_slots_;
  EndedRows ended_, ended_at_once_, ended_again_;
  RecalledRows recalled_;
  TextRows live_tags_, ended_tags_, live_attempts_, ended_attempts_;
  TagRows added_tags_, removed_tags_;
  KeyRows new_keys_, changed_keys_, removed_keys_;
  ByteaArray free_ids_, erased_live_, erased_ended_;
  Int4Array erased_slots_, shards_;
  std::deque<EventRows> events_;  ///< one per row of the log
  /// Places in the log that no longer stand with their execution, which has too many: they go to the log.
  std::vector<std::pair<ExecutionId, std::string>> earlier_places_;
  std::deque<LaneTexts> lanes_;
};

}  // namespace ff::store::postgres
