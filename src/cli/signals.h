#pragma once

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace ff::cli {

/// Signals that are waited for instead of interrupting. To be made before the first thread: threads inherit it.
class SignalQueue {
 public:
  explicit SignalQueue(std::initializer_list<int> signals);
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;

  /// The next of them; none when none came in time.
  std::optional<int> wait(std::int64_t at_most_ms) const;

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace ff::cli
