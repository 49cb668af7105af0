#include "store/postgres/reader.h"

#include "core/errors.h"
#include "store/lease_page.h"
#include "store/postgres/outgoing.h"
#include "store/postgres/read_statements.h"

#include <limits>

namespace ff::store::postgres {
namespace {

/// How many timed executions a count looks at before it becomes an estimate.
constexpr std::int64_t kCountWalkMax = 200'000;
/// Commits whose events are looked for at a time.
constexpr std::size_t kPlacesAtOnce = 64;
constexpr int kWhatColumn = 4, kEarlierColumn = 11;

}  // namespace

Result<void> PostgresReader::open() { return connection_.open(kReconnectMax); }

Result<Rows> PostgresReader::run(const Sql& sql, Params params) {
  for (int tries = 0;; ++tries) {
    if (auto opened = connection_.open(kReconnectMax); !opened) return std::unexpected(opened.error());
    auto rows = connection_.query(sql, params);
    if (rows || !is_lost(rows.error()) || tries > 0) return rows;
  }
}

Result<TimeMs> PostgresReader::clock() {
  if (auto manual = shared_->manual_now()) return *manual;
  auto rows = run(sql::kNow);
  if (!rows) return std::unexpected(rows.error());
  return rows->number(0, 0);
}

// ---- one execution ------------------------------------------------------------------------------------------------

Result<std::optional<ExecutionSnapshot>> PostgresReader::execution(const ExecutionId& id) {
  const IdBytes bytes(id);
  auto rows = run(sql::kFind, about(bytes.view()));
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  auto row = read_core(*rows, 0, queues_);
  if (!row) return std::unexpected(row.error());
  ExecutionSnapshot found;
  found.record = std::move(row->record);
  constexpr int kInfo = kCoreColumns;
  auto info = unpack_info(rows->text(0, kInfo), rows->text(0, kInfo + 1));
  if (!info) return std::unexpected(info.error());
  info->payload_content_type = content_type_of(*rows, 0, kInfo + 2);
  if (!rows->is_null(0, kInfo + 3)) info->payload_bytes = static_cast<std::uint64_t>(rows->number(0, kInfo + 3));
  found.info = std::move(*info);
  if (!rows->is_null(0, kInfo + 5)) {
    found.result_content_type = content_type_of(*rows, 0, kInfo + 4);
    found.result_bytes = static_cast<std::uint64_t>(rows->number(0, kInfo + 5));
  }
  return found;
}

Result<std::optional<std::optional<Blob>>> PostgresReader::blob(const Sql& sql, const ExecutionId& id) {
  const IdBytes bytes(id);
  auto rows = run(sql, about(bytes.view()));
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  std::optional<Blob> blob;
  if (!rows->is_null(0, 1)) {
    blob.emplace();
    blob->bytes = rows->text(0, 1);
    blob->content_type = content_type_of(*rows, 0, 0);
  }
  return std::optional(std::move(blob));
}

Result<std::optional<std::optional<Blob>>> PostgresReader::payload(const ExecutionId& id) {
  return blob(sql::kPayloadOf, id);
}

Result<std::optional<std::optional<Blob>>> PostgresReader::result(const ExecutionId& id) {
  return blob(sql::kResultOf, id);
}

Result<std::optional<std::vector<Attempt>>> PostgresReader::attempts(const ExecutionId& id,
                                                                     std::optional<std::uint32_t> after,
                                                                     std::uint32_t limit) {
  const IdBytes bytes(id);
  auto rows = run(sql::kAttemptsOf, about(bytes.view()));
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  auto row = read_core(*rows, 0, queues_);
  if (!row) return std::unexpected(row.error());
  auto all = read_attempts(rows->text(0, kCoreColumns));
  if (!all) return std::unexpected(all.error());
  if (row->record.attempt) all->push_back(std::move(*row->record.attempt));
  std::vector<Attempt> found;
  for (auto& attempt : *all)
    if ((!after || attempt.attempt_index > *after) && found.size() < limit) found.push_back(std::move(attempt));
  return found;
}

/// The places of all commits that wrote events behind `after`, oldest first. Those that an execution no longer keeps
/// itself went to the log with the first of those that it keeps.
Result<std::vector<std::int64_t>> PostgresReader::log_places(std::string_view id, std::string_view kept,
                                                             std::int64_t after) {
  std::vector<std::int64_t> places = read_log_places(kept);
  // All events of a commit are in one block, which is drawn after its own place and before the next one.
  const std::int64_t block = after - after % sql::kEventBlock;
  std::size_t found = places.size();
  while (found > 0 && places.front() >= block) {
    Int8Array first;
    first.add(places.front());
    auto rows = run(sql::kHistory, Params().bytes(id).array(first));
    if (!rows) return std::unexpected(rows.error());
    std::vector<std::int64_t> earlier;
    for (int row = 0; row < rows->size() && earlier.empty(); ++row)
      earlier = read_log_places(rows->text(row, kEarlierColumn));
    found = earlier.size();
    places.insert(places.begin(), earlier.begin(), earlier.end());
  }
  std::size_t told = 0;
  while (told + 1 < places.size() && places[told + 1] < block) ++told;
  places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(told));
  return places;
}

