#pragma once

// The contract of a store: it loads, locks and saves records. It never knows what a retry or a quorum is.

#include "core/access.h"
#include "core/ops/claim.h"
#include "core/view.h"
#include "core/working_set.h"

#include <flowfabric/calls.h>
#include <flowfabric/clock.h>

#include <deque>
#include <functional>
#include <memory>
#include <span>

namespace ff::store {

using core::ExecutionInfo;
using core::ExecutionRecord;
using core::OrderKey;
using core::QueueRef;

// ---- writing ------------------------------------------------------------------------------------------------------

/// Operations that commit together and the records they touch. A store that locks has one unit per batch; a store
/// that compares versions has one per set of operations that share records, and each fails alone.
struct Unit {
  std::vector<core::Operation*> operations;
  core::WorkingSet set;
  TimeMs now = 0;  ///< the store's clock, read after the load
  enum class Outcome : std::uint8_t { open, committed, conflict } outcome = Outcome::open;
};

/// How a load treats what it reads.
enum class LoadMode : std::uint8_t {
  discover,  ///< look only; another load will follow
  lock,      ///< nobody else may change these records before the commit, or the commit notices
};

/// Whether a step is done, or has to wait for somebody's lock and be tried again.
enum class Step : std::uint8_t { done, blocked };

/// How many candidates to take from one queue. Members below `priority_floor` are left: another queue's head is ahead.
struct TakeRow {
  QueueRef queue;
  std::int32_t priority_floor = 0;
  std::uint32_t count = 0;
};

/// What a take found for one row of the plan, in queue order, loaded into the unit that will lease it.
struct Taken {
  std::vector<std::pair<Unit*, ExecutionId>> candidates;
  /// The first member that was left, as far as the store can see; none: the queue is empty.
  std::optional<OrderKey> next_head;
};

/// One executor's way into the store; used by one thread at a time. Between `begin` and the end of `save` or
/// `rollback` it holds whatever the store needs to make the batch one step. An error with the code `retry_exhausted`
/// is a conflict with somebody else: nothing was committed, and the batch is decided again.
class Session {
 public:
  virtual ~Session() = default;

  virtual Result<Step> begin() = 0;
  /// Loads what each unit still wants (`reads[i]` belongs to `units[i]`), and with `lock` sets each unit's clock.
  virtual Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) = 0;
  /// Takes candidates by plan; what others hold, and what this batch has leased or moved, is passed over. May add units
  /// to `units`.
  virtual Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) = 0;
  /// Executions that may still be held under that claim key; the batch looks at each once more.
  virtual Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                         const std::string& claim_key) = 0;
  /// Saves and commits every unit; each learns its outcome. An error concerns all of them and nothing was committed.
  virtual Result<Step> save(std::span<Unit* const> units) = 0;
  /// Ends a batch that changes nothing. A session that did not load all that was decided on looks now whether it holds.
  virtual Result<Step> leave(std::span<Unit* const> units) {
    (void)units;
    rollback();
    return Step::done;
  }
  virtual void rollback() = 0;

  /// Removes events older than `before`, operator events older than `audit_before`; at most `limit`. Returns how many.
  virtual Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) = 0;
};

// ---- reading ------------------------------------------------------------------------------------------------------

/// Everything that one read of an execution needs, from one snapshot.
struct ExecutionSnapshot {
  ExecutionRecord record;
  ExecutionInfo info;
  std::optional<std::uint64_t> result_bytes;
  std::optional<std::string> result_content_type;
};

/// Where a list goes on: behind this item.
struct ListPosition {
  TimeMs created_at_ms = 0;
  ExecutionId id;
  std::int32_t priority = 0;  ///< set by lists of raised priorities
};

/// What a list walks along.
enum class ListAlong : std::uint8_t {
  newest_first,
  oldest_first,
  raised,  ///< those whose priority is above 0, in the order in which workers get them
};

struct ListQuery {
  ExecutionFilter filter;
  std::optional<ListPosition> after;
  std::uint32_t limit = 50;
  ListAlong along = ListAlong::newest_first;
  bool only_unraised = false;  ///< those whose priority is 0

  bool matches(const ExecutionRecord& record) const {
    return !(only_unraised && record.priority > 0) && core::matches(record, filter);
  }
};

