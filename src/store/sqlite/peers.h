#pragma once

#include "core/errors.h"

#include <chrono>
#include <string>

namespace ff::store::sqlite {

// Processes on one database know of each other by locks on an empty file beside it. The system drops such a lock when
// its process ends, however it ends.

/// Tells whether other processes have the same database open.
class Peers {
 public:
  ~Peers();
  Result<void> join(const std::string& database_path);
  bool others_present() const;

 private:
  int fd_ = -1;
};

/// Makes writers take turns. SQLite's write lock goes to whoever asks at the right moment, so a busy writer, which asks
/// again at once, could keep others out for seconds. Here each passes a second lock first and holds it until it has the
/// write lock: the one that waits is next.
class Turnstile {
 public:
  Turnstile() = default;
  Turnstile(const Turnstile&) = delete;
  ~Turnstile();

  Result<void> open(const std::string& database_path);
  /// Waits for a bounded time, then goes on without: a process that was stopped in here must not stop the others.
  void enter();
  void leave();

 private:
  int fd_ = -1;
  bool entered_ = false;
  std::chrono::steady_clock::time_point passed_by_until_{};
};

}  // namespace ff::store::sqlite
