#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace ff::test {

/// A program that a test started. It is killed, if it still runs, when this object goes.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&& other) noexcept;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Closes its standard input and waits for it; the exit code, or 128 + signal.
  int finish();
  /// Kills it with -9 and waits.
  void kill();

 private:
  int wait();

  pid_t pid_ = -1;
  int input_ = -1;
};

}  // namespace ff::test
