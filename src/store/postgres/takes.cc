// The claims of a batch: candidates are taken out of their queues, and what the takes came across is learnt.

#include "store/postgres/session.h"
#include "store/postgres/statements.h"

namespace ff::store::postgres {
namespace {

// The columns of `kTake` behind those of the execution, and those of `kTakeKeys`.
constexpr int kInfoColumn = kCoreColumns;
constexpr int kOrdinalColumn = kCoreColumns + 5;
enum KeyColumn : int { kKeyId, kKeyXact, kKeyPriority, kKeyCreated, kKeyTid, kKeyOrdinal };

}  // namespace

/// Rows that a take has locked, with as much of them as it had to bring.
struct PostgresSession::LockedRows {
  Rows rows;
  bool keys_only = false;
  std::vector<NewWork::Item> known;                     ///< by row, when only the keys were brought
  Rows others;                                          ///< those of which nothing was known
  boost::unordered_flat_map<ExecutionId, int, std::hash<ExecutionId>> row_of_other;

  std::size_t ordinal(int row) const {
    return static_cast<std::size_t>(rows.number(row, keys_only ? kKeyOrdinal : kOrdinalColumn) - 1);
  }
  QueueMember member(int row) const {
    return {static_cast<std::int32_t>(rows.number(row, 2)), rows.number(row, 3), true};
  }
};

Result<Step> PostgresSession::take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) {
  Unit& unit = units.front();
  core::WorkingSet& set = unit.set;
  // What this batch has already leased or moved still stands in the queue: the working set knows better, and the take
  // asks for that much more. One beyond what is wanted tells where the queue goes on.
  std::map<std::int32_t, std::int64_t> touched;
  for (const auto& slot : set.executions().slots()) {
    const auto& stored = slot.dirty ? slot.before : slot.value;
    if (!slot.stored || !stored || !core::is_candidate(*stored)) continue;
    auto queue_id = queues_.id_of(stored->queue, false);
    if (queue_id && *queue_id) ++touched[**queue_id];
  }
  Int4Array queue_ids;
  Int8Array counts;
  RangeArrays ranges;
  struct Asked {
    std::size_t row_of_plan;
    std::int64_t count;
  };
  std::vector<Asked> asked;  // by row of the statement
  bool all_known = true;
  const std::size_t first_taking = takings_.size();
  taken.resize(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    auto queue_id = queues_.id_of(plan[i].queue, false);
    if (!queue_id) return std::unexpected(before_commit(queue_id.error()));
    if (!*queue_id) continue;
    queue_ids.add(**queue_id);
    const auto known = touched.find(**queue_id);
    const std::int64_t count = std::int64_t{plan[i].count} + 1 + (known == touched.end() ? 0 : known->second);
    counts.add(count);
    asked.push_back({i, count});
    const bool is_known = shared_->new_work.knows(**queue_id, plan[i].count);
    all_known = all_known && is_known;
    auto& taking = takings_.emplace_back();
    taking.search = shared_->queue_places.begin(**queue_id, QueuePlaces::Who::take);
    ranges.add_search(taking.search.ranges);
  }
  if (asked.empty()) return Step::done;
  if (std::exchange(begin_owed_, false)) {
    connection_.queue(sql::kBegin);
    in_transaction_ = true;
  }
  Params params;
  if (const auto& first = takings_[first_taking].search; asked.size() == 1 && first.ranges.size() == 1) {
    const QueueRange& range = first.ranges.front();
    params.number4(first.queue_id).number(asked.front().count);
    params.number4(range.high).number4(range.low).number(range.from_ms);
    connection_.queue(all_known ? sql::kTakeKeysOfRange : sql::kTakeOfRange, std::move(params));
  } else {
    params.array(queue_ids).array(counts);
    connection_.queue(all_known ? sql::kTakeKeys : sql::kTake, ranges.append_to(params));
  }
  connection_.queue(sql::kClockOnly);
  const auto started = Pace::Clock::now();
  auto answers = send();
  if (!answers) return std::unexpected(answers.error());
  const auto took = Pace::Clock::now() - started;
  LockedRows locked{.rows = std::move((*answers)[answers->size() - 2]), .keys_only = all_known};
  if (all_known)
    if (auto found = find_known(locked, first_taking); !found) return std::unexpected(found.error());
  for (int row = 0; row < locked.rows.size(); ++row) {
    const std::size_t ordinal = locked.ordinal(row);
    const std::size_t at = asked[ordinal].row_of_plan;
    const ExecutionId id = id_of_row(locked.rows, row);
    Taking& taking = takings_[first_taking + ordinal];
    taking.met.push_back(id);
    taking.found.members.push_back(locked.member(row));
    Taken& found = taken[at];
    if (found.next_head) continue;
    const auto* in_set = set.executions().find(id);
    if (in_set && (!in_set->value || !core::is_candidate(*in_set->value))) continue;
    if (auto kept = keep_locked(set, locked, row); !kept) return std::unexpected(before_commit(kept.error()));
    const core::ExecutionRecord* record = set.execution(id);
    if (!record) continue;
    if (found.candidates.size() == plan[at].count || record->priority < plan[at].priority_floor)
      found.next_head = core::order_key(*record);
    else
      found.candidates.emplace_back(&unit, id);
  }
  if (auto right = set_clock(unit, answers->back()); !right) return std::unexpected(right.error());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Taking& taking = takings_[first_taking + i];
    taking.search.took = took;
    taking.found.exhausted = static_cast<std::int64_t>(taking.met.size()) < asked[i].count;
    taking.found.now = unit.now;
  }
  return Step::done;
}

