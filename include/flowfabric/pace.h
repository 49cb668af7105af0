#pragma once

#include <chrono>
#include <functional>
#include <stop_token>

namespace ff {

/// The time as middleware sees it. What is unset is the machine's; tests give their own.
struct Pace {
  using TimePoint = std::chrono::steady_clock::time_point;

  std::function<TimePoint()> now;
  /// Lets that much time go by. False: told to stop before that.
  std::function<bool(std::chrono::milliseconds, const std::stop_token&)> wait;
};

}  // namespace ff
