#include "engine/refresher.h"

namespace ff::engine {
namespace {

/// Commits of others may come by the hundred; the directory is re-read at most this often because of them.
constexpr SteadyUs kAgainPauseUs = 10'000;
/// A claim believes an empty directory that was read this recently.
constexpr SteadyUs kFreshUs = 20'000;
/// How often waiting claims look again when no claim trusts the directory.
constexpr SteadyUs kDistrustfulPollUs = 1'000'000;

}  // namespace

void Engine::Refresher::stop() {
  std::vector<PendingClaimPtr> left;
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
    left.swap(asked_);
  }
  if (runner_) runner_->stop();
  for (auto& claim : left) claim->callback(core::LeasedTasks{});
}

void Engine::Refresher::ask(PendingClaimPtr claim) {
  {
    std::lock_guard guard(mutex_);
    if (!closed_) asked_.push_back(std::move(claim));
  }
  if (claim)
    claim->callback(core::LeasedTasks{});
  else
    runner_->notify();
}

void Engine::Refresher::look_again() {
  {
    std::lock_guard guard(mutex_);
    again_ = true;
  }
  if (runner_) runner_->notify();
}

void Engine::Refresher::refresh(const std::string& lane_id) {
  const std::uint64_t ticket = engine_.directory_.ticket();
  auto heads = reader_->queue_heads(lane_id, kHeadCountMax);
  auto lane = reader_->lane(lane_id);
  if (!heads || !lane) {
    const Error& error = heads ? lane.error() : heads.error();
    engine_.log_.warn("the queues of a lane cannot be read", {{"lane", lane_id}, {"error", error.message}});
    return;
  }
  auto gains = engine_.directory_.refreshed(lane_id, ticket, *heads, *lane);
  if (lane->has_value() && !core::hands_out((*lane)->lane_state)) return;
  engine_.retry(engine_.waiters_.wake(gains));
}

SteadyUs Engine::Refresher::step() {
  std::vector<PendingClaimPtr> asked;
  bool again = false;
  const SteadyUs now = engine_.runtime_.steady_us();
  {
    std::lock_guard guard(mutex_);
    asked.swap(asked_);
    if (again_ && now >= next_again_) {
      again = true;
      again_ = false;
      next_again_ = now + kAgainPauseUs;
    }
  }
  const SteadyUs interval = static_cast<SteadyUs>(engine_.options_.poll_interval_ms) * 1000;
  const SteadyUs fresh_since = now - (interval > 0 ? kFreshUs : 0);
  std::set<std::string> lanes;
  for (const auto& claim : asked)
    for (const auto& lane : claim->claim.worker.lanes)
      if (engine_.directory_.refreshed_at(lane) < fresh_since) lanes.insert(lane);
  const bool poll = now >= next_poll_;
  if (poll || again)
    for (auto& lane : engine_.waiters_.lanes()) lanes.insert(std::move(lane));
  if (poll) {
    next_poll_ = now + (interval > 0 ? interval : kDistrustfulPollUs);
    for (auto& lane : engine_.directory_.busy_lanes()) lanes.insert(std::move(lane));
  }
  for (const auto& lane : lanes) refresh(lane);
  if (poll || again) {
    engine_.changes_.look_again();
    engine_.retry(engine_.waiters_.take_named());
  }
  for (auto& claim : asked) {
    // A repeat with its key gets leases that stand in no queue any more: the store has to be asked in any case.
    if (claim->claim.claim_key || engine_.directory_.has_work(claim->claim.worker))
      engine_.submit_claim(std::move(claim));
    else
      engine_.no_work(std::move(claim));
  }
  std::lock_guard guard(mutex_);
  if (!asked_.empty()) return 0;
  return again_ ? std::min(next_poll_, next_again_) : next_poll_;
}

}  // namespace ff::engine