/// Finds what is known of rows of which only the keys were brought, and brings the others.
Result<void> PostgresSession::find_known(LockedRows& locked, std::size_t first_taking) {
  const Rows& rows = locked.rows;
  std::vector<NewWork::Key> keys;
  for (int row = 0; row < rows.size(); ++row)
    keys.push_back({id_of_row(rows, row), static_cast<std::uint32_t>(rows.number(row, kKeyXact))});
  locked.known = shared_->new_work.find(keys);
  TidArray missing;
  struct Count {
    int met = 0, missing = 0;
  };
  std::vector<Count> of_queue(takings_.size() - first_taking);
  for (int row = 0; row < rows.size(); ++row) {
    Count& count = of_queue[locked.ordinal(row)];
    ++count.met;
    if (locked.known[static_cast<std::size_t>(row)].record) continue;
    ++count.missing;
    missing.add(rows.text(row, kKeyTid));
  }
  if (missing.empty()) return {};
  // Where most was submitted by others, or long ago, the next take had better bring everything at once.
  for (std::size_t i = 0; i < of_queue.size(); ++i)
    if (of_queue[i].missing * 2 > of_queue[i].met)
      shared_->new_work.forget(takings_[first_taking + i].search.queue_id);
  connection_.queue(sql::kTaken, Params().array(missing));
  auto answers = send();
  if (!answers) return std::unexpected(answers.error());
  locked.others = std::move(answers->back());
  for (int row = 0; row < locked.others.size(); ++row) locked.row_of_other.emplace(id_of_row(locked.others, row), row);
  return {};
}

/// Puts a locked row with all that a claim needs of it into the working set.
Result<void> PostgresSession::keep_locked(core::WorkingSet& set, const LockedRows& locked, int row) {
  const ExecutionId id = id_of_row(locked.rows, row);
  const bool is_known = locked.keys_only && locked.known[static_cast<std::size_t>(row)].record;
  if (is_known) {
    const NewWork::Item& item = locked.known[static_cast<std::size_t>(row)];
    if (!set.executions().find(id)) {
      rows_[id] = {.tid = std::string(locked.rows.text(row, kKeyTid)), .log_place_count = item.log_place_count};
      set.executions().loaded(id, item.record);
    }
    set.infos().loaded(id, item.info);
    set.payloads().loaded(id, item.payload);
    return {};
  }
  const Rows& from = locked.keys_only ? locked.others : locked.rows;
  if (locked.keys_only) {
    const auto other = locked.row_of_other.find(id);
    if (other == locked.row_of_other.end()) return {};
    row = other->second;
  }
  if (auto kept = keep_row(set, from, row, true); !kept) return std::unexpected(kept.error());
  if (set.execution(id) && !set.payloads().find(id)) keep_info(set, id, from, row, kInfoColumn, true);
  return {};
}

bool PostgresSession::learn_places(std::span<Unit* const> units) {
  bool returned = false;
  QueuePlaces& places = shared_->queue_places;
  TimeMs earliest_due = std::numeric_limits<TimeMs>::max();
  for (Unit* unit : units)
    for (const auto& slot : unit->set.executions().slots()) {
      if (!slot.dirty || !slot.value) continue;
      if (const auto due_at = core::due_at(*slot.value)) earliest_due = std::min(earliest_due, *due_at);
      if (!core::is_candidate(*slot.value)) continue;
      returned = returned || slot.stored;
      if (!places.any()) continue;
      if (auto queue_id = queues_.id_of(slot.value->queue, false); queue_id && *queue_id)
        places.appeared(**queue_id, {slot.value->priority, slot.value->times.created_at_ms, true});
    }
  shared_->due_place.appeared(earliest_due);
  std::vector<ExecutionId> left;
  for (Taking& taking : takings_)
    for (std::size_t i = 0; i < taking.met.size(); ++i) {
      const core::ExecutionRecord* record = units.empty() ? nullptr : units.front()->set.execution(taking.met[i]);
      taking.found.members[i].stays = !record || core::is_candidate(*record);
      if (!taking.found.members[i].stays) left.push_back(taking.met[i]);
    }
  shared_->new_work.erase(left);
  end_searches();
  return returned;
}

/// When the rows that they locked are free again. Other searches have passed over those that stay.
void PostgresSession::end_searches() {
  QueuePlaces& places = shared_->queue_places;
  for (const Taking& taking : takings_) {
    for (const QueueMember& member : taking.found.members)
      if (member.stays) places.appeared(taking.search.queue_id, member);
    places.end(taking.search, taking.found);
  }
  takings_.clear();
}

Result<std::vector<ExecutionId>> PostgresSession::claimed_under(const std::string&, const std::string& claim_key) {
  if (std::exchange(begin_owed_, false)) {
    connection_.queue(sql::kBegin);
    in_transaction_ = true;
  }
  connection_.queue(sql::kClaimedUnder, Params().bytes(claim_key));
  auto answers = send();
  if (!answers) return std::unexpected(answers.error());
  std::vector<ExecutionId> held;
  const Rows& rows = answers->back();
  for (int row = 0; row < rows.size(); ++row) held.push_back(id_from(rows.text(row, 0)));
  std::sort(held.begin(), held.end());
  return held;
}

}  // namespace ff::store::postgres
