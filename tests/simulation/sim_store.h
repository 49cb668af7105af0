#pragma once

// A memory store as one simulated process reaches it: over a line that fails.

#include "bugs.h"
#include "random.h"
#include "store/memory/memory_store.h"

namespace ff::sim {

/// How often things go wrong between a process and its store. All zero: a good line.
struct StoreFaults {
  double blocked = 0;        ///< a step has to be tried again although nobody holds anything
  double conflict = 0;       ///< the store says that somebody else was faster; nothing was committed
  double unavailable = 0;    ///< the store was not reached; nothing was committed
  double lost_commit = 0;    ///< committed, but the answer is lost: the process hears `store_unavailable`
  double lost_wake_up = 0;   ///< a foreign commit is not announced
  double reader = 0;         ///< a read fails
};

/// Wraps a memory store of a shared data set. `faults` is read at each call, so that it can be switched off later.
class SimStore final : public store::Store, private store::ForeignWatcher {
 public:
  SimStore(std::unique_ptr<store::MemoryStore> inner, const StoreFaults& faults, Bug bug, Random random);
  ~SimStore() override;

  store::StoreInfo info() override { return inner_->info(); }
  store::StoreTraits traits() const override { return inner_->traits(); }
  Result<core::Dataset> adopt_dataset(const core::Dataset& proposed) override {
    return inner_->adopt_dataset(proposed);
  }
  Result<void> set_engine_version(const std::string& version) override { return inner_->set_engine_version(version); }
  Result<std::unique_ptr<store::Session>> open_session() override;
  Result<std::unique_ptr<store::Reader>> open_reader() override;
  void watch(store::ForeignWatcher* watcher) override;
  void set_watchful(bool watchful) override { inner_->set_watchful(watchful); }

  /// Whether one of its sessions holds what other processes may be waiting for.
  bool in_transaction() const { return transactions_ > 0; }

 private:
  class FaultySession;
  class FaultyReader;
  void foreign_commit() override;

  std::unique_ptr<store::MemoryStore> inner_;
  const StoreFaults& faults_;
  Bug bug_;
  Random random_;
  store::ForeignWatcher* watcher_ = nullptr;
  int transactions_ = 0;
};

}  // namespace ff::sim
