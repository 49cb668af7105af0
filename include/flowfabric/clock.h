#pragma once

#include <flowfabric/ids.h>

#include <functional>
#include <mutex>
#include <vector>

namespace ff {

/// A clock that stands still until a program moves it: gives tests "24 hours later" at once, on any store.
/// Pass one in `OpenOptions::clock`; advancing it wakes the engines that use it. Thread-safe.
class ManualClock {
 public:
  explicit ManualClock(TimeMs start_ms = 1'700'000'000'000) : now_ms_(start_ms) {}

  TimeMs now_ms() const;
  /// Moves the clock forward and tells the engines that watch it.
  void advance(TimeMs by_ms);
  /// Sets the clock, forward or back.
  void set(TimeMs now_ms);

  /// Registers `moved` to be called after each change; returns a key for `unwatch`.
  int watch(std::function<void()> moved);
  void unwatch(int key);

 private:
  void tell();

  std::mutex tell_mutex_;  ///< held while watchers are called, so that none is called after `unwatch`
  mutable std::mutex mutex_;
  TimeMs now_ms_;
  int next_key_ = 1;
  std::vector<std::pair<int, std::function<void()>>> watchers_;
};

}  // namespace ff
