// How a batch serves its claims: rounds of takes, sharing, losing, repeating.

#include "store/batch_run.h"

#include "support/batch_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BatchClaimsTest : public test::BatchBench {
 protected:
  /// That many candidates, in queue order.
  void waiting(int count) {
    for (int i = 1; i <= count; ++i) run(batch(create(id(i))));
  }
  /// Takes the execution out of its queue.
  std::unique_ptr<test::AnyOperation> owe_cancel(Log& log, const ExecutionId& which) {
    auto operation = any(log);
    operation->wants = [which](const auto&, core::Reads& out) { out.execution(which); };
    operation->does = [which](core::WorkingSet& set, TimeMs now) {
      core::ExecutionRecord after = *set.execution(which);
      after.hold.cancel_owed = CancelOwed::now;
      core::Writes writes(now);
      writes.update(*set.execution(which), std::move(after));
      set.apply(std::move(writes));
    };
    return operation;
  }
};

TEST_F(BatchClaimsTest, candidates_are_dealt_out_in_the_order_of_the_plan) {
  waiting(5);
  std::vector<ExecutionId> first, second;
  planner.plans = {{take(0, 2), take(1, 2)}};
  EXPECT_EQ(run(batch(claim(2, first), claim(2, second))), "");
  EXPECT_THAT(first, ElementsAre(id(1), id(2)));
  EXPECT_THAT(second, ElementsAre(id(3), id(4)));
  EXPECT_EQ(std::count(script->calls.begin(), script->calls.end(), "take"), 1) << "rows of one queue are one take";
  ASSERT_EQ(planner.told.size(), 1U);
  EXPECT_EQ(planner.told[0][0].candidates.size(), 2U);
  ASSERT_TRUE(planner.told[0][1].next_head);
  EXPECT_EQ(planner.told[0][1].next_head->id, id(5));
}

TEST_F(BatchClaimsTest, claims_come_after_everything_else_of_the_batch) {
  std::vector<ExecutionId> got;
  planner.plans = {{take(0, 1)}};
  run(batch(claim(1, got), create(id(1))));
  EXPECT_THAT(got, IsEmpty()) << "what the batch itself submits is taken by the next one";
  Log log;
  planner.plans = {{take(0, 1)}};
  run(batch(claim(1, got), owe_cancel(log, id(1))));
  EXPECT_THAT(got, IsEmpty()) << "what the batch takes out of the queue is not leased";
}

TEST_F(BatchClaimsTest, a_claim_that_came_up_short_takes_again_at_most_three_times) {
  for (auto character : {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic}) {
    SCOPED_TRACE(static_cast<int>(character));
    use(character);
    waiting(9);
    std::vector<ExecutionId> got;
    planner = {};
    planner.plans = {{take(0, 1)}, {take(0, 1)}, {take(0, 1)}, {take(0, 1)}, {take(0, 1)}};
    EXPECT_EQ(run(batch(claim(8, got))), "");
    EXPECT_THAT(planner.asked, ElementsAre(false, false, true)) << "the last round is announced";
    EXPECT_EQ(planner.told.size(), 3U);
    EXPECT_THAT(got, ElementsAre(id(1), id(2), id(3))) << "each round goes on behind the one before";
  }
}

TEST_F(BatchClaimsTest, what_the_batch_has_touched_can_be_claimed_in_it) {
  for (auto character : {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic}) {
    SCOPED_TRACE(static_cast<int>(character));
    use(character);
    waiting(2);
    Log log;
    std::vector<ExecutionId> got;
    planner.plans = {{take(0, 2)}};
    EXPECT_EQ(run(batch(touch(log, id(1)), claim(2, got))), "");
    EXPECT_THAT(got, ElementsAre(id(1), id(2)));
    EXPECT_EQ(progress(id(1)), 1U);
  }
}

TEST_F(BatchClaimsTest, what_one_round_left_over_the_next_one_gives) {
  for (auto character : {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic}) {
    SCOPED_TRACE(static_cast<int>(character));
    use(character);
    waiting(3);
    std::vector<ExecutionId> first, second;
    planner = {};
    planner.plans = {{take(0, 3)}, {take(1, 2)}};
    EXPECT_EQ(run(batch(claim(1, first), claim(2, second))), "");
    EXPECT_THAT(first, ElementsAre(id(1)));
    EXPECT_THAT(second, ElementsAre(id(2), id(3)));
  }
}