Result<std::optional<HistoryPage>> PostgresReader::history(const ExecutionId& id, std::int64_t after_event_id,
                                                           std::uint32_t limit) {
  const IdBytes bytes(id);
  auto kept = run(sql::kLogPlacesOf, about(bytes.view()));
  if (!kept) return std::unexpected(kept.error());
  if (kept->empty()) return std::nullopt;
  auto places = log_places(bytes.view(), kept->text(0, 0), after_event_id);
  if (!places) return std::unexpected(places.error());
  HistoryPage page;
  std::int64_t last = after_event_id;
  for (std::size_t at = 0; at < places->size(); at += kPlacesAtOnce) {
    const std::size_t end = std::min(at + kPlacesAtOnce, places->size());
    Int8Array some;
    for (std::size_t i = at; i < end; ++i) some.add((*places)[i]);
    // A place whose commit wrote no events of one sort leads to later ones of it, whose turn has not come.
    const std::int64_t until =
        end < places->size() ? (*places)[end] + sql::kEventBlock : std::numeric_limits<std::int64_t>::max();
    auto rows = run(sql::kHistory, Params().bytes(bytes.view()).array(some));
    if (!rows) return std::unexpected(rows.error());
    for (int row = 0; row < rows->size(); ++row) {
      if (rows->number(row, kWhatColumn) < 0) continue;
      auto events = read_events(*rows, row, queues_);
      if (!events) return std::unexpected(events.error());
      for (auto& event : *events) {
        if (event.event_id <= last || event.event_id >= until) continue;
        page.more = page.events.size() == limit;
        if (page.more) return page;
        last = event.event_id;
        page.events.push_back(std::move(event));
      }
    }
  }
  return page;
}

// ---- lanes, queues, clocks ----------------------------------------------------------------------------------------

Result<std::vector<LeaseItem>> PostgresReader::leases(const LeaseQuery& query) {
  Params params;
  params.number(query.expired_before_ms.value_or(std::numeric_limits<TimeMs>::max()));
  query.worker ? params.bytes(*query.worker) : params.null();
  auto rows = run(sql::kLeases, params);
  if (!rows) return std::unexpected(rows.error());
  LeasePage page(query);
  for (int row = 0; row < rows->size(); ++row) {
    auto read = read_core(*rows, row, queues_);
    if (!read) return std::unexpected(read.error());
    page.add(read->record);
  }
  return page.items();
}

Result<std::optional<Lane>> PostgresReader::lane(const std::string& lane_id) {
  TextArray ids;
  ids.add(std::string_view(lane_id));
  auto rows = run(sql::kLanes, Params().array(ids));
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  auto lane = read_lane(*rows, 0);
  if (!lane) return std::unexpected(lane.error());
  return std::optional(std::move(*lane));
}

Result<std::vector<Lane>> PostgresReader::lanes(const std::string& after, std::uint32_t limit) {
  auto rows = run(sql::kLanesAfter, Params().bytes(after).number(std::int64_t{limit}));
  if (!rows) return std::unexpected(rows.error());
  std::vector<Lane> found;
  for (int row = 0; row < rows->size(); ++row) {
    auto lane = read_lane(*rows, row);
    if (!lane) return std::unexpected(lane.error());
    found.push_back(std::move(*lane));
  }
  return found;
}

