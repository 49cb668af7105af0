#pragma once

#include "store/sqlite/documents.h"
#include "store/sqlite/outgoing.h"
#include "store/sqlite/peers.h"
#include "store/sqlite/sqlite_store.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace ff::store::sqlite {

/// The writer: one transaction per batch, under the write lock from the load to the commit.
class SqliteSession final : public Session {
 public:
  static Result<std::unique_ptr<SqliteSession>> open(std::shared_ptr<SqliteShared> shared);
  ~SqliteSession() override { rollback(); }

  Result<Step> begin() override;
  Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) override;
  Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) override;
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                 const std::string& claim_key) override;
  Result<Step> save(std::span<Unit* const> units) override;
  void rollback() override;
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override;

 private:
  SqliteSession(std::shared_ptr<SqliteShared> shared, Connection connection, Queues queues)
      : shared_(std::move(shared)), connection_(std::move(connection)), queues_(std::move(queues)) {}

  Result<void> prepare();
  Result<void> load_executions(core::WorkingSet& set, const std::vector<ExecutionId>& ids);
  Result<void> keep_row(core::WorkingSet& set, const Statement& row);
  Result<void> load_payloads(core::WorkingSet& set, const std::vector<ExecutionId>& ids);
  Result<void> keep_info(core::WorkingSet& set, const ExecutionId& id, const Statement& row, bool with_payload);
  Result<void> load_info(core::WorkingSet& set, const ExecutionId& id);
  Result<void> load_attempt(core::WorkingSet& set, const core::AttemptKey& key);
  Result<void> load_lane(core::WorkingSet& set, const std::string& id);
  Result<void> load_key(core::WorkingSet& set, const core::IdempotencyId& id);
  Result<Taken> take_row(const TakeRow& row, Unit& unit);
  void set_clock(Unit& unit);

  using ExecutionSlot = core::Table<ExecutionId, core::ExecutionRecord>::Slot;
  Result<void> save_events(core::WorkingSet& set);
  Result<void> save_executions(core::WorkingSet& set);
  Result<void> add_new(core::WorkingSet& set, const ExecutionSlot& slot, std::int64_t seq);
  Result<void> add_changed(const ExecutionSlot& slot);
  Result<void> erase_execution(const ExecutionSlot& slot);
  Result<void> save_tags(const ExecutionId& id, TimeMs created_at_ms, const Tags* before, const Tags* after);
  Result<void> save_parts(core::WorkingSet& set);
  Result<void> commit();

  std::shared_ptr<SqliteShared> shared_;
  Connection connection_;
  Queues queues_;
  Turnstile turnstile_;
  boost::unordered_flat_map<ExecutionId, RowMeta, std::hash<ExecutionId>> rows_;
  bool in_transaction_ = false;
  int wal_pages_ = 0;  ///< length of the log after the last commit, told by SQLite
  bool finish_checkpoint_ = false;
  TimeMs last_now_ = 0;

  // What the statements below read as tables; they must outlive the statements.
  CoreRows new_core_, changed_core_;
  InfoRows new_info_;
  EventRows new_events_;
  IdRows ids_;
  SeqRows seqs_;

  Statement begin_, commit_, rollback_;
  Statement core_by_ids_, core_insert_, core_update_, core_delete_, last_seq_;
  Statement info_insert_, info_tags_, tags_of_, info_, info_payloads_, info_delete_;
  Statement result_put_, result_delete_;
  Statement attempt_put_, attempt_, attempts_delete_;
  Statement tag_insert_, tag_delete_;
  Statement candidates_, claimed_under_;
  Statement lane_, lane_put_, key_, key_put_, key_delete_;
  Documents documents_;
  Statement event_head_, event_head_set_, event_first_set_, event_insert_, events_from_, event_delete_;
};

}  // namespace ff::store::sqlite