TEST_F(BatchClaimsTest, an_empty_plan_ends_the_rounds) {
  std::vector<ExecutionId> got;
  run(batch(claim(8, got)));
  EXPECT_THAT(planner.asked, ElementsAre(false));
  EXPECT_THAT(script->calls, ElementsAre("begin", "load", "rollback"));
}

TEST_F(BatchClaimsTest, what_ranks_below_the_floor_is_left) {
  run(batch(create(id(1), 5), create(id(2), 1)));
  std::vector<ExecutionId> got;
  planner.plans = {{take(0, 2, 3)}};
  run(batch(claim(2, got)));
  EXPECT_THAT(got, ElementsAre(id(1)));
  EXPECT_EQ(planner.told.at(0).at(0).next_head->id, id(2));
}

TEST_F(BatchClaimsTest, more_than_a_claim_wants_stays_at_the_head) {
  waiting(3);
  std::vector<ExecutionId> got;
  planner.plans = {{take(0, 3)}};
  run(batch(claim(1, got)));
  EXPECT_THAT(got, ElementsAre(id(1)));
  EXPECT_EQ(planner.told.at(0).at(0).candidates.size(), 1U);
  EXPECT_EQ(planner.told.at(0).at(0).next_head->id, id(2));
}

TEST_F(BatchClaimsTest, a_lease_whose_commit_failed_is_given_back_and_tried_again) {
  waiting(1);
  bool first = true;
  script->conflicts = [&](const Unit&) { return std::exchange(first, false); };
  std::vector<ExecutionId> got;
  planner.plans = {{take(0, 1)}, {}, {take(0, 1)}};
  EXPECT_EQ(run(batch(claim(1, got))), "w");
  ASSERT_EQ(planner.returned.size(), 1U);
  EXPECT_EQ(planner.returned[0].id, id(1));
  EXPECT_THAT(got, ElementsAre(id(1))) << "leased once, in the second try";
  EXPECT_EQ((*(*store->open_reader())->execution(id(1)))->record.counters.current_lease_epoch, 1U);
}

TEST_F(BatchClaimsTest, a_fault_gives_back_what_was_taken) {
  waiting(2);
  script->save = {std::unexpected(Error{ErrorCode::retry_exhausted, "deadlock", {}})};
  std::vector<ExecutionId> got;
  planner.plans = {{take(0, 2)}, {}, {take(0, 2)}};
  EXPECT_EQ(run(batch(claim(2, got))), "w");
  EXPECT_EQ(planner.returned.size(), 2U);
  EXPECT_THAT(got, ElementsAre(id(1), id(2)));
}

TEST_F(BatchClaimsTest, leases_commit_one_by_one_where_the_store_does) {
  use(MemoryCharacter::optimistic);
  waiting(3);
  script->conflicts = [](const Unit& unit) { return unit.set.execution(id(2)) != nullptr; };
  std::vector<ExecutionId> got;
  planner.plans = {{take(0, 3)}};
  EXPECT_EQ(run(batch(claim(3, got))), "") << "it got some: that is its answer";
  EXPECT_THAT(got, ElementsAre(id(1), id(3)));
  ASSERT_EQ(planner.returned.size(), 1U);
  EXPECT_EQ(planner.returned[0].id, id(2));
}

TEST_F(BatchClaimsTest, a_claim_that_is_repeated_with_its_key_gets_the_same_tasks) {
  waiting(3);
  std::vector<ExecutionId> first, again, other;
  planner.plans = {{take(0, 2)}};
  run(batch(claim(2, first, "k")));
  EXPECT_THAT(first, ElementsAre(id(1), id(2)));
  planner.plans = {{take(0, 2)}};
  run(batch(claim(2, again, "k")));
  EXPECT_THAT(again, ElementsAre(id(1), id(2)));
  EXPECT_EQ((*(*store->open_reader())->execution(id(1)))->record.counters.current_lease_epoch, 1U);
  planner.plans = {{take(0, 2)}};
  run(batch(claim(2, other, "another")));
  EXPECT_THAT(other, ElementsAre(id(3)));
}

/// Batches that somebody waits for: claims that join one as soon as it has made something.
class BatchJoinTest : public BatchClaimsTest {
 protected:
  /// Runs the batch; `joining` are the claims that wait, in order.
  std::string run_with(Operations operations, Operations joining) {
    BatchRun batch = start(std::move(operations));
    batch.on_made = [&](std::span<const Gain> gains) {
      ++asked;
      made = 0;
      for (const auto& gain : gains) made += gain.count;
      return std::exchange(joining, {});
    };
    std::string states = finish(batch);
    commits = batch.commits();
    return states;
  }
  core::ExecutionRecord stored(const ExecutionId& which) {
    return (*(*store->open_reader())->execution(which))->record;
  }

