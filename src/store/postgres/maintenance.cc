#include "store/postgres/maintenance.h"

#include "core/errors.h"

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kRoundEvery = 2s;
constexpr auto kPartitionsEvery = 60s;
/// The next partition is made this long before it is needed.
constexpr TimeMs kAheadMs = 10 * 60'000;
/// A partition is dropped this long after the last of its rows may have been wanted.
constexpr TimeMs kDropAfterMs = 10 * 60'000;
/// Dead rows from which on the hot table is vacuumed: so many, and a quarter of those that live.
constexpr std::int64_t kDeadRowsMin = 50'000;
constexpr auto kVacuumMax = 600s;
constexpr std::chrono::seconds kVacuumPause = 5s, kVacuumPauseMax = 300s;

std::int64_t number(const Rows& rows, int column) { return std::stoll(std::string(rows.text(0, column))); }

}  // namespace

void Maintenance::start() {
  running_ = true;
  thread_ = std::thread([this] { loop(); });
}

void Maintenance::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  // A vacuum may just be about to start: it is stopped as often as it takes.
  while (running_) {
    connection_.cancel();
    std::this_thread::sleep_for(5ms);
  }
  thread_.join();
}

void Maintenance::loop() {
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, kRoundEvery, [&] { return stop_; })) {
    guard.unlock();
    (void)round();  // whatever failed is tried again in the next round
    guard.lock();
  }
  running_ = false;
}

Result<void> Maintenance::round() {
  if (auto opened = connection_.open(1s); !opened) return opened;
  auto mine = connection_.execute("SET statement_timeout = 0; SET enable_seqscan = on; SELECT "
                                  "pg_try_advisory_lock('ff_exec_done'::regclass::oid::integer, -2)");
  if (!mine) return std::unexpected(mine.error());
  if (mine->text(0, 0) != "t") return {};
  auto done = care();
  if (connection_.is_open())
    (void)connection_.execute("SELECT pg_advisory_unlock('ff_exec_done'::regclass::oid::integer, -2)");
  return done;
}

Result<void> Maintenance::care() {
  if (Clock::now() >= partitions_from_ || shared_->options.clock) {
    partitions_from_ = Clock::now() + kPartitionsEvery;
    TimeMs now = 0;
    if (auto manual = shared_->manual_now()) {
      now = *manual;
    } else {
      auto rows = connection_.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
      if (!rows) return std::unexpected(rows.error());
      now = number(*rows, 0);
    }
    if (auto done = make_partitions(now); !done) return done;
    if (auto done = drop_executions(now); !done) return done;
    if (auto done = drop_events(); !done) return done;
  }
  return vacuum();
}

// ---- partitions ---------------------------------------------------------------------------------------------------

/// Only those that will follow one which is in use: a store that is idle gets none.
Result<void> Maintenance::make_partitions(TimeMs now) {
  auto follow = [&](History of, std::int32_t slot, std::int32_t next) -> Result<void> {
    return slot != next && shared_->slots.knows(of, slot) ? shared_->slots.ensure(of, next) : Result<void>();
  };
  for (bool of_operator : {false, true})
    if (auto made = follow(History::events, event_slot(now, of_operator), event_slot(now + kAheadMs, of_operator));
        !made)
      return made;
  for (TimeMs at = now; at < now + kFarMs; at += kSlotMs)
    if (auto made = follow(History::executions, done_slot(at, now), done_slot(at + kAheadMs, now)); !made) return made;
  return {};
}

Result<void> Maintenance::drop_executions(TimeMs now) {
  auto all = partitions(connection_, History::executions);
  if (!all) return std::unexpected(all.error());
  for (const auto& partition : *all) {
    if (partition.slot == kFarSlot || (partition.slot + 1) * kSlotMs + kDropAfterMs > now) continue;
    if (auto done = remove_tags(partition); !done) return done;
    if (auto done = drop(partition); !done) return done;
  }
  return {};
}

