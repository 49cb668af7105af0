#pragma once

#include "world.h"

namespace ff::sim {

/// The lanes, kinds, namespaces and capabilities that exist in a simulated world: few, so that everybody meets.
extern const std::vector<std::string> kLanes, kKinds, kNamespaces, kCapabilities;

/// Somebody who submits work, looks at it, and interferes as an operator may.
class Client final : public engine::Loop {
 public:
  Client(World& world, Scheduler& scheduler, int number, Random random);
  SteadyUs step() override;

 private:
  void act(Process& process);
  void submit(Process& process);
  void send(Process& process, Submission submission);
  void interfere(Process& process, Act act, const ExecutionId& id);
  void configure_lane(Process& process);
  void read(Process& process, const ExecutionId& id);
  Submission new_submission();
  Policy new_policy(Random& random);

  World& world_;
  Random random_;
  /// Submissions whose answer did not come: they are made again, with the same id or key.
  std::vector<Submission> again_;
  std::unique_ptr<engine::Runner> turn_;
};

}  // namespace ff::sim
