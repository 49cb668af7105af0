#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ff::api {

/// Tokens that fill up at a steady rate. Reads no clock; not thread-safe.
class TokenBucket {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Millis = std::chrono::milliseconds;

  TokenBucket(double per_second, double burst, TimePoint now)
      : per_second_(per_second), burst_(burst), tokens_(burst), filled_at_(now) {}

  /// How long until there is a token; 0: there is one.
  Millis until_next(TimePoint now) {
    fill(now);
    if (tokens_ >= 1 - kGrain) return Millis(0);
    return Millis(static_cast<Millis::rep>(std::ceil((1 - kGrain - tokens_) / per_second_ * 1'000)));
  }
  /// Takes one, or has the next that comes: the balance may be below zero.
  void take(TimePoint now) {
    fill(now);
    tokens_ -= 1;
  }
  /// Whether it stands as if it had never been used.
  bool is_full(TimePoint now) const { return filled(now) >= burst_ - kGrain; }

 private:
  /// What sums of fractions may be off: a token that lacks only this is there.
  static constexpr double kGrain = 1e-6;

  double filled(TimePoint now) const {
    const std::chrono::duration<double> gone = std::max(now - filled_at_, TimePoint::duration::zero());
    return std::min(burst_, tokens_ + gone.count() * per_second_);
  }
  void fill(TimePoint now) {
    tokens_ = filled(now);
    filled_at_ = std::max(filled_at_, now);
  }

  double per_second_, burst_, tokens_;
  TimePoint filled_at_;
};

}  // namespace ff::api
