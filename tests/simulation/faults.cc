#include "faults.h"

namespace ff::sim {
namespace {

constexpr SteadyUs kMs = 1'000;

}  // namespace

Saboteur::Saboteur(World& world, Scheduler& scheduler, Random random) : world_(world), random_(random) {
  turn_ = scheduler.add("saboteur", nullptr, *this);
}

SteadyUs Saboteur::step() {
  if (world_.at_peace()) return kNever;
  const SteadyUs now = world_.now_us();
  for (auto& process : world_.processes()) {
    Absence& absence = absences_[process->number()];
    if (absence.restart_at <= now) {
      absence.restart_at = kNever;
      world_.restart(*process);
    }
    if (absence.resume_at <= now) {
      absence.resume_at = kNever;
      process->pause(false);
      world_.disturbed();
      world_.trace().note("        ~ p{} goes on", process->number());
    }
  }
  strike();
  // Turns of a millisecond hit a batch between two of its stages; longer ones let the world recover in between.
  return now + (random_.chance(0.5) ? random_.between(0, 2 * kMs) : random_.between(50 * kMs, 1'500 * kMs));
}

void Saboteur::look_inside() {
  for (auto& process : world_.processes()) {
    if (process->doom == Process::Doom::none || !process->in_transaction() || !random_.chance(0.3)) continue;
    const auto doom = std::exchange(process->doom, Process::Doom::none);
    if (world_.at_peace()) continue;
    if (doom == Process::Doom::crash)
      crash(*process);
    else
      pause(*process);
  }
}

void Saboteur::crash(Process& process) {
  Absence& absence = absences_[process.number()];
  absence.resume_at = kNever;
  absence.restart_at = world_.now_us() + random_.between(1 * kMs, 5'000 * kMs);
  world_.crash(process);
}

void Saboteur::pause(Process& process) {
  // A process that is stopped while it holds the store holds up all others; no operator lets that last.
  const bool inside = process.in_transaction();
  const bool holds = inside && world_.options().character != store::MemoryCharacter::optimistic;
  const SteadyUs length = holds ? random_.between(1 * kMs, 20 * kMs) : random_.between(10 * kMs, 12'000 * kMs);
  absences_[process.number()].resume_at = world_.now_us() + length;
  process.pause(true);
  world_.trace().note("        ~ p{} stops for {} ms", process.number(), length / kMs);
  world_.trace().saw("a process was stopped{}", inside ? " inside a transaction" : "");
}

void Saboteur::strike() {
  const SimOptions& options = world_.options();
  Process& process = *world_.processes()[random_.below(world_.processes().size())];
  if (process.is_up() && random_.chance(options.crash)) {
    if (random_.chance(0.5))
      process.doom = Process::Doom::crash;
    else
      crash(process);
  } else if (process.is_up() && !process.is_paused() && random_.chance(options.pause)) {
    if (random_.chance(0.5))
      process.doom = Process::Doom::pause;
    else
      pause(process);
  } else if (random_.chance(options.clock_jump)) {
    world_.move_clock(random_.between(10, 20'000));
  } else if (random_.chance(options.clock_back)) {
    world_.move_clock(-random_.between(1, 3'000));
  } else if (random_.chance(options.time_jump)) {
    world_.jump(random_.between(10 * kMs, 20'000 * kMs));
  }
}

}  // namespace ff::sim
