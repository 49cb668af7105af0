#pragma once

// Things to be done after a while. Passive: whoever has a clock and a thread says what time it is.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace ff::server {

/// Thread-safe.
class Timers {
 public:
  using Action = std::move_only_function<void()>;

  /// `steady_ms` is a clock that never goes back.
  explicit Timers(std::function<std::int64_t()> steady_ms) : steady_ms_(std::move(steady_ms)) {}

  void after(std::uint32_t ms, Action action);
  /// Does what is due, on this thread. To be called several times a second.
  void run_due();
  /// Forgets what is left; from now on nothing is taken.
  void close();
  std::size_t count();

 private:
  std::function<std::int64_t()> steady_ms_;
  std::mutex mutex_;
  bool closed_ = false;
  std::multimap<std::int64_t, Action> by_time_;
};

}  // namespace ff::server
