#pragma once

#include "bugs.h"
#include "sim_runtime.h"
#include "sim_store.h"

#include <array>

namespace ff::sim {

/// What somebody outside may do; each seed gives each of them its own weight, so that runs differ in kind.
enum class Act : std::uint8_t {
  // clients
  submit,
  cancel,
  replay,
  change_priority,
  set_tags,
  revoke,
  operator_complete,
  operator_fail,
  remove,
  configure_lane,
  read,
  // workers
  claim,
  renew,
  progress,
  complete,
  fail,
  delay,
  wait_children,
  cancel_task,
  forget,  ///< stop caring about a task, but keep its handle
};
inline constexpr std::size_t kActs = 20;
std::string_view name_of(Act act);

/// Everything that makes one run different from another, drawn from its seed.
struct SimOptions {
  std::uint64_t seed = 0;
  store::MemoryCharacter character = store::MemoryCharacter::serial;

  int processes = 1;
  int clients = 2;
  int workers = 3;
  SteadyUs chaos_us = 60'000'000;  ///< how long things go wrong, in simulated time
  std::uint64_t chaos_steps_max = 60'000;

  /// The engines watch the store's clock, which then moves by hand and in jumps; else it runs by itself.
  bool watched_clock = false;
  bool slow_poll = false;  ///< one process that hardly polls: only its own wake-ups keep it going
  std::uint32_t executors = 0;
  std::uint32_t batch_max = 500;
  std::uint32_t queue_max = 50'000;
  std::uint32_t waiters_max = 10'000;
  std::uint64_t retention_ms = 120'000;
  std::uint64_t event_retention_ms = 86'400'000;
  bool renewal_events = false;

  std::array<std::uint32_t, kActs> weights{};
  double lost_reply = 0;   ///< the caller never hears the answer
  double repeat_call = 0;  ///< a call is made again although its answer was heard
  double zombie = 0;       ///< a worker uses a handle that it should have forgotten
  double inline_delivery = 0;
  StoreFaults store;
  double crash = 0;        ///< per turn of the saboteur, here and below
  double pause = 0;
  double clock_jump = 0;
  double clock_back = 0;
  double time_jump = 0;    ///< the whole machine sleeps for a while
  Bug bug = Bug::none;     ///< one that must be noticed
};

SimOptions options_for(std::uint64_t seed, store::MemoryCharacter character);
std::string_view name_of(store::MemoryCharacter character);
std::string describe(const SimOptions& options);

}  // namespace ff::sim