/// Candidates and terminal executions are counted per queue in their indexes; what has a clock, over all lanes.
Result<LaneCounts> PostgresReader::lane_counts(const std::string& lane_id) {
  constexpr auto kBound = static_cast<std::int64_t>(kCountExactMax) + 1;
  auto waiting = run(sql::kCandidateCounts, Params().bytes(lane_id).number(kBound));
  if (!waiting) return std::unexpected(waiting.error());
  auto terminal = run(sql::kTerminalCount, Params().bytes(lane_id).number(shared_->manual_now()).number(kBound));
  if (!terminal) return std::unexpected(terminal.error());
  auto timed = run(sql::kDueCount, Params().bytes(lane_id).number(kCountWalkMax));
  if (!timed) return std::unexpected(timed.error());

  LaneCounts counts;
  for (int row = 0; row < waiting->size(); ++row) {
    const bool left_behind = waiting->number(row, 0) == static_cast<std::int64_t>(Bucket::reclaimable);
    (left_behind ? counts.reclaimable : counts.eligible).value += static_cast<std::uint64_t>(waiting->number(row, 1));
  }
  counts.terminal.value = static_cast<std::uint64_t>(terminal->number(0, 0));
  std::int64_t walked = 0;
  for (int row = 0; row < timed->size(); ++row) {
    const auto count = static_cast<std::uint64_t>(timed->number(row, 1));
    walked += timed->number(row, 2);
    switch (static_cast<Bucket>(timed->number(row, 0))) {
      case Bucket::active: counts.active.value += count; break;
      case Bucket::delayed: counts.delayed.value += count; break;
      case Bucket::suspended: counts.suspended.value += count; break;
      default: break;
    }
  }
  for (Count* count : {&counts.eligible, &counts.delayed, &counts.active, &counts.reclaimable, &counts.suspended,
                       &counts.terminal})
    count->estimate = count->value > kCountExactMax;
  if (walked >= kCountWalkMax) counts.active.estimate = counts.delayed.estimate = counts.suspended.estimate = true;
  return counts;
}

Result<std::optional<TimeMs>> PostgresReader::oldest_candidate(const std::string& lane_id) {
  auto rows = run(sql::kOldestCandidate, Params().bytes(lane_id));
  if (!rows) return std::unexpected(rows.error());
  return rows->number_if(0, 0);
}

Result<std::uint64_t> PostgresReader::ahead_of(const ExecutionRecord& record) {
  auto queue_id = queues_.id_of(record.queue, false);
  if (!queue_id) return std::unexpected(queue_id.error());
  if (!*queue_id) return 0;
  const IdBytes bytes(record.id);
  Params params;
  params.number4(**queue_id).number4(record.priority).number(record.times.created_at_ms).bytes(bytes.view());
  auto rows = run(sql::kAhead, params.number(std::int64_t{kAheadMax}));
  if (!rows) return std::unexpected(rows.error());
  return std::min<std::uint64_t>(kAheadMax, static_cast<std::uint64_t>(rows->number(0, 0)));
}

void PostgresReader::learn_places(std::vector<QueuePlaces::Search> slow, const Rows* rows, Pace::Clock::duration took) {
  std::map<std::int32_t, int> row_of;
  for (int row = 0; rows && row < rows->size(); ++row)
    row_of.emplace(static_cast<std::int32_t>(rows->number(row, 0)), row);
  for (auto& search : slow) {
    std::optional<QueuePlaces::Found> found;
    if (const auto it = row_of.find(search.queue_id); it != row_of.end()) {
      const int row = it->second;
      search.took = took;
      found.emplace();
      found->now = shared_->manual_now().value_or(rows->number(row, 5));
      found->exhausted = rows->number(row, 4) == 0;
      if (!found->exhausted)
        found->members.push_back({static_cast<std::int32_t>(rows->number(row, 1)), rows->number(row, 2), true});
      row_of.erase(it);
    }
    shared_->queue_places.end(search, found);
  }
  for (const auto& [queue_id, row] : row_of) shared_->queue_places.looked(queue_id, took);
}

Result<std::vector<QueueHead>> PostgresReader::queue_heads(const std::string& lane_id, std::uint32_t count_max) {
  auto slow = shared_->queue_places.begin_slow(QueuePlaces::Who::look);
  Int4Array known;
  RangeArrays ranges;
  ranges.add_range(QueuePlaces::kWhole);
  for (const auto& search : slow) {
    known.add(search.queue_id);
    ranges.add_search(search.ranges);
  }
  Params params;
  params.bytes(lane_id).number(std::int64_t{count_max}).array(known);
  const auto started = Pace::Clock::now();
  auto rows = run(sql::kQueueHeads, ranges.append_to(params));
  learn_places(std::move(slow), rows ? &*rows : nullptr, Pace::Clock::now() - started);
  std::vector<QueueHead> heads;
  if (!rows) return std::unexpected(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    if (rows->number(row, 4) == 0) continue;
    auto queue = queues_.get(static_cast<std::int32_t>(rows->number(row, 0)));
    if (!queue) return std::unexpected(queue.error());
    const OrderKey head{static_cast<std::int32_t>(rows->number(row, 1)), rows->number(row, 2),
                        id_from(rows->text(row, 3))};
    heads.push_back({std::move(*queue), head, static_cast<std::uint64_t>(rows->number(row, 4))});
  }
  return heads;
}

Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<PostgresShared> shared) {
  auto reader = std::make_unique<PostgresReader>(std::move(shared));
  if (auto opened = reader->open(); !opened) return std::unexpected(opened.error());
  return reader;
}

}  // namespace ff::store::postgres