Result<void> Maintenance::drop_events() {
  auto head = connection_.execute("SELECT kept_from_ms, audit_kept_from_ms FROM ff_event_head");
  if (!head) return std::unexpected(head.error());
  const TimeMs kept_from = number(*head, 0), audit_kept_from = number(*head, 1);
  auto all = partitions(connection_, History::events);
  if (!all) return std::unexpected(all.error());
  for (const auto& partition : *all) {
    const bool over = partition.slot < 0 ? -partition.slot * kAuditSlotMs <= audit_kept_from
                                         : (partition.slot + 1) * kSlotMs <= kept_from;
    if (!over) continue;
    if (auto done = drop(partition); !done) return done;
  }
  return {};
}

/// Dropping locks the parent against everybody; so it waits only for a moment, and comes back in the next round.
Result<void> Maintenance::drop(const Partition& partition) {
  auto done = connection_.execute(
      fmt::format("BEGIN; SET LOCAL lock_timeout = '100ms'; DROP TABLE {}; COMMIT", partition.table));
  if (done) {
    shared_->slots.forget();
    return {};
  }
  if (connection_.is_open()) (void)connection_.execute("ROLLBACK");
  if (done.error().code == ErrorCode::retry_exhausted) partitions_from_ = Clock::now();
  return std::unexpected(done.error());
}

/// The index of tags is not cut by time: its entries go row by row, before the rows that they point to.
Result<void> Maintenance::remove_tags(const Partition& partition) {
  while (true) {
    auto done = connection_.execute(fmt::format(
        "WITH few AS (SELECT execution_id, created_at_ms, tags FROM {0} WHERE tags IS NOT NULL LIMIT 5000 FOR UPDATE "
        "SKIP LOCKED), gone AS (DELETE FROM ff_exec_tag t USING few s, json_each_text(s.tags::json) e WHERE t.tag_key "
        "= e.key "
        "AND t.tag_value = e.value AND t.created_at_ms = s.created_at_ms AND t.execution_id = s.execution_id), done AS "
        "(UPDATE {0} p SET tags = NULL FROM few s WHERE p.execution_id = s.execution_id RETURNING 1) "
        "SELECT count(*) FROM done",
        partition.table));
    if (!done) return std::unexpected(done.error());
    if (number(*done, 0) == 0) return {};
  }
}

// ---- vacuum -------------------------------------------------------------------------------------------------------

Result<void> Maintenance::vacuum() {
  if (Clock::now() < vacuum_from_) return {};
  auto dead_rows = [&]() -> Result<std::pair<std::int64_t, std::int64_t>> {
    auto rows = connection_.execute("SELECT n_dead_tup, n_live_tup FROM pg_stat_user_tables WHERE relid = "
                                    "'ff_exec_core'::regclass");
    if (!rows) return std::unexpected(rows.error());
    if (rows->empty()) return std::pair<std::int64_t, std::int64_t>(0, 0);
    return std::pair(number(*rows, 0), number(*rows, 1));
  };
  auto before = dead_rows();
  if (!before) return std::unexpected(before.error());
  if (before->first < std::max(kDeadRowsMin, before->second / 4)) return {};
  auto done = connection_.execute("VACUUM (INDEX_CLEANUP on, TRUNCATE off, SKIP_LOCKED) ff_exec_core", kVacuumMax);
  if (!done) return std::unexpected(done.error());
  auto after = dead_rows();
  if (!after) return std::unexpected(after.error());
  // An old transaction somewhere in the database keeps dead rows from being removed: trying harder does not help.
  const bool helped = after->first < before->first / 2;
  vacuum_pause_ = helped ? kVacuumPause : std::min(vacuum_pause_ * 2, kVacuumPauseMax);
  vacuum_from_ = Clock::now() + vacuum_pause_;
  return {};
}

}  // namespace ff::store::postgres
