// 05, section 4: claims whose plan is behind the times.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Scheduling, T33_a_directory_that_is_behind_is_made_good) {
  auto faults = std::make_shared<Faults>();
  faults->deaf = true;
  restart({.poll_interval_ms = 3'600'000}, with(faults));
  EXPECT_THAT(claim(1), IsEmpty());  // this process has read the lane, and goes by its own commits from now on
  Opened other = open_another();
  for (const char* kind : {"taken", "left"})
    for (int i = 0; i < 5; ++i) {
      Submission submission = job();
      submission.execution_kind = kind;
      submit(submission);
    }
  // Another process empties the queue that stands first in the plan of this one.
  ClaimRequest others = request("w2", 5);
  others.kinds = {"taken"};
  ASSERT_TRUE(eventually([&] {
    auto tasks = must(other.fabric.claim(others));
    others.max -= static_cast<std::uint32_t>(tasks.size());
    return others.max == 0;
  }));
  EXPECT_THAT(claim(5), SizeIs(5)) << "topped up from the queue that is left";
}

TEST_P(InProcess, T35_cancelled_before_its_lease) {
  auto faults = std::make_shared<Faults>();
  restart({.sweeps = false, .executors = 1}, with(faults));
  EXPECT_THAT(claim(1), IsEmpty());  // it knows the lane
  const auto cancelled = submit(), next = submit(), other = submit();
  // While a batch is held up, the cancel and the claim that planned with the cancelled one become one batch.
  faults->hold();
  std::atomic<int> answered = 0;
  fabric.cancel({.execution_id = other}, [&](const auto&) { ++answered; });
  ASSERT_TRUE(eventually([&] { return faults->holds_one(); }));
  std::vector<ClaimedTask> tasks;
  fabric.claim(request(), [&](Result<std::vector<ClaimedTask>> result) {
    tasks = must(std::move(result));
    ++answered;
  });
  fabric.cancel({.execution_id = cancelled}, [&](const auto&) { ++answered; });
  faults->release();
  ASSERT_TRUE(eventually([&] { return answered == 3; }));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].execution.execution_id, next) << "the next one takes its place";
  EXPECT_EQ(state_of(cancelled), PublicState::cancelled);
  EXPECT_THAT(attempts(cancelled), IsEmpty());
}

}  // namespace ff::test
