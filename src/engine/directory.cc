#include "engine/directory.h"

namespace ff::engine {
namespace {

constexpr SteadyUs kSecond = 1'000'000;
constexpr SteadyUs kBusyFor = 60 * kSecond;
constexpr std::size_t kRotationsMax = 100'000;
/// Queues that the last round of a claim looks into beyond what it needs.
constexpr std::size_t kLastRoundQueuesMax = 64;

}  // namespace

std::string Directory::name_of(const core::Queue& queue) {
  std::string name;
  name.reserve(queue.namespace_.size() + 1 + queue.queue_class.size());
  name.append(queue.namespace_).push_back('\0');
  name.append(queue.queue_class);
  return name;
}

bool Directory::open_for_claims(const LaneEntry& entry) const {
  return !entry.lane || core::hands_out(entry.lane->lane_state);
}

// ---- planning -----------------------------------------------------------------------------------------------------

std::vector<Directory::Row> Directory::plan(std::span<core::ClaimOperation* const> claims, bool last) {
  std::lock_guard guard(mutex_);
  std::vector<Row> rows;
  Promised promised;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    std::uint32_t want = claims[i]->wanted();
    if (want == 0) continue;
    const core::Claim& claim = claims[i]->request();
    std::vector<LaneEntry*> lanes;
    const auto& names = claim.worker.lanes;
    std::uint32_t first = 0;
    if (names.size() > 1) {
      if (next_lane_.size() > kRotationsMax) next_lane_.clear();
      first = next_lane_[claim.worker.worker_instance_id]++;
    }
    for (std::size_t k = 0; k < names.size(); ++k) {
      auto it = lanes_.find(names[(first + k) % names.size()]);
      if (it != lanes_.end() && open_for_claims(it->second)) lanes.push_back(&it->second);
    }
    // First every lane gets a fair share of what is wanted, then whoever has more.
    for (int pass = 0; pass < 2 && want > 0; ++pass)
      for (std::size_t k = 0; k < lanes.size() && want > 0; ++k) {
        const auto left = static_cast<std::uint32_t>(lanes.size() - k);
        const std::uint32_t share = pass == 0 ? (want + left - 1) / left : want;
        want -= plan_lane(*lanes[k], i, claim, share, last, promised, rows);
      }
  }
  return rows;
}

/// Strict order: the queue with the best head first. A queue gives nothing that ranks below the next one's head.
std::uint32_t Directory::plan_lane(LaneEntry& entry, std::size_t claim_at, const core::Claim& claim,
                                   std::uint32_t want, bool last, Promised& promised, std::vector<Row>& rows) {
  std::uint32_t planned = 0;
  std::size_t looked = 0;
  std::optional<std::size_t> previous;
  for (const auto& [head, name] : entry.by_head) {
    QueueState& state = entry.queues.at(name);
    if (!core::can_serve(claim.worker, *state.queue)) continue;
    std::uint64_t& taken = promised[&state];
    const std::uint64_t available = state.exact ? state.count - std::min(state.count, taken) : want;
    if (available == 0) continue;
    if (previous) rows[*previous].take.priority_floor = head.priority;
    if (planned >= want && (!last || ++looked > kLastRoundQueuesMax)) break;
    const auto count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(planned < want ? want - planned : want, state.exact ? available : want));
    rows.push_back({claim_at, {state.queue, 0, count}});
    previous = rows.size() - 1;
    state.planned = clock_;
    taken += count;
    planned += count;
  }
  return std::min(planned, want);
}

void Directory::took(std::span<const Row> rows, std::span<const store::Taken> taken) {
  std::lock_guard guard(mutex_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto lane = lanes_.find(rows[i].take.queue->lane_id);
    if (lane == lanes_.end()) continue;
    LaneEntry& entry = lane->second;
    const std::string name = name_of(*rows[i].take.queue);
    const auto& next_head = taken[i].next_head;
    // Another take may have dropped the queue: it found nothing because this one held what is left.
    if (!next_head && !entry.queues.contains(name)) continue;
    QueueState& state = queue_of(entry, name, rows[i].take.queue, next_head.value_or(core::OrderKey()));
    state.count -= std::min<std::uint64_t>(state.count, taken[i].candidates.size());
    if (next_head) {
      set_head(entry, name, state, *next_head);
      if (state.count == 0) state.exact = false;
      state.count = std::max<std::uint64_t>(state.count, 1);
    } else if (state.changed <= state.planned) {
      if (state.count > 0 || !state.exact) entry.doubtful = true;
      drop(entry, name);
    }
  }
}

