#include "run.h"

#include "world.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace ff::sim {
namespace {

using store::MemoryCharacter;

constexpr std::size_t kTailLines = 400;

std::string how_to_replay(std::uint64_t seed, MemoryCharacter character) {
  return fmt::format("  FF_SIM_SEED={} FF_SIM_CHARACTER={} ff_simulation --gtest_filter='*fresh*'\n", seed,
                     name_of(character));
}

/// Which run is under way, for the case that the program itself dies. A signal handler can use nothing better.
char last_words[200] = "";

void say_and_die(int signal) {
  [[maybe_unused]] auto written = write(STDERR_FILENO, last_words, std::strlen(last_words));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void prepare_last_words(const SimOptions& options) {
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, say_and_die);
  const std::string words = "\nreplay with\n" + how_to_replay(options.seed, options.character);
  std::strncpy(last_words, words.c_str(), sizeof last_words - 1);
}

}  // namespace

Outcome run_once(const SimOptions& options, Trace& trace) {
  prepare_last_words(options);
  World world(options, trace);
  Outcome outcome;
  outcome.fault = world.run();
  outcome.hash = trace.hash();
  return outcome;
}

void expect_good(std::uint64_t seed, MemoryCharacter character, Sightings& sightings) {
  const SimOptions options = options_for(seed, character);
  Trace quiet(false);
  const Outcome outcome = run_once(options, quiet);
  for (const auto& [what, count] : quiet.sightings()) sightings[what] += count;
  const bool wordy = std::getenv("FF_SIM_TRACE") != nullptr;
  if (!outcome.fault && !wordy) return;

  Trace trace(true);
  const Outcome again = run_once(options, trace);
  const auto& lines = trace.lines();
  std::string tail;
  for (std::size_t i = wordy || lines.size() < kTailLines ? 0 : lines.size() - kTailLines; i < lines.size(); ++i)
    tail += lines[i] + '\n';
  if (!outcome.fault) {
    std::fputs(tail.c_str(), stdout);
    return;
  }
  ADD_FAILURE() << *outcome.fault << "\n\n"
                << describe(options) << "\n\nreplay with\n"
                << how_to_replay(seed, character)
                << (again.hash == outcome.hash ? "" : "(the second run went another way: it is not deterministic)\n")
                << "\nthe last steps:\n"
                << tail;
}

std::vector<MemoryCharacter> characters() {
  const char* wanted = std::getenv("FF_SIM_CHARACTER");
  std::vector<MemoryCharacter> chosen;
  for (auto character : {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic})
    if (!wanted || name_of(character) == wanted) chosen.push_back(character);
  return chosen;
}

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::optional(std::strtoull(text, nullptr, 10)) : std::nullopt;
}

}  // namespace ff::sim
