// The checks themselves: each bug on purpose is noticed, and for the right reason.

#include "run.h"

#include <gmock/gmock.h>

namespace ff::sim {
namespace {

using store::MemoryCharacter;

struct Case {
  Bug bug;
  MemoryCharacter character;
  std::string words;  ///< a regular expression that fits what is said of it
};
void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c.bug); }

/// A busy world in which nothing else goes wrong.
SimOptions calm(std::uint64_t seed, const Case& c) {
  SimOptions options = options_for(seed, c.character);
  options.processes = 2;
  options.clients = 3;
  options.workers = 3;
  options.store = {};
  options.crash = options.pause = options.clock_jump = options.clock_back = options.time_jump = 0;
  options.queue_max = 50'000;
  options.waiters_max = 10'000;
  options.bug = c.bug;
  return options;
}

class Bugs : public ::testing::TestWithParam<Case> {};

TEST_P(Bugs, are_noticed) {
  constexpr std::uint64_t kSeeds = 20;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Trace trace(false);
    const Outcome outcome = run_once(calm(seed, GetParam()), trace);
    if (!outcome.fault) continue;
    EXPECT_THAT(*outcome.fault, ::testing::ContainsRegex(GetParam().words));
    return;
  }
  FAIL() << "not within " << kSeeds << " runs";
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, Bugs,
    ::testing::Values(
        Case{Bug::forgets_commit, MemoryCharacter::serial, "acknowledged, but|never issued|was not"},
        Case{Bug::forgets_record, MemoryCharacter::locking, "nothing has changed|by its record"},
        Case{Bug::forgets_completion, MemoryCharacter::serial, "terminal by its record, open by its events"},
        Case{Bug::doubles_completion, MemoryCharacter::locking, "a second completion event"},
        Case{Bug::forgets_index, MemoryCharacter::serial, "the queues are not those of the records"},
        Case{Bug::forgets_event_index, MemoryCharacter::optimistic, "events by execution are not those of the log"},
        Case{Bug::undoes_lease, MemoryCharacter::serial, "which was never issued"},
        Case{Bug::ignores_versions, MemoryCharacter::optimistic, "."},
        Case{Bug::turns_time_back, MemoryCharacter::locking, "time ran backwards|before"},
        Case{Bug::mixes_up_payloads, MemoryCharacter::serial, "payload of .* is not its own"},
        Case{Bug::hides_queues, MemoryCharacter::locking, "waits for a worker since .*waits for work"},
        Case{Bug::never_sweeps, MemoryCharacter::serial, "of peace: .* has not ended"}),
    [](const auto& test) { return std::string(name_of(test.param.bug)); });

TEST(BugsNone, without_one_nothing_is_noticed) {
  for (auto character : {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic})
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      Trace trace(false);
      EXPECT_EQ(run_once(calm(seed, {Bug::none, character, ""}), trace).fault, std::nullopt);
    }
}

}  // namespace
}  // namespace ff::sim
