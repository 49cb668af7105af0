#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace ff::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

/// Durations in microseconds, and what they come to.
class Samples {
 public:
  void add(Clock::duration took);
  /// The value that a share `part` of all samples does not exceed; 0 without samples.
  std::uint64_t quantile(double part) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint32_t> us_;
};

/// Time that was spent on so many executions.
struct Spent {
  double executions = 0;
  double seconds = 0;

  void add(std::uint64_t count, Clock::time_point since) {
    executions += static_cast<double>(count);
    seconds += seconds_since(since);
  }
  std::optional<double> per_s() const { return seconds > 0 ? std::optional(executions / seconds) : std::nullopt; }
};

}  // namespace ff::bench
