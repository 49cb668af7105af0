// Which executor gets what: calls that belong together are written by one commit.

#include "engine/stepped_engine.h"

#include <algorithm>
#include <numeric>

namespace ff::engine {
namespace {

class ExecutorsTest : public SteppedEngineTest {
 protected:
  using Depths = std::vector<std::size_t>;

  /// How many operations wait in each executor, the most first.
  Depths waiting() {
    auto depths = engine->queue_depths();
    std::sort(depths.rbegin(), depths.rend());
    return depths;
  }
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
