#pragma once

#include "world.h"

namespace ff::sim {

/// Whoever makes things go wrong: kills and stops processes, starts them again, and turns clocks.
class Saboteur final : public engine::Loop {
 public:
  Saboteur(World& world, Scheduler& scheduler, Random random);
  SteadyUs step() override;
  /// After every step: whoever is doomed may have gone where it hurts most.
  void look_inside();

 private:
  void strike();
  void crash(Process& process);
  void pause(Process& process);

  World& world_;
  Random random_;
  struct Absence {
    SteadyUs restart_at = kNever;
    SteadyUs resume_at = kNever;
  };
  std::map<int, Absence> absences_;
  std::unique_ptr<engine::Runner> turn_;
};

}  // namespace ff::sim