void Directory::gave_back(const core::QueueRef& queue, const core::OrderKey& key) {
  std::lock_guard guard(mutex_);
  ++clock_;
  add(queue, key);
}

// ---- feeding ------------------------------------------------------------------------------------------------------

Directory::QueueState& Directory::queue_of(LaneEntry& entry, const std::string& name, const core::QueueRef& queue,
                                           const core::OrderKey& head) {
  auto [it, added] = entry.queues.try_emplace(name, QueueState{queue, head});
  if (added) entry.by_head.emplace(head, name);
  return it->second;
}

void Directory::set_head(LaneEntry& entry, const std::string& name, QueueState& state, const core::OrderKey& head) {
  if (state.head == head) return;
  entry.by_head.erase({state.head, name});
  state.head = head;
  entry.by_head.emplace(head, name);
}

void Directory::drop(LaneEntry& entry, const std::string& name) {
  auto it = entry.queues.find(name);
  entry.by_head.erase({it->second.head, name});
  entry.queues.erase(it);
}

/// One more member in a queue.
Directory::QueueState& Directory::add(const core::QueueRef& queue, const core::OrderKey& key) {
  LaneEntry& entry = lanes_[queue->lane_id];
  const std::string name = name_of(*queue);
  QueueState& state = queue_of(entry, name, queue, key);
  if (key < state.head) set_head(entry, name, state, key);
  ++state.count;
  state.changed = clock_;
  return state;
}

void Directory::add_candidate(const core::ExecutionRecord& record, std::vector<Gain>& gains) {
  const QueueState& state = add(record.queue, core::order_key(record));
  for (auto& gain : gains)
    if (gain.queue == state.queue) {
      ++gain.count;
      return;
    }
  gains.push_back({state.queue, 1});
}

/// A candidate left without a take: cancelled, expired, moved. The head may now be early, which only makes the next plan
/// look there first. A re-read may have seen this commit before, so a count of 0 is no proof that the queue is empty:
/// the next take finds out.
void Directory::remove_candidate(const core::ExecutionRecord& record) {
  auto lane = lanes_.find(record.lane_id());
  if (lane == lanes_.end()) return;
  auto it = lane->second.queues.find(name_of(*record.queue));
  if (it == lane->second.queues.end() || it->second.count == 0) return;
  if (--it->second.count == 0) it->second.exact = false;
}

void Directory::note_lane(const Lane& lane) {
  LaneEntry& entry = lanes_[lane.lane_id];
  if (entry.lane && entry.lane->version > lane.version) return;  // read before somebody changed it
  entry.lane = lane;
  entry.lane_known_at = runtime_.steady_us();
}

std::vector<Directory::Gain> Directory::committed(const std::deque<store::Unit>& units) {
  std::lock_guard guard(mutex_);
  ++clock_;
  std::vector<Gain> gains;
  for (const auto& unit : units) {
    if (unit.outcome != store::Unit::Outcome::committed) continue;
    auto& set = const_cast<core::WorkingSet&>(unit.set);
    for (const auto& slot : set.executions().slots()) {
      if (!slot.dirty) continue;
      const bool was = slot.before && core::is_candidate(*slot.before);
      const bool is = slot.value && core::is_candidate(*slot.value);
      const bool moved = was && is && slot.before->priority != slot.value->priority;
      // A lease was taken from the queue by plan, and `took` has counted it already.
      const bool leased_now = slot.value && slot.value->is_leased();
      if (is && (!was || moved)) add_candidate(*slot.value, gains);
      if (was && (!is || moved) && !leased_now) remove_candidate(*slot.before);
    }
    for (const auto& slot : set.lanes().slots())
      if (slot.value) note_lane(*slot.value);
  }
  return gains;
}

