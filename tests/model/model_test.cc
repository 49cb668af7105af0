// Domain T15, Executions T67: equal random histories give equal answers and equal records on every store.
//
// A run follows from its seed. FF_MODEL_SEED=<seed> plays that one run and no other.

#include "model/player.h"

#include <cstdlib>
#include <random>

namespace ff::test {
namespace {

constexpr int kSteps = 400;
constexpr int kStepsBetweenLooks = 50;
constexpr const char* kSeedVariable = "FF_MODEL_SEED";

/// What a run said, line by line.
std::vector<std::string> play(const StoreUnderTest& store, std::uint64_t seed) {
  Player player(store, seed);
  std::vector<std::string> lines;
  for (int step = 1; step <= kSteps; ++step) {
    lines.push_back(fmt::format("{}: {}", step, player.step()));
    if (step % kStepsBetweenLooks == 0)
      for (auto& line : player.everything()) lines.push_back(std::move(line));
  }
  return lines;
}

/// The run on the plainest store, which the others are compared with, itself included: a run that does not follow from
/// its seed shows there.
const std::vector<std::string>& reference(std::uint64_t seed) {
  static std::map<std::uint64_t, std::vector<std::string>> runs;
  auto [it, added] = runs.try_emplace(seed);
  if (added) it->second = play(store_under_test("memory_serial"), seed);
  return it->second;
}

/// Fixed ones, so that what was seen once is seen always, and fresh ones.
const std::vector<std::uint64_t>& seeds() {
  static const std::vector<std::uint64_t> all = [] {
    if (const char* given = std::getenv(kSeedVariable))
      return std::vector<std::uint64_t>{std::strtoull(given, nullptr, 10)};
    std::vector<std::uint64_t> drawn = {1, 2, 3, 4};
    std::random_device fresh;
    for (int i = 0; i < 2; ++i) drawn.push_back(fresh());
    return drawn;
  }();
  return all;
}

class Model : public ::testing::TestWithParam<StoreUnderTest> {};

}  // namespace

TEST_P(Model, T15_T67_equal_histories_give_equal_records) {
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE(fmt::format("replay with {}={}", kSeedVariable, seed));
    const auto& expected = reference(seed);
    const auto played = play(GetParam(), seed);
    const auto [one, other] = std::mismatch(expected.begin(), expected.end(), played.begin(), played.end());
    if (one == expected.end() && other == played.end()) continue;
    std::string before;
    for (auto it = std::max(expected.begin(), one - 8); it != one; ++it) before += *it + "\n";
    FAIL() << "after\n"
           << before << "the memory store said\n"
           << (one == expected.end() ? "nothing" : *one) << "\nthis one\n"
           << (other == played.end() ? "nothing" : *other);
  }
}

/// A run that is refused everything, or in which nothing ever ends, would compare nothing.
TEST(ModelRuns, reach_every_state_and_most_refusals) {
  std::string all;
  for (const std::uint64_t seed : {1, 2, 3, 4})
    for (const auto& line : reference(seed)) all += line + "\n";
  for (const char* word : {"\"waiting\"",
                           "\"delayed\"",
                           "\"active\"",
                           "\"resumable\"",
                           "\"completed\"",
                           "\"failed\"",
                           "\"cancelled\"",
                           "\"expired\"",
                           "lease_expired_reclaimable",
                           "interrupted_reclaimed",
                           "lease_revoked:",
                           "lease_expired:",
                           "stale_lease:",
                           "execution_not_active:",
                           "execution_not_found:",
                           "execution_not_terminal:",
                           "invalid_handle:",
                           "idempotency_conflict:",
                           "lane_not_accepting:",
                           "capability_mismatch:",
                           "execution_not_eligible:",
                           "max_replays_exhausted:",
                           "payload_too_large:",
                           "invalid_policy_json:",
                           "invalid_tag_key:",
                           "retry_scheduled",
                           "max_reclaims_exceeded",
                           "execution_deadline",
                           "attempt_timeout",
                           "resumed",
                           "reclaimed"})
    EXPECT_NE(all.find(word), std::string::npos) << word;
}

INSTANTIATE_TEST_SUITE_P(Stores, Model, ::testing::ValuesIn(stores_under_test()),
                         [](const auto& which) { return which.param.name; });

}  // namespace ff::test
