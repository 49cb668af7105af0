#pragma once

// One run of a seed, for tests.

#include "sim_options.h"
#include "trace.h"

namespace ff::sim {

struct Outcome {
  std::optional<std::string> fault;  ///< the first thing that was wrong
  std::uint64_t hash = 0;            ///< of everything that happened
};

/// Lives through one simulated world. Should the whole program die in it, its last words are how to get there again.
Outcome run_once(const SimOptions& options, Trace& trace);

/// Runs a seed. When something is wrong, runs it again with words, and fails the test with what led to it.
void expect_good(std::uint64_t seed, store::MemoryCharacter character, Sightings& sightings);

/// The characters to run: all, or the one of FF_SIM_CHARACTER.
std::vector<store::MemoryCharacter> characters();

/// The number in an environment variable.
std::optional<std::uint64_t> number_from(const char* variable);

}  // namespace ff::sim
