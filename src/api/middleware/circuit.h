#pragma once

#include <chrono>
#include <cstdint>

namespace ff::api {

/// Counts failures in a row and keeps callers away for a while when there were too many. Reads no clock; not
/// thread-safe.
///
///     closed --failures in a row--> open --its time is over--> one trial --failure--> open
///                                                                        --else-----> closed
class Circuit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Millis = std::chrono::milliseconds;

  enum class Verdict { success, failure, neither };
  enum class Pass { free, trial, no };

  Circuit(std::uint32_t failures_max, Millis open_for) : failures_max_(failures_max), open_for_(open_for) {}

  /// Whether one more may go through now. A refused one changes nothing; one that may has to be `ended`.
  Pass ask(TimePoint now) {
    if (state_ == State::closed) return Pass::free;
    if (state_ == State::trial || now < opens_until_) return Pass::no;
    state_ = State::trial;
    return Pass::trial;
  }
  void ended(TimePoint now, Pass pass, Verdict verdict) {
    if (pass == Pass::trial) {
      if (verdict == Verdict::failure) return open(now);
      state_ = State::closed;
      failures_ = 0;
      return;
    }
    // Who began before it opened has nothing to say about it now.
    if (state_ != State::closed || verdict == Verdict::neither) return;
    failures_ = verdict == Verdict::failure ? failures_ + 1 : 0;
    if (failures_ >= failures_max_) open(now);
  }
  /// How long it stays open; 0 while a trial runs or when it is closed.
  Millis left(TimePoint now) const {
    if (state_ != State::open || now >= opens_until_) return Millis(0);
    return std::chrono::ceil<Millis>(opens_until_ - now);
  }

 private:
  enum class State { closed, open, trial };

  void open(TimePoint now) {
    state_ = State::open;
    opens_until_ = now + open_for_;
  }

  std::uint32_t failures_max_;
  Millis open_for_;
  State state_ = State::closed;
  std::uint32_t failures_ = 0;
  TimePoint opens_until_{};
};

}  // namespace ff::api
