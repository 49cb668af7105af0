#include "server/health.h"

#include <fmt/format.h>

namespace ff::server {

void Health::booted() {
  std::lock_guard guard(mutex_);
  booted_ = true;
}

void Health::drain() {
  std::lock_guard guard(mutex_);
  draining_ = true;
}

bool Health::draining() const {
  std::lock_guard guard(mutex_);
  return draining_;
}

void Health::looked(const Result<FabricInfo>& info) {
  const std::int64_t now = steady_ms_();
  std::lock_guard guard(mutex_);
  if (!info) return;  // the last good look grows old
  last_good_ms_ = now;
  if (!first_seen_ms_) first_seen_ms_ = info->server_time_ms;
  late_sweeps_.clear();
  for (const auto& sweep : info->sweeps) {
    if (!sweep.enabled) continue;
    const TimeMs last = sweep.last_run_at_ms.value_or(*first_seen_ms_);
    const auto allowed = static_cast<TimeMs>(3 * sweep.interval_ms + kSweepSlackMs);
    if (info->server_time_ms - last > allowed)
      late_sweeps_.push_back(fmt::format("The sweep {} has not finished a run for {} ms.", sweep.sweep,
                                         info->server_time_ms - last));
  }
}

std::vector<std::string> Health::reasons() const {
  const std::int64_t now = steady_ms_();
  std::lock_guard guard(mutex_);
  std::vector<std::string> reasons;
  if (!booted_) reasons.emplace_back("The server is starting.");
  if (draining_) reasons.emplace_back("The server is shutting down.");
  if (!last_good_ms_ || now - *last_good_ms_ > kPingFreshMs)
    reasons.push_back(fmt::format("The store has not answered for {} ms.", kPingFreshMs));
  reasons.insert(reasons.end(), late_sweeps_.begin(), late_sweeps_.end());
  return reasons;
}

}  // namespace ff::server