/// How many rows a page of a list looks at before it answers short, with a cursor.
inline constexpr std::uint32_t kListWalkMax = 10'000;
/// Up to here counts are exact.
inline constexpr std::uint64_t kCountExactMax = 10'000;
/// Up to here the place in a queue is counted.
inline constexpr std::uint32_t kAheadMax = 1'000;

struct ListResult {
  std::vector<ExecutionRecord> records;
  /// Set when more may follow.
  std::optional<ListPosition> next;
};

/// A waiting queue: its first member, and how many wait (exact when `count` is below the bound of the query).
struct QueueHead {
  QueueRef queue;
  OrderKey head;
  std::uint64_t count = 0;
};

/// What a sweep looks for among the clocks of executions.
struct DueQuery {
  core::TimerKind kind = core::TimerKind::lease;
  TimeMs now = 0;
  std::uint32_t limit = 1000;
  /// Rows that it refuses use no place.
  std::function<bool(const ExecutionRecord&)> accept;
  /// Where an earlier walk stopped, as it said in `next`; empty: from the earliest clock.
  std::string after;
};
struct DueResult {
  std::vector<ExecutionId> due;
  std::optional<TimeMs> oldest_due_at;
  std::uint64_t filtered = 0;
  /// Set when the walk stopped before it had seen all that is due: it looks at no more than `kListWalkMax` rows, and
  /// rows that are refused must not hide those behind them for ever. Only the store can read it.
  std::string next;
};

struct HistoryPage {
  std::vector<Event> events;
  bool more = false;
};

/// Some items of a walk over everything of a kind, and where it goes on; `next` empty: that was all. Only the store can
/// read `next`.
template <class T>
struct Walk {
  std::vector<T> items;
  std::string next;
};

struct LeaseQuery {
  std::optional<TimeMs> expired_before_ms;
  std::optional<std::string> worker;
  std::optional<std::string> namespace_;
  std::optional<std::pair<TimeMs, std::string>> after;  ///< expiry and id text of the last item
  std::uint32_t limit = 1000;
};

/// What to list of the audit log, which is the operator events of all partitions. Parts that are set must all hold.
struct AuditQuery {
  std::optional<std::string> namespace_, actor, event_type;
  std::optional<ExecutionId> execution_id;
  std::optional<TimeMs> since_ms;
  std::string after;  ///< where the page before ended, as it said in `next`
  std::uint32_t limit = 50;
};

/// Reads committed state; takes no locks and writes nothing. One thread at a time.
class Reader {
 public:
  virtual ~Reader() = default;

