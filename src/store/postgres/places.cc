#include "store/postgres/places.h"

#include <algorithm>

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;

/// A whole search that is quicker than this is always made; what it finds may take some time too.
constexpr auto kQuick = 5ms;
constexpr auto kQuickPerMember = 25us;
/// Whole searches that are slow take this part of the time at most.
constexpr int kPart = 20;
constexpr Pace::Clock::duration kPauseMin = 1s, kPauseMax = 10s;
/// Others may commit what they created a moment ago: no place is later than this long before now.
constexpr TimeMs kLateCommitMs = 500;
/// Priorities of one queue that have a place of their own.
constexpr std::size_t kPrioritiesMax = 16;

constexpr TimeMs kEarliest = std::numeric_limits<TimeMs>::min(), kLatest = std::numeric_limits<TimeMs>::max();
constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max(),
                       kLowest = std::numeric_limits<std::int32_t>::min();

}  // namespace

void Pace::searched(Clock::duration took, std::size_t members) {
  const auto now = Clock::now();
  slow_ = took >= kQuick + kQuickPerMember * members;
  earliest_at_ = now + std::min(took * kPart, kPauseMax);
  whole_at_ = now + std::clamp(took * kPart, kPauseMin, kPauseMax);
}

// ---- queues -------------------------------------------------------------------------------------------------------

std::vector<QueueRange> QueuePlaces::Place::ranges() const {
  std::vector<QueueRange> all;
  std::int32_t high = kHighest;
  for (const auto& [priority, from_ms] : by_priority) {
    if (priority < high) all.push_back({high, priority + 1, floor_ms});
    all.push_back({priority, priority, from_ms});
    if (priority == kLowest) return all;
    high = priority - 1;
  }
  all.push_back({high, kLowest, floor_ms});
  return all;
}

void QueuePlaces::Place::learn(const Found& found, std::uint64_t began) {
  const TimeMs latest = found.now - kLateCommitMs;
  std::map<std::int32_t, TimeMs> meanwhile;
  for (auto it = appeared.lower_bound({began, kLowest}); it != appeared.end(); ++it) {
    auto [earliest, added] = meanwhile.try_emplace(it->first.second, it->second);
    earliest->second = std::min(earliest->second, it->second);
  }
  auto no_later = [&](std::int32_t priority, TimeMs at) {
    const auto since = meanwhile.find(priority);
    return std::min({at, latest, since == meanwhile.end() ? kLatest : since->second});
  };
  // By priority, the first that stays, or the last of those that have left.
  std::map<std::int32_t, std::pair<TimeMs, bool>> met;
  for (const QueueMember& member : found.members) {
    auto [it, added] = met.try_emplace(member.priority, member.created_at_ms, member.stays);
    if (added || it->second.second) continue;
    it->second = {member.created_at_ms, member.stays};
  }
  TimeMs others = latest;
  for (const auto& [priority, at] : meanwhile)
    if (!by_priority.contains(priority)) others = std::min(others, at);
  if (found.exhausted)
    for (auto& [priority, from_ms] : by_priority) from_ms = std::max(from_ms, no_later(priority, latest));
  for (const auto& [priority, first] : met) {
    const TimeMs at = no_later(priority, first.first);
    if (by_priority.contains(priority) || by_priority.size() < kPrioritiesMax)
      by_priority[priority] = at;
    else
      others = std::min(others, at);
  }
  if (found.exhausted) floor_ms = std::max(floor_ms, others);
}

QueuePlaces::Search QueuePlaces::begin(std::int32_t queue_id, Place& place, Who who) {
  Search search{queue_id, who, {}, place.pace(who).wants_whole(), ++place.searches, {}};
  place.under_way.insert(search.began);
  search.ranges = search.whole ? std::vector<QueueRange>{kWhole} : place.ranges();
  return search;
}

QueuePlaces::Search QueuePlaces::begin(std::int32_t queue_id, Who who) {
  std::lock_guard guard(mutex_);
  any_ = true;
  return begin(queue_id, places_[queue_id], who);
}

std::vector<QueuePlaces::Search> QueuePlaces::begin_slow(Who who) {
  std::vector<Search> all;
  std::lock_guard guard(mutex_);
  for (auto& [queue_id, place] : places_)
    if (place.slow()) all.push_back(begin(queue_id, place, who));
  return all;
}

void QueuePlaces::end(const Search& search, const std::optional<Found>& found) {
  std::lock_guard guard(mutex_);
  const auto it = places_.find(search.queue_id);
  if (it == places_.end()) return;
  Place& place = it->second;
  if (search.whole && search.took) place.pace(search.who).searched(*search.took, found ? found->members.size() : 0);
  // It wanted more than it came across: others may have held what stands before the place.
  if (!search.whole && found && found->exhausted) place.pace(search.who).hurry();
  if (found && place.slow()) place.learn(*found, search.began);
  place.under_way.erase(search.began);
  if (!place.under_way.empty()) {
    place.appeared.erase(place.appeared.begin(), place.appeared.lower_bound({*place.under_way.begin(), kLowest}));
    return;
  }
  place.appeared.clear();
  if (place.slow()) return;
  places_.erase(it);
  any_ = !places_.empty();
}

void QueuePlaces::looked(std::int32_t queue_id, Pace::Clock::duration took) {
  if (took < kQuick) return;
  std::lock_guard guard(mutex_);
  places_[queue_id].look.searched(took);
  any_ = true;
}

void QueuePlaces::appeared(std::int32_t queue_id, const QueueMember& member) {
  std::lock_guard guard(mutex_);
  const auto it = places_.find(queue_id);
  if (it == places_.end()) return;
  Place& place = it->second;
  const auto known = place.by_priority.find(member.priority);
  TimeMs& from_ms = known == place.by_priority.end() ? place.floor_ms : known->second;
  from_ms = std::min(from_ms, member.created_at_ms);
  if (place.under_way.empty()) return;
  auto [since, added] = place.appeared.try_emplace({place.searches, member.priority}, member.created_at_ms);
  if (!added) since->second = std::min(since->second, member.created_at_ms);
}

void QueuePlaces::distrust() {
  std::lock_guard guard(mutex_);
  for (auto& [queue_id, place] : places_) {
    place.take.hurry();
    place.look.hurry();
  }
}

// ---- clocks -------------------------------------------------------------------------------------------------------

DuePlace::Search DuePlace::begin() {
  std::lock_guard guard(mutex_);
  if (under_way_++ == 0) appeared_ms_ = kLatest;
  Search search{kEarliest, pace_.wants_whole(), Pace::Clock::now()};
  if (!search.whole) search.from_ms = from_ms_;
  return search;
}

void DuePlace::end(const Search& search, std::optional<TimeMs> first, TimeMs now) {
  std::lock_guard guard(mutex_);
  --under_way_;
  if (search.whole) pace_.searched(Pace::Clock::now() - search.started);
  from_ms_ = std::min({first.value_or(now), now - kLateCommitMs, appeared_ms_});
}

void DuePlace::appeared(TimeMs due_at_ms) {
  std::lock_guard guard(mutex_);
  from_ms_ = std::min(from_ms_, due_at_ms);
  appeared_ms_ = std::min(appeared_ms_, due_at_ms);
}

}  // namespace ff::store::postgres
