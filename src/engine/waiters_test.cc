#include "engine/waiters.h"

#include "support/manual_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const ExecutionId kFirst{1, *Uuid::parse("550e8400-e29b-41d4-a716-446655440000")};
const ExecutionId kOther{2, *Uuid::parse("550e8400-e29b-41d4-a716-446655440001")};

class ClaimWaitersTest : public ::testing::Test {
 protected:
  ClaimWaitersTest() { waiters.start(); }

  /// A claim that waits for 10 s; its name is noted when it is answered.
  PendingClaimPtr claim(std::string name, std::uint32_t max = 1, std::vector<std::string> lanes = {"default"}) {
    auto pending = std::make_unique<PendingClaim>();
    pending->claim.worker.lanes = std::move(lanes);
    pending->claim.max = max;
    pending->deadline = runtime.now_us + 10'000'000;
    pending->arrival = waiters.next_arrival();
    pending->callback = [this, name](Result<core::LeasedTasks> tasks) {
      EXPECT_TRUE(tasks && tasks->empty());
      answered.push_back(name);
    };
    names[pending->arrival] = name;
    return pending;
  }
  PendingClaimPtr named(std::string name, const ExecutionId& id) {
    auto pending = claim(std::move(name));
    pending->named = id;
    return pending;
  }
  std::vector<std::string> of(const std::vector<PendingClaimPtr>& claims) {
    std::vector<std::string> found;
    for (const auto& pending : claims) found.push_back(names.at(pending->arrival));
    return found;
  }
  std::vector<std::string> wake(const core::QueueRef& grown, std::uint32_t count) {
    return of(waiters.wake({{grown, count}}));
  }

  test::ManualRuntime runtime;
  ClaimWaiters waiters{runtime, 4};
  std::map<std::uint64_t, std::string> names;
  std::vector<std::string> answered;
  const core::QueueRef queue = core::make_queue("default", "default", "job", {});
};

TEST_F(ClaimWaitersTest, a_gain_wakes_the_oldest_that_can_take_it_and_no_more) {
  waiters.park(claim("a"));
  waiters.park(claim("b"));
  waiters.park(claim("c"));
  EXPECT_THAT(wake(queue, 2), ElementsAre("a", "b"));
  EXPECT_EQ(waiters.count(), 1U);
  EXPECT_THAT(wake(queue, 5), ElementsAre("c"));
  EXPECT_THAT(wake(queue, 5), IsEmpty());
}

TEST_F(ClaimWaitersTest, one_that_wants_many_covers_many) {
  waiters.park(claim("many", 10));
  waiters.park(claim("one"));
  EXPECT_THAT(wake(queue, 10), ElementsAre("many"));
  waiters.park(claim("many again", 10));
  EXPECT_THAT(wake(queue, 2), ElementsAre("one", "many again"));
}

TEST_F(ClaimWaitersTest, a_claim_that_tries_again_keeps_its_place) {
  auto first = claim("first");
  waiters.park(claim("second"));
  waiters.park(std::move(first));
  EXPECT_THAT(wake(queue, 1), ElementsAre("first"));
}

TEST_F(ClaimWaitersTest, whoever_cannot_do_the_work_sleeps_on) {
  auto picky = claim("picky");
  picky->claim.worker.kinds = {"other"};
  auto elsewhere = claim("elsewhere", 1, {"far"});
  auto blind = claim("blind");
  blind->claim.worker.namespace_scope = "mine";
  waiters.park(std::move(picky));
  waiters.park(std::move(elsewhere));
  waiters.park(std::move(blind));
  waiters.park(claim("able"));
  EXPECT_THAT(wake(queue, 9), ElementsAre("able"));
  EXPECT_EQ(waiters.count(), 3U);
}

TEST_F(ClaimWaitersTest, several_gains_wake_each_claim_once) {
  waiters.park(claim("both", 1, {"default", "far"}));
  const auto far = core::make_queue("far", "default", "job", {});
  EXPECT_THAT(of(waiters.wake({{queue, 1}, {far, 1}})), ElementsAre("both"));
  EXPECT_THAT(waiters.lanes(), IsEmpty());
}

TEST_F(ClaimWaitersTest, lanes_are_those_that_somebody_waits_for) {
  waiters.park(claim("a", 1, {"default", "far"}));
  waiters.park(claim("b", 1, {"far"}));
  EXPECT_THAT(waiters.lanes(), UnorderedElementsAre("default", "far"));
  EXPECT_THAT(wake(queue, 1), ElementsAre("a"));
  EXPECT_THAT(waiters.lanes(), ElementsAre("far"));
}

TEST_F(ClaimWaitersTest, named_claims_wake_by_their_execution_only) {
  waiters.park(named("first", kFirst));
  waiters.park(named("second", kOther));
  waiters.park(named("first too", kFirst));
  EXPECT_TRUE(waiters.has_named());
  EXPECT_THAT(wake(queue, 9), IsEmpty());
  EXPECT_THAT(waiters.lanes(), IsEmpty());
  EXPECT_THAT(of(waiters.wake(kFirst)), ElementsAre("first", "first too"));
  EXPECT_THAT(of(waiters.wake(kFirst)), IsEmpty());
  EXPECT_THAT(of(waiters.take_named()), ElementsAre("second"));
  EXPECT_FALSE(waiters.has_named());
}

TEST_F(ClaimWaitersTest, one_can_be_taken_out_once) {
  auto pending = claim("a");
  const auto arrival = pending->arrival;
  waiters.park(std::move(pending));
  EXPECT_NE(waiters.take(arrival), nullptr);
  EXPECT_EQ(waiters.take(arrival), nullptr);
  EXPECT_THAT(wake(queue, 1), IsEmpty());
}

