// Whole engines on a simulated machine: one seed, one history.
//
// FF_SIM_SEED and FF_SIM_CHARACTER replay one run; FF_SIM_SECONDS says how long to look for new ones.

#include "world.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

namespace ff::sim {
namespace {

using store::MemoryCharacter;

constexpr MemoryCharacter kCharacters[] = {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic};
constexpr std::uint64_t kFixedSeeds = 60;
constexpr int kFreshSeconds = 40;
constexpr std::size_t kTailLines = 400;

/// Which run is under way, for the case that the process itself dies.
char current_run[128] = "";

void say_and_die(int signal) {
  [[maybe_unused]] auto written = write(STDERR_FILENO, current_run, std::strlen(current_run));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void install_last_words() {
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, say_and_die);
}

Sightings sightings;

struct Outcome {
  std::optional<std::string> fault;
  std::uint64_t hash = 0;
};

Outcome run_once(std::uint64_t seed, MemoryCharacter character, Trace& trace) {
  const SimOptions options = options_for(seed, character);
  fmt::format_to_n(current_run, sizeof current_run - 1, "\nFF_SIM_SEED={} FF_SIM_CHARACTER={} ff_simulation{}", seed, name_of(character), '\n');
  World world(options, trace);
  Outcome outcome{world.run(), 0};
  outcome.hash = trace.hash();
  for (const auto& [what, count] : trace.sightings()) sightings[what] += count;
  return outcome;
}

/// Runs a seed; when something is wrong, runs it again with words and shows what led to it.
void expect_good(std::uint64_t seed, MemoryCharacter character) {
  Trace quiet(std::getenv("FF_SIM_TRACE") != nullptr);
  const Outcome outcome = run_once(seed, character, quiet);
  if (!outcome.fault) return;
  Trace trace(true);
  const Outcome again = run_once(seed, character, trace);
  std::string tail;
  const auto& lines = trace.lines();
  for (std::size_t i = lines.size() > kTailLines ? lines.size() - kTailLines : 0; i < lines.size(); ++i) tail += lines[i] + '\n';
  ADD_FAILURE() << *outcome.fault << "\n\n"
                << describe(options_for(seed, character)) << "\n\nreplay with\n  FF_SIM_SEED=" << seed
                << " FF_SIM_CHARACTER=" << name_of(character) << " ff_simulation\n"
                << (again.fault == outcome.fault ? "" : "(the second run did not fail the same way: the run is not deterministic)\n")
                << "\nthe last steps:\n" << tail;
}

std::optional<std::uint64_t> number_from(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::optional(std::strtoull(text, nullptr, 10)) : std::nullopt;
}

/// The characters to run: all, or the one that is asked for.
std::vector<MemoryCharacter> characters() {
  std::vector<MemoryCharacter> chosen;
  const char* wanted = std::getenv("FF_SIM_CHARACTER");
  for (auto character : kCharacters)
    if (!wanted || name_of(character) == wanted) chosen.push_back(character);
  return chosen;
}

TEST(Simulation, the_same_seed_gives_the_same_history) {
  install_last_words();
  const std::uint64_t first = number_from("FF_SIM_SEED").value_or(1);
  const std::uint64_t last = number_from("FF_SIM_SEED").value_or(5);
  for (auto character : characters())
    for (auto seed = first; seed <= last; ++seed) {
      Trace one(false), two(true);
      const Outcome a = run_once(seed, character, one);
      const Outcome b = run_once(seed, character, two);
      EXPECT_EQ(a.hash, b.hash) << "seed " << seed << " " << name_of(character);
      EXPECT_EQ(a.fault, b.fault);
    }
}

TEST(Simulation, different_seeds_give_different_histories) {
  std::set<std::uint64_t> hashes;
  for (auto character : kCharacters)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Trace trace(false);
      hashes.insert(run_once(seed, character, trace).hash);
    }
  EXPECT_EQ(hashes.size(), 9U);
}

TEST(Simulation, Executions_T67_nothing_breaks_with_known_seeds) {
  install_last_words();
  if (auto seed = number_from("FF_SIM_SEED")) {
    for (auto character : characters()) expect_good(*seed, character);
    return;
  }
  for (auto character : characters())
    for (std::uint64_t seed = 1; seed <= kFixedSeeds && !HasFailure(); ++seed) expect_good(seed, character);
  for (const auto& [what, count] : sightings) std::printf("%8lu  %s\n", count, what.c_str());
}

TEST(Simulation, nothing_breaks_with_fresh_seeds) {
  install_last_words();
  if (auto seed = number_from("FF_SIM_SEED")) {
    for (auto character : characters()) expect_good(*seed, character);
    return;
  }
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::seconds(number_from("FF_SIM_SECONDS").value_or(kFreshSeconds));
  std::random_device device;
  std::uint64_t seed = (static_cast<std::uint64_t>(device()) << 32 | device()) >> 16;
  int runs = 0;
  while (std::chrono::steady_clock::now() < until && !HasFailure()) {
    ++seed;
    for (auto character : characters()) expect_good(seed, character);
    ++runs;
  }
  std::printf("%d fresh seeds\n", runs);
}

}  // namespace
}  // namespace ff::sim
