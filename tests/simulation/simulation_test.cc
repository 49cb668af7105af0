// Whole engines on a simulated machine: one seed, one history. How to run and replay: README.md.

#include "run.h"

#include <gmock/gmock.h>

#include <chrono>
#include <random>
#include <set>

namespace ff::sim {
namespace {

using store::MemoryCharacter;

constexpr std::uint64_t kKnownSeeds = 40;
constexpr std::uint64_t kFreshSeconds = 8;

TEST(Simulation, the_same_seed_gives_the_same_history) {
  for (auto character : characters())
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      Trace one(false), two(true);
      const Outcome a = run_once(options_for(seed, character), one);
      const Outcome b = run_once(options_for(seed, character), two);
      EXPECT_EQ(a.hash, b.hash) << "seed " << seed << " " << name_of(character);
      EXPECT_EQ(a.fault, b.fault);
    }
}

TEST(Simulation, different_seeds_give_different_histories) {
  std::set<std::uint64_t> hashes;
  for (auto character : characters())
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Trace trace(false);
      hashes.insert(run_once(options_for(seed, character), trace).hash);
    }
  EXPECT_EQ(hashes.size(), 3 * characters().size());
}

/// What has to come up in the known seeds: a simulation that never sees a lost lease proves nothing about lost leases.
constexpr std::string_view kMustBeSeen[] = {
    "a process died", "a process was stopped", "cancel ok", "claim ok", "complete ok", "complete execution_not_active",
    "configure_lane ok", "ended cancelled", "ended expired", "ended failed", "ended success", "fail ok", "gone deleted",
    "gone retired", "lease acquired ", "lease acquired claim_resumed", "lease expired lease_expired",
    "lease reclaimed lease_expired", "renew ok", "replay ok", "revoke ok", "submit ok"};

TEST(Simulation, Executions_T67_nothing_breaks_with_known_seeds) {
  Sightings sightings;
  for (auto character : characters())
    for (std::uint64_t seed = 1; seed <= kKnownSeeds && !HasFailure(); ++seed) expect_good(seed, character, sightings);
  for (const auto what : kMustBeSeen)
    EXPECT_TRUE(sightings.contains(std::string(what))) << "no run has seen '" << what << "'";
}

TEST(Simulation, Executions_T67_nothing_breaks_with_fresh_seeds) {
  Sightings sightings;
  if (const auto first = number_from("FF_SIM_SEED")) {
    for (auto seed = *first; seed < *first + number_from("FF_SIM_RUNS").value_or(1); ++seed)
      for (auto character : characters()) expect_good(seed, character, sightings);
    return;
  }
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(number_from("FF_SIM_SECONDS").value_or(kFreshSeconds));
  std::random_device device;
  // Short enough to be typed, many enough not to meet again.
  for (std::uint64_t seed = 1'000'000 + device() % 1'000'000'000; std::chrono::steady_clock::now() < until; ++seed)
    for (auto character : characters()) {
      expect_good(seed, character, sightings);
      if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace ff::sim
