#include "engine/lane_rates.h"

namespace ff::engine {
namespace {

constexpr SteadyUs kSecondUs = 1'000'000;
/// Lanes whose rates are kept; beyond, the counting starts anew.
constexpr std::size_t kLanesMax = 1'000;

struct Seen {
  const std::string* lane_id;
  std::uint64_t claims = 0, completions = 0;
};

}  // namespace

void LaneRates::committed(const std::deque<store::Unit>& units, SteadyUs now) {
  std::vector<Seen> seen;
  auto of_lane = [&](const std::string& lane_id) -> Seen& {
    for (auto& lane : seen)
      if (lane.lane_id == &lane_id || *lane.lane_id == lane_id) return lane;
    return seen.emplace_back(Seen{&lane_id});
  };
  for (const auto& unit : units) {
    if (unit.outcome != store::Unit::Outcome::committed) continue;
    for (const auto& slot : const_cast<core::WorkingSet&>(unit.set).executions().slots()) {
      if (!slot.dirty || !slot.value) continue;
      const std::uint64_t epoch = slot.before ? slot.before->counters.current_lease_epoch : 0;
      const bool claimed = slot.value->counters.current_lease_epoch > epoch;
      const bool ended = slot.value->is_terminal() && !(slot.before && slot.before->is_terminal());
      if (!claimed && !ended) continue;
      Seen& lane = of_lane(slot.value->lane_id());
      lane.claims += claimed ? 1 : 0;
      lane.completions += ended ? 1 : 0;
    }
  }
  if (seen.empty()) return;
  const std::int64_t second = now / kSecondUs;
  std::lock_guard guard(mutex_);
  if (lanes_.size() >= kLanesMax) lanes_.clear();
  for (const auto& lane : seen) {
    Second& at = lanes_[*lane.lane_id][static_cast<std::size_t>(second % kSeconds)];
    if (at.second != second) at = {second, 0, 0};
    at.claims += lane.claims;
    at.completions += lane.completions;
  }
}

LaneRates::Rates LaneRates::of(const std::string& lane_id, SteadyUs now) {
  const std::int64_t second = now / kSecondUs;
  std::lock_guard guard(mutex_);
  auto lane = lanes_.find(lane_id);
  if (lane == lanes_.end()) return {};
  Rates rates;
  for (const auto& at : lane->second) {
    if (at.second < 0 || at.second <= second - kSeconds) continue;
    rates.claims_per_s += static_cast<double>(at.claims);
    rates.completions_per_s += static_cast<double>(at.completions);
  }
  rates.claims_per_s /= kSeconds;
  rates.completions_per_s /= kSeconds;
  return rates;
}

}  // namespace ff::engine
