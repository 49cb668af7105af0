#pragma once

#include <flowfabric/error.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace ff::worker {

/// A worker's place on the list of workers: when it says what, and what an answer means for the next time.
///
/// Only the worker's loop touches it. It makes no call and reads no clock: `due` says what to send, `answered` is told
/// what came of it. Nothing here ever stops the work: a list that cannot be reached is asked again, ever more slowly.
class Registration {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Millis = std::chrono::milliseconds;

  enum class Sign { none, enter, alive, leave };
  /// What has just changed and is worth a line in the log.
  enum class News { none, trouble, well_again };

  Registration(std::uint64_t liveness_ttl_ms, Millis backoff_first, Millis backoff_max, std::uint32_t seed)
      : liveness_ttl_(liveness_ttl_ms), backoff_first_(backoff_first), backoff_max_(backoff_max), random_(seed) {}

  /// What is to be sent now; it then counts as under way. One call at a time.
  Sign due(TimePoint now);
  /// When to look again. The end of time while a call is under way: its answer wakes the loop.
  TimePoint next() const;
  News answered(TimePoint now, Sign sign, const std::optional<Error>& error);

  /// The worker ends: nothing but the farewell is sent from here on, until `at_most` has gone by.
  void leave(TimePoint now, Millis at_most);
  /// The farewell was answered, or its time is over.
  bool has_left(TimePoint now) const { return leaving_ && (left_ || now >= leave_by_); }

 private:
  TimePoint next_sign(TimePoint now);

  const Millis liveness_ttl_;
  const Millis backoff_first_, backoff_max_;
  std::mt19937 random_;
  bool entered_ = false;
  bool in_trouble_ = false;
  bool under_way_ = false;
  bool leaving_ = false, left_ = false;
  std::uint32_t failures_ = 0;
  TimePoint next_{};
  TimePoint leave_by_{};
};

}  // namespace ff::worker
