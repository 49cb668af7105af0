#include "engine/waiters.h"

namespace ff::engine {

std::uint64_t ClaimWaiters::next_arrival() {
  std::lock_guard guard(mutex_);
  return ++arrivals_;
}

PendingClaimPtr ClaimWaiters::park(PendingClaimPtr claim) {
  {
    std::lock_guard guard(mutex_);
    if (closed_ || parked_.size() >= waiters_max_) return claim;
    const std::uint64_t arrival = claim->arrival;
    claim->parked = true;
    deadlines_.emplace(claim->deadline, arrival);
    if (claim->named)
      by_name_.emplace(*claim->named, arrival);
    else
      for (const auto& lane : claim->claim.worker.lanes) by_lane_[lane].insert(arrival);
    parked_.emplace(arrival, std::move(claim));
  }
  if (runner_) runner_->notify();
  return nullptr;
}

PendingClaimPtr ClaimWaiters::remove(std::uint64_t arrival) {
  auto it = parked_.find(arrival);
  if (it == parked_.end()) return nullptr;
  PendingClaimPtr claim = std::move(it->second);
  parked_.erase(it);
  deadlines_.erase({claim->deadline, arrival});
  if (claim->named) {
    auto [from, to] = by_name_.equal_range(*claim->named);
    for (auto named = from; named != to; ++named)
      if (named->second == arrival) {
        by_name_.erase(named);
        break;
      }
  } else {
    for (const auto& lane : claim->claim.worker.lanes) {
      auto by_lane = by_lane_.find(lane);
      if (by_lane == by_lane_.end()) continue;
      by_lane->second.erase(arrival);
      if (by_lane->second.empty()) by_lane_.erase(by_lane);
    }
  }
  return claim;
}

std::vector<PendingClaimPtr> ClaimWaiters::wake(const std::vector<Directory::Gain>& gains) {
  std::vector<PendingClaimPtr> woken;
  std::lock_guard guard(mutex_);
  for (const auto& gain : gains) {
    auto by_lane = by_lane_.find(gain.queue->lane_id);
    if (by_lane == by_lane_.end()) continue;
    std::vector<std::uint64_t> chosen;
    std::uint64_t covered = 0;
    for (std::uint64_t arrival : by_lane->second) {
      if (covered >= gain.count) break;
      const PendingClaim& claim = *parked_.at(arrival);
      if (!core::can_serve(claim.claim.worker, *gain.queue)) continue;
      chosen.push_back(arrival);
      covered += claim.claim.max;
    }
    for (std::uint64_t arrival : chosen) woken.push_back(remove(arrival));
  }
  return woken;
}

std::vector<PendingClaimPtr> ClaimWaiters::wake(const ExecutionId& id) {
  std::vector<PendingClaimPtr> woken;
  std::lock_guard guard(mutex_);
  std::vector<std::uint64_t> chosen;
  auto [from, to] = by_name_.equal_range(id);
  for (auto it = from; it != to; ++it) chosen.push_back(it->second);
  for (std::uint64_t arrival : chosen) woken.push_back(remove(arrival));
  return woken;
}

std::vector<PendingClaimPtr> ClaimWaiters::take_named() {
  std::vector<PendingClaimPtr> woken;
  std::lock_guard guard(mutex_);
  std::vector<std::uint64_t> chosen;
  for (const auto& [id, arrival] : by_name_) chosen.push_back(arrival);
  for (std::uint64_t arrival : chosen) woken.push_back(remove(arrival));
  return woken;
}

PendingClaimPtr ClaimWaiters::take(std::uint64_t arrival) {
  std::lock_guard guard(mutex_);
  return remove(arrival);
}

std::size_t ClaimWaiters::count() {
  std::lock_guard guard(mutex_);
  return parked_.size();
}

std::map<std::string, std::size_t> ClaimWaiters::count_by_lane() {
  std::lock_guard guard(mutex_);
  std::map<std::string, std::size_t> counts;
  for (const auto& [lane, waiters] : by_lane_) counts.emplace(lane, waiters.size());
  return counts;
}

std::vector<std::string> ClaimWaiters::lanes() {
  std::lock_guard guard(mutex_);
  std::vector<std::string> names;
  for (const auto& [lane, waiters] : by_lane_) names.push_back(lane);
  return names;
}

bool ClaimWaiters::has_named() {
  std::lock_guard guard(mutex_);
  return !by_name_.empty();
}

SteadyUs ClaimWaiters::step() {
  std::vector<PendingClaimPtr> over;
  SteadyUs next = kNever;
  {
    std::lock_guard guard(mutex_);
    const SteadyUs now = runtime_.steady_us();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) over.push_back(remove(deadlines_.begin()->second));
    if (!deadlines_.empty()) next = deadlines_.begin()->first;
  }
  for (auto& claim : over) claim->callback(core::LeasedTasks{});
  return next;
}

void ClaimWaiters::stop() {
  std::vector<PendingClaimPtr> left;
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
    while (!parked_.empty()) left.push_back(remove(parked_.begin()->first));
  }
  if (runner_) runner_->stop();
  for (auto& claim : left) claim->callback(core::LeasedTasks{});
}

// ---- waiting for a change -----------------------------------------------------------------------------------------

bool ChangeWaiters::park(const ExecutionId& id, bool only_ends, SteadyUs deadline, Wake wake) {
  {
    std::lock_guard guard(mutex_);
    if (closed_ || parked_.size() >= waiters_max_) return false;
    parked_.emplace(id, Waiter{only_ends, deadline, std::move(wake)});
    count_ = parked_.size();
  }
  if (runner_) runner_->notify();
  return true;
}

void ChangeWaiters::changed(const ExecutionId& id, bool ended) {
  // Whoever parks looks afterwards: a change that is not seen here is seen there.
  if (count_.load() == 0) return;
  {
    std::lock_guard guard(mutex_);
    auto [from, to] = parked_.equal_range(id);
    const std::size_t before = ready_.size();
    for (auto it = from; it != to;) {
      if (it->second.only_ends && !ended) {
        ++it;
        continue;
      }
      ready_.push_back(std::move(it->second.wake));
      it = parked_.erase(it);
    }
    if (ready_.size() == before) return;
    count_ = parked_.size();
  }
  if (runner_) runner_->notify();
}

void ChangeWaiters::look_again() {
  {
    std::lock_guard guard(mutex_);
    for (auto& [id, waiter] : parked_) ready_.push_back(std::move(waiter.wake));
    parked_.clear();
    count_ = 0;
  }
  if (runner_) runner_->notify();
}

SteadyUs ChangeWaiters::step() {
  std::vector<Wake> ready, over;
  SteadyUs next = kNever;
  {
    std::lock_guard guard(mutex_);
    ready.swap(ready_);
    const SteadyUs now = runtime_.steady_us();
    for (auto it = parked_.begin(); it != parked_.end();) {
      if (it->second.deadline <= now) {
        over.push_back(std::move(it->second.wake));
        it = parked_.erase(it);
      } else {
        next = std::min(next, it->second.deadline);
        ++it;
      }
    }
    count_ = parked_.size();
  }
  for (auto& wake : ready) wake(false);
  for (auto& wake : over) wake(true);
  return next;
}

void ChangeWaiters::stop() {
  std::vector<Wake> left;
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
    for (auto& [id, waiter] : parked_) left.push_back(std::move(waiter.wake));
    parked_.clear();
    count_ = 0;
    for (auto& wake : ready_) left.push_back(std::move(wake));
    ready_.clear();
  }
  if (runner_) runner_->stop();
  for (auto& wake : left) wake(true);
}

}  // namespace ff::engine
