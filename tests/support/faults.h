#pragma once

#include "support/store_under_test.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>

namespace ff::test {

/// What goes wrong between an engine and its store. The test changes it while the engine runs. Thread-safe.
class Faults {
 public:
  /// The next saves fail as if somebody else had changed the records; -1: all of them.
  std::atomic<int> conflicts = 0;
  /// The next looks of the sweeps at the clocks throw.
  std::atomic<int> crashes = 0;
  /// The store does not tell of foreign commits.
  std::atomic<bool> deaf = false;
  /// Saves that reached the store.
  std::atomic<int> saves = 0;

  /// Batches that want to load this execution fail with a fault of the store.
  void break_execution(const ExecutionId& id);
  void mend_executions();
  bool is_broken(const ExecutionId& id) const;

  /// While held, the next batch waits before it begins, and whatever is called meanwhile becomes one batch after it.
  void hold();
  void release();
  /// Whether a batch is waiting.
  bool holds_one();

  void wait_while_held();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<ExecutionId> broken_;
  bool held_ = false;
  int waiting_ = 0;
};

/// Wraps stores with these faults.
Wrap with(std::shared_ptr<Faults> faults);

}  // namespace ff::test
