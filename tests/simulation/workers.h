#pragma once

#include "world.h"

namespace ff::sim {

/// Somebody who takes work and does with it whatever workers do, right or wrong: renews or forgets to, ends it in every
/// way, asks again after a lost answer, and comes back as a zombie with a handle that is no longer good.
///
/// In peace it becomes a good worker that takes everything and completes it.
class Worker final : public engine::Loop {
 public:
  Worker(World& world, Scheduler& scheduler, int number, Random random);
  SteadyUs step() override;

 private:
  struct Task {
    LeaseRef lease;
    std::string handle;
    std::optional<Act> tried;  ///< what it did last, and may do again when it heard nothing
  };

  void claim(Process& process);
  void claimed(const std::vector<ClaimedTask>& tasks);
  void work(Process& process, const Task& task, Act act);
  void send(Process& process, const Task& task, Act act);
  void forge(Process& process, const Task& task);
  Act next_act(const Task& task);
  /// The task is over for this worker; its handle is kept for mischief.
  void let_go(const LeaseRef& lease);
  ClaimRequest new_claim();

  World& world_;
  Random random_;
  std::string instance_;
  std::vector<Task> tasks_;
  std::deque<Task> old_tasks_;
  CallRef claim_call_;
  std::function<void()> cancel_claim_;
  bool claim_cancelled_ = false;
  SteadyUs claim_again_at_ = 0;  ///< it was told that there are too many
  std::optional<ClaimRequest> last_keyed_;
  std::unique_ptr<engine::Runner> turn_;
};

}  // namespace ff::sim
