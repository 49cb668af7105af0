#pragma once

#include <atomic>
#include <csignal>

namespace ff::worker {

/// Counts SIGTERM and SIGINT while it lives, and puts the old handlers back afterwards.
class SignalWatch {
 public:
  explicit SignalWatch(bool enabled);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  /// How many came since it was made.
  int count() const;

 private:
  bool enabled_;
  int before_ = 0;
  struct sigaction old_term_ {}, old_int_ {};
};

}  // namespace ff::worker
