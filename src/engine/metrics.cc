#include "engine/metrics.h"

#include "core/ops/claim.h"

#include <algorithm>

namespace ff::engine {
namespace {

/// Lanes that are shown by name.
constexpr std::size_t kLanesShown = 200;
/// Lanes that are counted by name; beyond, new ones are counted together.
constexpr std::size_t kLanesCounted = 10'000;
const std::string kOtherLanes = "other";

std::optional<AttemptEnd> end_of(const Attempt& attempt) {
  if (!attempt.outcome) return std::nullopt;
  switch (*attempt.outcome) {
    case AttemptOutcome::success: return AttemptEnd::ok;
    case AttemptOutcome::retry: return AttemptEnd::retry;
    case AttemptOutcome::failed: return AttemptEnd::error;
    case AttemptOutcome::cancelled: return AttemptEnd::cancelled;
    case AttemptOutcome::interrupted:
    case AttemptOutcome::expired: return AttemptEnd::timeout;
    case AttemptOutcome::lease_expired_reclaimable:
    case AttemptOutcome::interrupted_reclaimed: break;  // counted when somebody takes over
  }
  return std::nullopt;
}

/// Which kind of claim issued the last lease, also when it is over already.
std::size_t kind_of_lease(const core::ExecutionRecord& record) {
  if (record.lease) return static_cast<std::size_t>(core::lease_kind(record)) - 1;
  return record.attempt->attempt_type == AttemptType::reclaim ? 2 : 0;
}

}  // namespace

LaneMetrics& LaneMetrics::operator+=(const LaneMetrics& other) {
  for (std::size_t i = 0; i < claims.size(); ++i) claims[i] += other.claims[i];
  for (std::size_t i = 0; i < attempts.size(); ++i) attempts[i] += other.attempts[i];
  claim += other.claim;
  return *this;
}

LaneMetrics& Metrics::lane(const std::string& lane_id) {
  auto known = lanes_.find(lane_id);
  if (known != lanes_.end()) return known->second;
  return lanes_[lanes_.size() < kLanesCounted ? lane_id : kOtherLanes];
}

void Metrics::finished(std::span<const Finished> operations) {
  std::lock_guard guard(mutex_);
  for (const auto& done : operations) {
    auto known = operations_.find(done.operation);
    if (known == operations_.end()) known = operations_.emplace(done.operation, OperationMetrics{}).first;
    auto& by_code = known->second.by_code;
    auto code = std::find_if(by_code.begin(), by_code.end(), [&](const auto& item) { return item.first == done.code; });
    if (code == by_code.end()) code = by_code.emplace(done.code, 0).first;
    ++code->second;
    known->second.duration.add(done.seconds);
  }
}

void Metrics::batch(std::size_t operations, double seconds, std::uint64_t conflicts) {
  std::lock_guard guard(mutex_);
  others_.batch_sizes.add(static_cast<double>(operations));
  others_.commits.add(seconds);
  others_.conflicts += conflicts;
}

void Metrics::claimed(const std::string& lane_id, double seconds) {
  std::lock_guard guard(mutex_);
  lane(lane_id).claim.add(seconds);
}

void Metrics::committed(const std::deque<store::Unit>& units) {
  std::lock_guard guard(mutex_);
  for (const auto& unit : units) {
    if (unit.outcome != store::Unit::Outcome::committed) continue;
    auto& set = const_cast<core::WorkingSet&>(unit.set);  // tables are only read here
    for (const auto& event : set.events()) ++others_.events[static_cast<std::size_t>(event.kind)];
    for (const auto& slot : set.executions().slots()) {
      if (!slot.dirty || !slot.value || !slot.value->attempt) continue;
      const core::ExecutionRecord* before = slot.before.get();
      const std::uint64_t epoch = before ? before->counters.current_lease_epoch : 0;
      const bool leased = slot.value->counters.current_lease_epoch > epoch;
      const auto end = end_of(*slot.value->attempt);
      const bool ended = end && !(before && before->attempt && before->attempt->outcome == slot.value->attempt->outcome &&
                                  before->attempt->attempt_index == slot.value->attempt->attempt_index);
      if (!leased && !ended) continue;
      LaneMetrics& of = lane(slot.value->lane_id());
      if (leased) ++of.claims[kind_of_lease(*slot.value)];
      if (ended) ++of.attempts[static_cast<std::size_t>(*end)];
    }
    for (const auto& slot : set.attempts().slots()) {
      const core::ExecutionRecord* owner = slot.dirty && slot.value ? set.execution(slot.key.execution_id) : nullptr;
      if (owner && slot.value->outcome == AttemptOutcome::interrupted_reclaimed)
        ++lane(owner->lane_id()).attempts[static_cast<std::size_t>(AttemptEnd::timeout)];
    }
  }
}

MetricsSnapshot Metrics::snapshot() const {
  std::lock_guard guard(mutex_);
  MetricsSnapshot snapshot = others_;
  for (const auto& [name, metrics] : operations_) snapshot.operations.emplace(name, metrics);
  std::vector<const std::pair<const std::string, LaneMetrics>*> busiest;
  for (const auto& lane : lanes_) busiest.push_back(&lane);
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const auto* a, const auto* b) { return a->second.busyness() > b->second.busyness(); });
  for (std::size_t i = 0; i < busiest.size(); ++i)
    snapshot.lanes[i < kLanesShown ? busiest[i]->first : kOtherLanes] += busiest[i]->second;
  return snapshot;
}

}  // namespace ff::engine