std::uint64_t Directory::ticket() {
  std::lock_guard guard(mutex_);
  return clock_;
}

std::vector<Directory::Gain> Directory::refreshed(const std::string& lane_id, std::uint64_t ticket,
                                                  const std::vector<store::QueueHead>& heads,
                                                  const std::optional<Lane>& lane) {
  std::lock_guard guard(mutex_);
  LaneEntry& entry = lanes_[lane_id];
  entry.refreshed_at = runtime_.steady_us();
  if (lane) note_lane(*lane);
  std::vector<Gain> gains;
  std::set<std::string> seen;
  for (const auto& head : heads) {
    const std::string name = name_of(*head.queue);
    seen.insert(name);
    QueueState& state = queue_of(entry, name, head.queue, head.head);
    if (state.changed > ticket) continue;
    set_head(entry, name, state, head.head);
    state.count = head.count;
    state.exact = head.count < kHeadCountMax;
    gains.push_back({state.queue, static_cast<std::uint32_t>(head.count)});
  }
  for (auto it = entry.queues.begin(); it != entry.queues.end();) {
    const bool gone = !seen.contains(it->first) && it->second.changed <= ticket;
    if (gone) entry.by_head.erase({it->second.head, it->first});
    it = gone ? entry.queues.erase(it) : std::next(it);
  }
  return gains;
}

SteadyUs Directory::refreshed_at(const std::string& lane_id) {
  std::lock_guard guard(mutex_);
  auto it = lanes_.find(lane_id);
  return it == lanes_.end() ? kNever : it->second.refreshed_at;
}

// ---- asking -------------------------------------------------------------------------------------------------------

bool Directory::has_work(const core::WorkerScope& worker) {
  std::lock_guard guard(mutex_);
  for (const auto& lane_id : worker.lanes) {
    auto it = lanes_.find(lane_id);
    if (it == lanes_.end() || !open_for_claims(it->second)) continue;
    for (const auto& [name, state] : it->second.queues)
      if (core::can_serve(worker, *state.queue)) return true;
  }
  return false;
}

bool Directory::doubts(const std::vector<std::string>& lanes) {
  std::lock_guard guard(mutex_);
  bool any = false;
  for (const auto& lane_id : lanes)
    if (auto it = lanes_.find(lane_id); it != lanes_.end()) any |= std::exchange(it->second.doubtful, false);
  return any;
}

bool Directory::is_known(const LaneEntry& entry) const {
  return entry.refreshed_at != kNever &&
         std::max(entry.refreshed_at, entry.lane_known_at) >= runtime_.steady_us() - kSecond;
}

bool Directory::knows(const std::vector<std::string>& lanes) {
  std::lock_guard guard(mutex_);
  return std::all_of(lanes.begin(), lanes.end(), [&](const std::string& lane_id) {
    auto it = lanes_.find(lane_id);
    return it != lanes_.end() && is_known(it->second);
  });
}

bool Directory::hands_out(const std::string& lane_id) {
  std::lock_guard guard(mutex_);
  auto it = lanes_.find(lane_id);
  return it != lanes_.end() && is_known(it->second) && open_for_claims(it->second);
}

std::optional<LaneState> Directory::lane_state(const std::string& lane_id) {
  std::lock_guard guard(mutex_);
  auto it = lanes_.find(lane_id);
  if (it == lanes_.end() || !it->second.lane || runtime_.steady_us() - it->second.lane_known_at > kSecond)
    return std::nullopt;
  return it->second.lane->lane_state;
}

std::vector<std::string> Directory::busy_lanes() {
  std::lock_guard guard(mutex_);
  const SteadyUs now = runtime_.steady_us();
  std::vector<std::string> busy;
  for (const auto& [lane_id, entry] : lanes_)
    if (now - entry.claimed_at < kBusyFor) busy.push_back(lane_id);
  return busy;
}

void Directory::claimed_from(const std::vector<std::string>& lanes) {
  std::lock_guard guard(mutex_);
  const SteadyUs now = runtime_.steady_us();
  for (const auto& lane_id : lanes) lanes_[lane_id].claimed_at = now;
}

}  // namespace ff::engine
