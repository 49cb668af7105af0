// Which executor gets what: calls that belong together are written by one commit.

#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "support/manual_runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace ff::engine {
namespace {

/// An engine with three executors, which do nothing until they are stepped.
class ExecutorsTest : public ::testing::Test {
 protected:
  ExecutorsTest() {
    OpenOptions options;
    options.executors = 3;
    auto opened = Engine::open(std::make_unique<store::MemoryStore>(store::StoreOptions{}, store::MemoryCharacter::locking),
                               std::move(options), runtime);
    if (opened) engine = std::move(*opened);
    EXPECT_TRUE(engine) << opened.error().to_string();
    settle();
  }
  ~ExecutorsTest() override { engine->abandon(); }

  void settle() {
    constexpr int kRounds = 50;
    for (int round = 0; round < kRounds; ++round)
      for (Loop* loop : std::vector<Loop*>(runtime.loops)) loop->step();
  }

  std::vector<Submission> submissions(std::size_t count) {
    Submission one;
    one.execution_kind = "work";
    return std::vector<Submission>(count, one);
  }
  void submit(std::vector<Submission> requests) {
    engine->start(std::move(requests), Call{}, [&](std::size_t, const Result<Submitted>& submitted) {
      ASSERT_TRUE(submitted) << submitted.error().to_string();
      ++submitted_count;
    });
  }
  std::vector<ClaimedTask> claim(std::uint32_t max) {
    ClaimRequest request;
    request.worker_id = "pool";
    request.worker_instance_id = "one";
    request.lanes = {"default"};
    request.max = max;
    std::vector<ClaimedTask> got;
    engine->start(request, Call{}, [&](Result<std::vector<ClaimedTask>> tasks) {
      ASSERT_TRUE(tasks) << tasks.error().to_string();
      got = std::move(*tasks);
    });
    settle();
    return got;
  }
  /// How many operations wait in each executor, the most first.
  std::vector<std::size_t> waiting() {
    auto depths = engine->queue_depths();
    std::sort(depths.rbegin(), depths.rend());
    return depths;
  }

  using Depths = std::vector<std::size_t>;
  test::ManualRuntime runtime;
  std::unique_ptr<Engine> engine;
  std::size_t submitted_count = 0;
};

TEST_F(ExecutorsTest, what_one_call_submits_is_written_together) {
  submit(submissions(40));
  EXPECT_EQ(waiting(), (Depths{40, 0, 0}));
  submit(submissions(30));
  submit(submissions(20));
  EXPECT_EQ(waiting(), (Depths{40, 30, 20})) << "by whoever has least to do";
  settle();
  EXPECT_EQ(submitted_count, 90U);
}

TEST_F(ExecutorsTest, ids_that_the_caller_chose_have_their_own_places) {
  auto requests = submissions(60);
  for (std::size_t i = 0; i < requests.size(); ++i)
    requests[i].execution_id = ExecutionId{0, core::make_uuid7(1'000, i, i * 7919)};
  submit(std::move(requests));
  const auto depths = waiting();
  EXPECT_GT(depths.back(), 0U);
  EXPECT_EQ(std::accumulate(depths.begin(), depths.end(), std::size_t{0}), 60U);
}

TEST_F(ExecutorsTest, what_one_claim_got_stays_together) {
  submit(submissions(50));
  settle();
  auto tasks = claim(30);
  ASSERT_EQ(tasks.size(), 30U);
  std::size_t completed = 0;
  for (std::size_t i = 0; i < 20; ++i)
    engine->start(CompleteTask{tasks[i].handle, std::nullopt, std::nullopt}, Call{},
                  [&](const Result<Changed>& changed) { completed += changed ? 1 : 0; });
  EXPECT_EQ(waiting(), (Depths{20, 0, 0}));
  for (std::size_t i = 20; i < 30; ++i)
    engine->start(CancelExecution{tasks[i].execution.execution_id, "no longer wanted"}, Call{},
                  [&](const Result<Changed>& changed) { completed += changed ? 1 : 0; });
  EXPECT_EQ(waiting(), (Depths{30, 0, 0})) << "whoever calls";
  settle();
  EXPECT_EQ(completed, 30U);
}

}  // namespace
}  // namespace ff::engine