  int asked = 0;
  std::uint32_t made = 0;
  std::uint64_t commits = 0;
};

TEST_F(BatchJoinTest, who_waits_gets_what_is_submitted_in_the_same_commit) {
  for (auto character : {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic}) {
    SCOPED_TRACE(static_cast<int>(character));
    use(character);
    std::vector<ExecutionId> first, second;
    EXPECT_EQ(run_with(batch(create(id(1)), create(id(2), 5), create(id(3))), batch(claim(2, first), claim(9, second))),
              "");
    EXPECT_EQ(made, 3U);
    EXPECT_EQ(commits, 1U);
    EXPECT_THAT(first, ElementsAre(id(2), id(1))) << "in the order of the queue";
    EXPECT_THAT(second, ElementsAre(id(3)));
    EXPECT_EQ(stored(id(1)).counters.current_lease_epoch, 1U);
    EXPECT_EQ(stored(id(1)).version, 2U) << "submitted, then leased";
  }
}

TEST_F(BatchJoinTest, what_waits_in_the_store_is_given_first) {
  waiting(1);
  std::vector<ExecutionId> got;
  planner.plans = {{take(0, 1)}};
  EXPECT_EQ(run_with(batch(create(id(2), 9)), batch(claim(1, got))), "");
  EXPECT_THAT(got, ElementsAre(id(1)));
  EXPECT_TRUE(core::is_candidate(stored(id(2))));
}

TEST_F(BatchJoinTest, only_work_that_is_new_and_ready_is_offered) {
  run(batch(create(id(1))));
  std::vector<ExecutionId> got;
  Log log;
  EXPECT_EQ(run_with(batch(touch(log, id(1)), create(id(1))), batch(claim(1, got))), "");
  EXPECT_EQ(asked, 0) << "it was there before";
  EXPECT_EQ(run_with(batch(create(id(2)), owe_cancel(log, id(2))), batch(claim(1, got))), "");
  EXPECT_EQ(asked, 0) << "made, and no candidate any more";
  EXPECT_THAT(got, IsEmpty());
}

TEST_F(BatchJoinTest, who_serves_another_lane_gets_nothing) {
  std::vector<ExecutionId> got, other;
  auto elsewhere = claim(5, other);
  const_cast<core::Claim&>(elsewhere->request()).worker.lanes = {"elsewhere"};
  EXPECT_EQ(run_with(batch(create(id(1))), batch(std::move(elsewhere), claim(5, got))), "");
  EXPECT_THAT(other, IsEmpty());
  EXPECT_THAT(got, ElementsAre(id(1)));
}

TEST_F(BatchJoinTest, after_a_conflict_they_are_claims_like_others) {
  for (auto character : {MemoryCharacter::serial, MemoryCharacter::locking, MemoryCharacter::optimistic}) {
    SCOPED_TRACE(static_cast<int>(character));
    use(character);
    submitted.clear();
    asked = 0;
    bool first = true;
    script->conflicts = [&](const Unit&) { return std::exchange(first, false); };
    std::vector<ExecutionId> got;
    EXPECT_EQ(run_with(batch(create(id(1))), batch(claim(1, got))), "w");
    EXPECT_EQ(asked, 1);
    EXPECT_THAT(planner.returned, IsEmpty()) << "no queue has had it";
    EXPECT_THAT(got, IsEmpty()) << "its caller looks again";
    ASSERT_EQ(submitted.size(), 1U);
    EXPECT_TRUE(submitted[0]);
    EXPECT_TRUE(core::is_candidate(stored(id(1))));
    script->conflicts = {};
  }
}

TEST_F(BatchJoinTest, a_store_that_is_gone_answers_them_too) {
  script->save = {std::unexpected(Error{ErrorCode::store_unavailable, "gone", {}})};
  bool refused = false;
  core::Claim request;
  request.worker.lanes = {"default"};
  auto waits = std::make_unique<core::ClaimOperation>(
      request, [&](Result<core::LeasedTasks> tasks) { refused = !tasks && tasks.error().code == ErrorCode::store_unavailable; });
  EXPECT_EQ(run_with(batch(create(id(1))), batch(std::move(waits))), "");
  EXPECT_TRUE(refused);
  EXPECT_THAT(planner.returned, IsEmpty());
}

}  // namespace
}  // namespace ff::store