  virtual Result<TimeMs> clock() = 0;
  virtual Result<std::optional<ExecutionSnapshot>> execution(const ExecutionId& id) = 0;
  /// None: no such execution. The blob is unset when it has no payload (result).
  virtual Result<std::optional<std::optional<Blob>>> payload(const ExecutionId& id) = 0;
  virtual Result<std::optional<std::optional<Blob>>> result(const ExecutionId& id) = 0;
  /// Ascending by index; none: no such execution.
  virtual Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId& id,
                                                               std::optional<std::uint32_t> after,
                                                               std::uint32_t limit) = 0;
  /// Oldest first, `renewed` left out; none: no such execution.
  virtual Result<std::optional<HistoryPage>> history(const ExecutionId& id, std::int64_t after_event_id,
                                                     std::uint32_t limit) = 0;
  virtual Result<ListResult> list(const ListQuery& query) = 0;
  virtual Result<std::vector<LeaseItem>> leases(const LeaseQuery& query) = 0;

  virtual Result<std::optional<Lane>> lane(const std::string& lane_id) = 0;
  /// By id, those after `after`.
  virtual Result<std::vector<Lane>> lanes(const std::string& after, std::uint32_t limit) = 0;
  virtual Result<LaneCounts> lane_counts(const std::string& lane_id) = 0;
  /// When the oldest candidate of the lane was created.
  virtual Result<std::optional<TimeMs>> oldest_candidate(const std::string& lane_id) = 0;
  /// Candidates before this one in its queue, at most `kAheadMax`.
  virtual Result<std::uint64_t> ahead_of(const ExecutionRecord& record) = 0;

  /// The non-empty queues of a lane, with counts up to `count_max`.
  virtual Result<std::vector<QueueHead>> queue_heads(const std::string& lane_id, std::uint32_t count_max) = 0;
  virtual Result<DueResult> due(const DueQuery& query) = 0;
  /// The earliest clock of any execution.
  virtual Result<std::optional<TimeMs>> next_due() = 0;
  /// Terminal executions whose retention is over, oldest first. A walk that ends at its bound with nothing but refused
  /// rows is taken up there by the next call.
  virtual Result<std::vector<ExecutionId>> retired(TimeMs now, std::uint32_t limit,
                                                   const std::function<bool(const ExecutionRecord&)>& accept) = 0;
  virtual Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs now, std::uint32_t limit) = 0;

  virtual Result<std::optional<core::Document>> document(const core::DocumentId& id) = 0;
  /// By key, those after `after`.
  virtual Result<std::vector<core::Document>> documents(core::DocumentKind kind, const std::string& after,
                                                        std::uint32_t limit) = 0;
  /// Those that are due, earliest first.
  virtual Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind kind, TimeMs now,
                                                              std::uint32_t limit) = 0;
  /// Newest first. A page looks at no more than `kListWalkMax` events, and may therefore be short.
  virtual Result<Walk<Event>> audit(const AuditQuery& query) = 0;

  /// Walks everything that is stored and compares what is derived (index columns, states) with what should be.
  /// Returns one line per fault, at most `limit`.
  virtual Result<std::vector<std::string>> verify(std::uint32_t limit) = 0;

  /// Every key, each once, in any order. `after` is empty or what the last call said in `next`.
  virtual Result<Walk<core::IdempotencyRecord>> keys(const std::string& after, std::uint32_t limit) = 0;
  /// Every event that is kept, `renewed` and those of executions that are gone too; those of a partition in the order of
  /// their ids. May give one more than `limit`.
  virtual Result<Walk<Event>> log(const std::string& after, std::uint32_t limit) = 0;
};

// ---- the store itself ---------------------------------------------------------------------------------------------

/// A numbered step of the schema, and when it was applied.
struct SchemaStep {
  int version = 0;
  std::string name;
  TimeMs applied_at_ms = 0;
};

struct StoreInfo {
  std::string kind;
  std::string version;
  Durability durability = Durability::none;
  std::string durability_detail;
  std::vector<std::pair<std::string, std::string>> settings;  ///< as read back, for `ff check`
  std::vector<SchemaStep> schema;                             ///< oldest first; empty: the store has none
  int schema_version_found = 0;                               ///< before this process brought it up to date; 0: new
};

/// What differs between stores that the engine has to know.
struct StoreTraits {
  std::uint32_t executors = 1;       ///< how many when nothing is configured
  bool commit_spans_partitions = true;
  bool units_share_batch = true;     ///< one unit per batch; false: one per set of operations that share records
  bool locks_rows = false;           ///< a load may wait for others, so a batch has to ask for all its locks at once
};

/// Told that something changed which this process did not do. Called on a thread of the store.
class ForeignWatcher {
 public:
  virtual ~ForeignWatcher() = default;
  virtual void foreign_commit() = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual StoreInfo info() = 0;
  virtual StoreTraits traits() const = 0;
  /// Reads the data set, or writes `proposed` when there is none: of several first starts, one wins.
  virtual Result<core::Dataset> adopt_dataset(const core::Dataset& proposed) = 0;
  virtual Result<std::unique_ptr<Session>> open_session() = 0;
  virtual Result<std::unique_ptr<Reader>> open_reader() = 0;
  /// Starts telling `watcher` of foreign commits; null ends it, and no call is under way afterwards.
  virtual void watch(ForeignWatcher* watcher) = 0;
  /// Whether somebody waits for foreign commits right now; a store may look less often while nobody does.
  virtual void set_watchful(bool watchful) = 0;
  /// Changes the engine version of the data set, which says whether an import is through.
  virtual Result<void> set_engine_version(const std::string& version) = 0;
};

/// What opening a store depends on.
struct StoreOptions {
  std::shared_ptr<ManualClock> clock;  ///< instead of the store's own
  bool auto_migrate = true;
  bool allow_unsafe = false;
  bool create = true;  ///< make the data set when the store is empty
  std::uint32_t request_timeout_ms = 5'000;
  std::function<void(std::string_view)> warn;
};

}  // namespace ff::store
