// Claims that wait while others hold what stands in the queue.

#include "engine/stepped_engine.h"

namespace ff::engine {
namespace {

constexpr SteadyUs kSoon = 10'000;

class WaitingClaimsTest : public SteppedEngineTest {
 protected:
  WaitingClaimsTest() {
    auto opened = store->open_session();
    if (opened) other = std::move(*opened);
    EXPECT_TRUE(other) << opened.error().to_string();
  }

  /// Another batch takes up to that many, and has not decided yet whether it keeps them.
  std::size_t others_take(std::uint32_t count) {
    EXPECT_TRUE(other->begin());
    units.emplace_back();
    const store::TakeRow plan[] = {{core::make_queue("default", "default", "work", {}), 0, count}};
    std::vector<store::Taken> taken;
    EXPECT_TRUE(other->take(plan, units, taken));
    return taken.at(0).candidates.size();
  }

  void claim_and_wait(std::uint32_t max) {
    ClaimRequest request = claim_request(max);
    request.wait_ms = 60'000;
    engine->start(request, Call{}, [&](Result<std::vector<ClaimedTask>> tasks) {
      ASSERT_TRUE(tasks) << tasks.error().to_string();
      got = tasks->size();
    });
    settle();
  }

  void pass(SteadyUs time) {
    runtime.now_us += time;
    settle();
  }

  std::unique_ptr<store::Session> other;
  std::deque<store::Unit> units;
  std::optional<std::size_t> got;
};

TEST_F(WaitingClaimsTest, what_another_batch_held_and_let_go_is_found_soon) {
  submit(submissions(3));
  settle();
  ASSERT_EQ(others_take(3), 3U);
  claim_and_wait(5);
  ASSERT_EQ(engine->stats().claim_waiters, 1U);
  pass(kSoon);
  EXPECT_FALSE(got) << "still held";
  other->rollback();
  pass(kSoon);
  EXPECT_EQ(got, 3U);
}

TEST_F(WaitingClaimsTest, an_empty_queue_is_not_read_again_and_again) {
  submit(submissions(3));
  settle();
  ASSERT_EQ(claim(5).size(), 3U);
  claim_and_wait(5);
  const int looks = runtime.notified("ff-directory");
  for (int i = 0; i < 10; ++i) pass(kSoon);
  EXPECT_EQ(runtime.notified("ff-directory"), looks);
  EXPECT_FALSE(got);
}

}  // namespace
}  // namespace ff::engine
