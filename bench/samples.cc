#include "bench/samples.h"

#include <algorithm>

namespace ff::bench {

void Samples::add(Clock::duration took) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  std::lock_guard guard(mutex_);
  us_.push_back(static_cast<std::uint32_t>(std::clamp<std::int64_t>(us, 0, UINT32_MAX)));
}

std::uint64_t Samples::quantile(double part) const {
  std::lock_guard guard(mutex_);
  if (us_.empty()) return 0;
  std::vector<std::uint32_t> sorted = us_;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

}  // namespace ff::bench