TEST_F(ClaimWaitersTest, whose_time_is_over_gets_an_empty_answer) {
  waiters.park(claim("a"));
  runtime.now_us += 4'000'000;
  waiters.park(claim("b"));
  EXPECT_EQ(waiters.step(), runtime.now_us + 6'000'000) << "until the first deadline";
  EXPECT_THAT(answered, IsEmpty());
  runtime.now_us += 6'000'000;
  EXPECT_EQ(waiters.step(), runtime.now_us + 4'000'000);
  EXPECT_THAT(answered, ElementsAre("a"));
  runtime.now_us += 4'000'000;
  EXPECT_EQ(waiters.step(), kNever);
  EXPECT_THAT(answered, ElementsAre("a", "b"));
  EXPECT_EQ(waiters.count(), 0U);
  EXPECT_THAT(wake(queue, 2), IsEmpty());
}

TEST_F(ClaimWaitersTest, the_loop_is_told_of_a_new_deadline) {
  const int before = runtime.notified("ff-waiters");
  waiters.park(claim("a"));
  EXPECT_EQ(runtime.notified("ff-waiters"), before + 1);
}

TEST_F(ClaimWaitersTest, beyond_the_bound_a_claim_is_given_back) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(waiters.park(claim("in")), nullptr);
  EXPECT_NE(waiters.park(claim("out")), nullptr);
  EXPECT_EQ(waiters.count(), 4U);
  EXPECT_THAT(answered, IsEmpty()) << "the caller of park answers it";
}

TEST_F(ClaimWaitersTest, stopping_answers_everybody_and_lets_nobody_in) {
  waiters.park(claim("a"));
  waiters.park(named("b", kFirst));
  waiters.stop();
  EXPECT_THAT(answered, ElementsAre("a", "b"));
  EXPECT_NE(waiters.park(claim("late")), nullptr);
  EXPECT_EQ(waiters.count(), 0U);
}

// ---- waiting for a change ----------------------------------------------------------------------------------------

class ChangeWaitersTest : public ::testing::Test {
 protected:
  ChangeWaitersTest() { waiters.start(); }

  bool park(const ExecutionId& id, std::string name, SteadyUs for_us = 10'000'000, bool only_ends = true) {
    return waiters.park(id, only_ends, runtime.now_us + for_us,
                        [this, name](bool time_over) { woken.push_back(name + (time_over ? " over" : " look")); });
  }

  test::ManualRuntime runtime;
  ChangeWaiters waiters{runtime, 3};
  std::vector<std::string> woken;
};

TEST_F(ChangeWaitersTest, an_end_wakes_those_who_wait_for_it_on_the_loop) {
  park(kFirst, "a");
  park(kFirst, "b");
  park(kOther, "c");
  const int before = runtime.notified("ff-changes");
  waiters.changed(kFirst, true);
  EXPECT_THAT(woken, IsEmpty()) << "not on the thread that committed";
  EXPECT_EQ(runtime.notified("ff-changes"), before + 1);
  EXPECT_EQ(waiters.step(), runtime.now_us + 10'000'000);
  EXPECT_THAT(woken, UnorderedElementsAre("a look", "b look"));
  EXPECT_EQ(waiters.count(), 1U);
}

TEST_F(ChangeWaitersTest, an_end_that_nobody_waits_for_wakes_nothing) {
  park(kFirst, "a");
  const int before = runtime.notified("ff-changes");
  waiters.changed(kOther, true);
  EXPECT_EQ(runtime.notified("ff-changes"), before);
  waiters.step();
  EXPECT_THAT(woken, IsEmpty());
}

TEST_F(ChangeWaitersTest, a_change_wakes_those_who_wait_for_any) {
  park(kFirst, "end");
  park(kFirst, "any", 10'000'000, false);
  waiters.changed(kFirst, false);
  waiters.step();
  EXPECT_THAT(woken, ElementsAre("any look"));
  EXPECT_EQ(waiters.count(), 1U);
  park(kFirst, "any again", 10'000'000, false);
  waiters.changed(kFirst, true);
  waiters.step();
  EXPECT_THAT(woken, UnorderedElementsAre("any look", "end look", "any again look"));
}

TEST_F(ChangeWaitersTest, time_runs_out) {
  park(kFirst, "long", 5'000'000);
  park(kOther, "short", 1'000'000);
  EXPECT_EQ(waiters.step(), runtime.now_us + 1'000'000);
  runtime.now_us += 1'000'000;
  waiters.step();
  EXPECT_THAT(woken, ElementsAre("short over"));
  runtime.now_us += 4'000'000;
  EXPECT_EQ(waiters.step(), kNever);
  EXPECT_THAT(woken, ElementsAre("short over", "long over"));
}

TEST_F(ChangeWaitersTest, everybody_looks_again_after_a_foreign_commit) {
  park(kFirst, "a");
  park(kOther, "b");
  waiters.look_again();
  waiters.step();
  EXPECT_THAT(woken, UnorderedElementsAre("a look", "b look"));
  EXPECT_EQ(waiters.count(), 0U);
}

TEST_F(ChangeWaitersTest, it_is_bounded_and_closes_for_good) {
  EXPECT_TRUE(park(kFirst, "a"));
  EXPECT_TRUE(park(kFirst, "b"));
  EXPECT_TRUE(park(kOther, "c"));
  EXPECT_FALSE(park(kOther, "d"));
  waiters.changed(kOther, true);
  waiters.stop();
  EXPECT_THAT(woken, UnorderedElementsAre("a over", "b over", "c over"));
  EXPECT_FALSE(park(kFirst, "e"));
}

}  // namespace
}  // namespace ff::engine
