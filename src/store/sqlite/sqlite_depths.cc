#include "store/sqlite/sqlite_reader.h"

#include <limits>

namespace ff::store::sqlite {
namespace {

/// How many timed executions a count looks at before it becomes an estimate.
constexpr std::int64_t kCountWalkMax = 1'000'000;
/// Distinct priorities of a queue that the search for its oldest member looks at.
constexpr int kPrioritiesMax = 64;

}  // namespace

/// Candidates and terminal executions are counted per queue in their indexes; what has a clock, over all lanes.
Result<LaneCounts> SqliteReader::lane_counts(const std::string& lane_id) {
  Snapshot snapshot(*this);
  auto queues = queues_.of_lane(lane_id);
  if (!queues) return std::unexpected(queues.error());
  LaneCounts counts;
  constexpr auto kBound = static_cast<std::int64_t>(kCountExactMax) + 1;
  std::set<std::int64_t> own;
  for (const auto& [queue_id, queue] : *queues) {
    own.insert(queue_id);
    auto terminal = number(terminal_count_.bind(1, queue_id).bind(2, kBound));
    if (!terminal) return std::unexpected(terminal.error());
    counts.terminal.value += static_cast<std::uint64_t>(**terminal);
    ResetLater reset(candidates_);
    candidates_.bind(1, queue_id);
    for (std::int64_t walked = 0; walked < kBound; ++walked) {
      auto row = candidates_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      const bool left_behind = candidates_.number(8) == static_cast<std::int64_t>(Bucket::reclaimable);
      ++(left_behind ? counts.reclaimable : counts.eligible).value;
    }
  }
  std::int64_t walked = 0;
  ResetLater reset(due_count_);
  due_count_.bind(1, kCountWalkMax);
  while (true) {
    auto row = due_count_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    walked += due_count_.number(2);
    if (!own.contains(due_count_.number(0))) continue;
    const auto count = static_cast<std::uint64_t>(due_count_.number(2));
    const auto bucket = static_cast<Bucket>(due_count_.number(1));
    if (bucket == Bucket::active) counts.active.value += count;
    if (bucket == Bucket::delayed) counts.delayed.value += count;
    if (bucket == Bucket::suspended) counts.suspended.value += count;
  }
  for (Count* count :
       {&counts.eligible, &counts.delayed, &counts.active, &counts.reclaimable, &counts.suspended, &counts.terminal})
    count->estimate = count->value > kCountExactMax;
  if (walked >= kCountWalkMax) counts.active.estimate = counts.delayed.estimate = counts.suspended.estimate = true;
  return counts;
}

Result<std::optional<TimeMs>> SqliteReader::oldest_candidate(const std::string& lane_id) {
  Snapshot snapshot(*this);
  auto queues = queues_.of_lane(lane_id);
  if (!queues) return std::unexpected(queues.error());
  std::optional<TimeMs> oldest;
  for (const auto& [queue_id, queue] : *queues) {
    std::int64_t below = std::numeric_limits<std::int32_t>::max();
    for (int i = 0; i < kPrioritiesMax; ++i) {
      auto priority = number(candidate_next_priority_.bind(1, queue_id).bind(2, below));
      if (!priority) return std::unexpected(priority.error());
      if (!*priority) break;
      below = **priority;
      auto at = number(candidate_oldest_.bind(1, queue_id).bind(2, below));
      if (!at) return std::unexpected(at.error());
      if (*at && (!oldest || **at < *oldest)) oldest = *at;
    }
  }
  return oldest;
}

Result<std::uint64_t> SqliteReader::ahead_of(const ExecutionRecord& record) {
  Snapshot snapshot(*this);
  auto queue_id = queues_.id_of(record.queue, false);
  if (!queue_id) return std::unexpected(queue_id.error());
  if (!*queue_id) return 0;
  ahead_higher_.bind(1, **queue_id).bind(2, std::int64_t{record.priority}).bind(3, std::int64_t{kAheadMax});
  auto higher = number(ahead_higher_);
  if (!higher) return std::unexpected(higher.error());
  ahead_equal_.bind(1, **queue_id).bind(2, std::int64_t{record.priority}).bind(3, record.times.created_at_ms);
  const IdBytes bytes(record.id);
  ahead_equal_.bind_blob(4, bytes.view()).bind(5, std::int64_t{kAheadMax});
  auto equal = number(ahead_equal_);
  if (!equal) return std::unexpected(equal.error());
  return std::min<std::uint64_t>(kAheadMax, static_cast<std::uint64_t>(**higher + **equal));
}

Result<std::vector<QueueHead>> SqliteReader::queue_heads(const std::string& lane_id, std::uint32_t count_max) {
  Snapshot snapshot(*this);
  auto queues = queues_.of_lane(lane_id);
  if (!queues) return std::unexpected(queues.error());
  std::vector<QueueHead> heads;
  for (const auto& [queue_id, queue] : *queues) {
    ResetLater reset(candidate_head_);
    auto row = candidate_head_.bind(1, queue_id).step();
    if (!row) return std::unexpected(row.error());
    if (!*row) continue;
    const OrderKey head{static_cast<std::int32_t>(candidate_head_.number(0)), candidate_head_.number(1),
                        id_from(candidate_head_.blob(2))};
    auto count = number(candidate_count_.bind(1, queue_id).bind(2, std::int64_t{count_max}));
    if (!count) return std::unexpected(count.error());
    heads.push_back({queue, head, static_cast<std::uint64_t>(**count)});
  }
  return heads;
}

}  // namespace ff::store::sqlite
