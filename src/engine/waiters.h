#pragma once

#include "engine/directory.h"

#include <flowfabric/calls.h>

#include <list>

namespace ff::engine {

/// A claim on its way: asked, and perhaps waiting for work.
struct PendingClaim {
  core::Claim claim;
  std::optional<ExecutionId> named;
  SteadyUs deadline = 0;
  std::uint64_t arrival = 0;  ///< its place among the waiters; kept when it tries again
  int empty_tries = 0;        ///< in a row, although work was announced
  bool inline_delivery = false;  ///< its callback only wakes a waiting thread
  bool parked = false;           ///< it has waited: there is little to do, and its caller should have it soon
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  core::Callback<core::LeasedTasks> callback;
};
using PendingClaimPtr = std::unique_ptr<PendingClaim>;

/// Claims that found nothing and wait. A new candidate wakes the oldest that can take it, not all of them.
class ClaimWaiters final : public Loop {
 public:
  ClaimWaiters(Runtime& runtime, std::uint32_t waiters_max) : runtime_(runtime), waiters_max_(waiters_max) {}

  void start() { runtime_.start("ff-waiters", *this, runner_); }
  void stop();

  /// Takes the claim in, or gives it back when there are too many or the waiters are closed.
  PendingClaimPtr park(PendingClaimPtr claim);
  /// The claims to be tried again because of this gain, oldest first.
  std::vector<PendingClaimPtr> wake(const std::vector<Directory::Gain>& gains);
  /// Waiters of a named execution that has changed.
  std::vector<PendingClaimPtr> wake(const ExecutionId& id);
  /// All waiters by name: behind a lost wake-up stands a poll.
  std::vector<PendingClaimPtr> take_named();
  /// Takes one out, if it is still parked.
  PendingClaimPtr take(std::uint64_t arrival);

  std::uint64_t next_arrival();
  std::size_t count();
  std::map<std::string, std::size_t> count_by_lane();
  /// The lanes that somebody waits for.
  std::vector<std::string> lanes();
  bool has_named();

  SteadyUs step() override;

 private:
  PendingClaimPtr remove(std::uint64_t arrival);

  Runtime& runtime_;
  std::uint32_t waiters_max_;
  std::mutex mutex_;
  bool closed_ = false;
  std::uint64_t arrivals_ = 0;
  std::map<std::uint64_t, PendingClaimPtr> parked_;
  std::unordered_map<std::string, std::set<std::uint64_t>> by_lane_;
  std::multimap<ExecutionId, std::uint64_t> by_name_;
  std::set<std::pair<SteadyUs, std::uint64_t>> deadlines_;
  std::unique_ptr<Runner> runner_;
};

/// Readers that wait for an execution to end, or to change at all.
class ChangeWaiters final : public Loop {
 public:
  /// Called once it has come to that, or may have, or the time is over.
  using Wake = std::move_only_function<void(bool time_over)>;

  ChangeWaiters(Runtime& runtime, std::uint32_t waiters_max) : runtime_(runtime), waiters_max_(waiters_max) {}
  void start() { runtime_.start("ff-changes", *this, runner_); }
  void stop();

  /// False when there are too many, or the waiters are closed.
  bool park(const ExecutionId& id, bool only_ends, SteadyUs deadline, Wake wake);
  void changed(const ExecutionId& id, bool ended);
  /// Something changed that this process did not do, or a poll is due: everybody looks again.
  void look_again();
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }

  SteadyUs step() override;

 private:
  struct Waiter {
    bool only_ends;
    SteadyUs deadline;
    Wake wake;
  };
  Runtime& runtime_;
  std::uint32_t waiters_max_;
  std::atomic<std::size_t> count_ = 0;  ///< of those that are parked
  std::mutex mutex_;
  bool closed_ = false;
  std::multimap<ExecutionId, Waiter> parked_;
  std::vector<Wake> ready_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace ff::engine
