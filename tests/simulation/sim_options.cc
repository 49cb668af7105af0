#include "sim_options.h"

namespace ff::sim {
namespace {

/// A rate that is zero in a part of the runs: a fault that always happens hides the others.
double rate(Random& random, double off, double max) {
  return random.chance(off) ? 0 : max * static_cast<double>(random.between(1, 100)) / 100;
}

}  // namespace

std::string_view name_of(Act act) {
  static constexpr std::string_view kNames[kActs] = {
      "submit", "cancel", "replay",   "change_priority", "set_tags", "revoke", "operator_complete",
      "operator_fail", "remove", "configure_lane", "read", "claim", "renew", "progress",
      "complete", "fail", "delay", "wait_children", "cancel_task", "forget"};
  return kNames[static_cast<std::size_t>(act)];
}

std::string_view name_of(store::MemoryCharacter character) {
  switch (character) {
    case store::MemoryCharacter::serial: return "serial";
    case store::MemoryCharacter::locking: return "locking";
    case store::MemoryCharacter::optimistic: return "optimistic";
  }
  return "?";
}

SimOptions options_for(std::uint64_t seed, store::MemoryCharacter character) {
  Random random(seed ^ (static_cast<std::uint64_t>(character) + 1) << 60);
  SimOptions o;
  o.seed = seed;
  o.character = character;
  o.processes = static_cast<int>(random.between(1, 3));
  o.clients = static_cast<int>(random.between(1, 4));
  o.workers = static_cast<int>(random.between(2, 5));
  o.chaos_us = random.between(20, 90) * 1'000'000;
  o.watched_clock = random.chance(0.25);
  o.slow_poll = o.processes == 1 && random.chance(0.5);
  o.executors = random.chance(0.5) ? 0 : static_cast<std::uint32_t>(random.between(1, 3));
  o.batch_max = random.chance(0.5) ? 500 : static_cast<std::uint32_t>(random.between(1, 8));
  o.queue_max = random.chance(0.8) ? 50'000 : static_cast<std::uint32_t>(random.between(4, 20));
  o.waiters_max = random.chance(0.8) ? 10'000 : static_cast<std::uint32_t>(random.between(1, 4));
  o.retention_ms = static_cast<std::uint64_t>(random.between(1, 120)) * 1'000;
  o.event_retention_ms = random.chance(0.5) ? 86'400'000 : static_cast<std::uint64_t>(random.between(10, 60)) * 1'000;
  o.renewal_events = random.chance(0.3);

  for (auto& weight : o.weights) weight = static_cast<std::uint32_t>(random.below(4));
  // Without these there is nothing to see.
  auto at_least = [&](Act act, std::uint32_t weight) {
    auto& have = o.weights[static_cast<std::size_t>(act)];
    have = std::max(have, weight);
  };
  at_least(Act::submit, 4);
  at_least(Act::claim, 1);
  at_least(Act::complete, 1);

  o.lost_reply = rate(random, 0.3, 0.3);
  o.repeat_call = rate(random, 0.3, 0.2);
  o.zombie = rate(random, 0.2, 0.3);
  o.inline_delivery = rate(random, 0.3, 1.0);
  o.store.blocked = rate(random, 0.6, 0.1);
  o.store.conflict = rate(random, 0.6, 0.05);
  o.store.unavailable = rate(random, 0.7, 0.02);
  o.store.lost_commit = rate(random, 0.7, 0.05);
  o.store.lost_wake_up = rate(random, 0.6, 1.0);
  o.store.reader = rate(random, 0.7, 0.05);
  o.crash = rate(random, 0.4, 0.2);
  o.pause = rate(random, 0.4, 0.3);
  o.clock_jump = rate(random, 0.5, 0.1);
  o.clock_back = rate(random, 0.8, 0.05);
  o.time_jump = rate(random, 0.6, 0.1);
  return o;
}

std::string describe(const SimOptions& o) {
  std::string weights;
  for (std::size_t i = 0; i < kActs; ++i) weights += fmt::format(" {}={}", name_of(static_cast<Act>(i)), o.weights[i]);
  return fmt::format(
      "seed {} character {}: {} processes, {} clients, {} workers, {} s of faults, executors {}, batch_max {}, "
      "queue_max {}, waiters_max {}, retention {} ms, events {} ms{}{}{}\n"
      "  lost replies {:.3f}, repeats {:.3f}, zombies {:.3f}, inline {:.2f}, store: blocked {:.3f} conflict {:.3f} "
      "unavailable {:.3f} lost commit {:.3f} lost wake-up {:.2f} reader {:.3f}\n"
      "  crash {:.3f}, pause {:.3f}, clock jump {:.3f}, clock back {:.3f}, time jump {:.3f}\n"
      "  weights:{}",
      o.seed, name_of(o.character), o.processes, o.clients, o.workers, o.chaos_us / 1'000'000, o.executors, o.batch_max,
      o.queue_max, o.waiters_max, o.retention_ms, o.event_retention_ms, o.watched_clock ? ", watched clock" : "",
      o.slow_poll ? ", slow poll" : "", o.renewal_events ? ", renewal events" : "", o.lost_reply, o.repeat_call,
      o.zombie, o.inline_delivery, o.store.blocked, o.store.conflict, o.store.unavailable, o.store.lost_commit,
      o.store.lost_wake_up, o.store.reader, o.crash, o.pause, o.clock_jump, o.clock_back, o.time_jump, weights);
}

}  // namespace ff::sim
