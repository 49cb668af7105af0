#include "store/batch_run.h"

#include "support/batch_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store {
namespace {

using test::ScriptedSession;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Error kConflict{ErrorCode::retry_exhausted, "somebody was faster", {}};
const Error kGone{ErrorCode::store_unavailable, "gone", {}};

class BatchRunTest : public test::BatchBench {};

TEST_F(BatchRunTest, a_batch_is_one_load_and_one_save) {
  auto batch = start(BatchBench::batch(create(id(1)), create(id(2)), create(id(3))));
  int commits_seen = 0;
  batch.on_commit = [&](const std::deque<Unit>& units) {
    ++commits_seen;
    EXPECT_EQ(units.front().outcome, Unit::Outcome::committed);
    EXPECT_THAT(submitted, IsEmpty()) << "before the answers are handed out";
  };
  EXPECT_EQ(finish(batch), "");
  EXPECT_THAT(script->calls, ElementsAre("begin", "load", "save"));
  EXPECT_EQ(batch.commits(), 1U);
  EXPECT_EQ(commits_seen, 1);
  EXPECT_EQ(submitted.size(), 3U);
  EXPECT_EQ(progress(id(3)), 0U);
}

TEST_F(BatchRunTest, operations_of_a_batch_see_what_earlier_ones_wrote) {
  run(batch(create(id(1))));
  Log one, two, three;
  run(batch(touch(one, id(1)), touch(two, id(1)), touch(three, id(1))));
  EXPECT_EQ(progress(id(1)), 3U);
  EXPECT_EQ((*(*store->open_reader())->execution(id(1)))->record.version, 4U) << "one per operation that changed it";
}

TEST_F(BatchRunTest, a_batch_that_changed_nothing_is_not_saved) {
  Log log;
  auto batch = start(BatchBench::batch(touch(log, id(1))));
  EXPECT_EQ(finish(batch), "");
  EXPECT_THAT(script->calls, ElementsAre("begin", "load", "rollback"));
  EXPECT_EQ(batch.commits(), 0U);
  EXPECT_TRUE(log.delivered);
}

TEST_F(BatchRunTest, an_empty_batch_is_finished) { EXPECT_EQ(run({}), ""); }

TEST_F(BatchRunTest, each_step_that_is_blocked_is_tried_again_and_nothing_is_decided_twice) {
  run(batch(create(id(1)), create(id(2))));
  script->begin = {Step::blocked, Step::blocked};
  script->load = {Step::blocked};
  script->take = {Step::blocked};
  script->save = {Step::blocked, Step::blocked};
  planner.plans = {{take(0, 1)}};
  Log log;
  std::vector<ExecutionId> got;
  EXPECT_EQ(run(batch(touch(log, id(2)), claim(1, got))), "bbbbbb");
  EXPECT_EQ(log.decided, 1);
  EXPECT_EQ(progress(id(2)), 1U);
  EXPECT_THAT(got, ElementsAre(id(1)));
}

TEST_F(BatchRunTest, a_batch_that_is_given_up_lets_go_of_its_locks) {
  {
    auto batch = start(BatchBench::batch(create(id(1))));
    batch.step();
    batch.step();
  }
  EXPECT_THAT(script->calls, ElementsAre("begin", "load", "rollback"));
  EXPECT_EQ(progress(id(1)), std::nullopt);
}

// ---- conflicts ----------------------------------------------------------------------------------------------------

TEST_F(BatchRunTest, T36_conflicts_are_invisible_when_they_end) {
  run(batch(create(id(1))));
  script->save = {std::unexpected(kConflict)};
  script->load = {std::nullopt, std::unexpected(kConflict)};
  Log log;
  auto batch = start(BatchBench::batch(touch(log, id(1))));
  EXPECT_EQ(finish(batch), "ww");
  EXPECT_EQ(batch.retries(), 2);
  EXPECT_EQ(log.decided, 2) << "decided again on fresh records";
  EXPECT_EQ(log.refused, std::nullopt);
  EXPECT_EQ(progress(id(1)), 1U) << "and applied once";
}

TEST_F(BatchRunTest, T36_conflicts_without_end_are_told_after_about_a_second_and_change_nothing) {
  run(batch(create(id(1))));
  script->conflicts = [](const Unit&) { return true; };
  Log log;
  auto batch = start(BatchBench::batch(touch(log, id(1))));
  EXPECT_EQ(finish(batch), std::string(kConflictRetriesMax - 1, 'w'));
  ASSERT_TRUE(log.refused);
  EXPECT_EQ(log.refused->code, ErrorCode::retry_exhausted);
  EXPECT_TRUE(log.delivered);
  EXPECT_EQ(log.decided, kConflictRetriesMax);
  EXPECT_EQ(progress(id(1)), 0U);
  EXPECT_GE(waited_ms, 500U);
  EXPECT_LE(waited_ms, 2'000U);
}

TEST_F(BatchRunTest, an_operation_that_cannot_succeed_does_not_hold_up_the_others) {
  for (int i = 1; i <= 8; ++i) run(batch(create(id(i))));
  script->conflicts = [](const Unit& unit) { return unit.set.execution(id(6)) != nullptr; };
  std::vector<Log> logs(8);
  Operations operations;
  for (int i = 0; i < 8; ++i) operations.push_back(touch(logs[static_cast<std::size_t>(i)], id(i + 1)));
  run(std::move(operations));
  for (int i = 1; i <= 8; ++i) {
    const Log& log = logs[static_cast<std::size_t>(i - 1)];
    EXPECT_TRUE(log.delivered) << i;
    EXPECT_EQ(log.refused.has_value(), i == 6) << i;
    EXPECT_EQ(progress(id(i)), i == 6 ? 0U : 1U) << i;
  }
}

TEST_F(BatchRunTest, units_that_share_nothing_fail_alone) {
  use(MemoryCharacter::optimistic);
  run(batch(create(id(1)), create(id(2))));
  bool first = true;
  script->conflicts = [&](const Unit& unit) {
    return unit.set.execution(id(2)) != nullptr && std::exchange(first, false);
  };
  Log one, two, also_two;
  EXPECT_EQ(run(batch(touch(one, id(1)), touch(two, id(2)), touch(also_two, id(2)))), "w");
  EXPECT_EQ(one.decided, 1);
  EXPECT_EQ(two.decided, 2);
  EXPECT_EQ(also_two.decided, 2) << "it shares a record with the one that lost";
  EXPECT_EQ(progress(id(1)), 1U);
  EXPECT_EQ(progress(id(2)), 2U);
}

// ---- faults -------------------------------------------------------------------------------------------------------

TEST_F(BatchRunTest, a_fault_harms_only_the_operation_that_causes_it) {
  for (int i = 1; i <= 3; ++i) run(batch(create(id(i))));
  script->broken = {id(2)};
  Log one, two, three;
  run(batch(touch(one, id(1)), touch(two, id(2)), touch(three, id(3))));
  EXPECT_EQ(progress(id(1)), 1U);
  EXPECT_EQ(progress(id(3)), 1U);
  ASSERT_TRUE(two.refused);
  EXPECT_EQ(two.refused->code, ErrorCode::corruption);
  EXPECT_FALSE(one.refused || three.refused);
  EXPECT_TRUE(one.delivered && two.delivered && three.delivered);
}

TEST_F(BatchRunTest, a_record_that_cannot_be_read_harms_only_who_asks_for_it) {
  run(batch(create(id(1)), create(id(2))));
  script->unreadable = {id(2)};
  Log one, two;
  EXPECT_EQ(run(batch(touch(two, id(2)), touch(one, id(1)))), "");
  EXPECT_EQ(progress(id(1)), 1U);
  EXPECT_EQ(two.decided, 0);
  ASSERT_TRUE(two.refused);
  EXPECT_EQ(two.refused->code, ErrorCode::corruption);
}

TEST_F(BatchRunTest, an_absent_store_refuses_everybody_at_once) {
  for (ScriptedSession::Answers* step : {&script->begin, &script->load, &script->save}) {
    *step = {std::unexpected(kGone)};
    Log log;
    submitted.clear();
    auto batch = start(BatchBench::batch(create(id(1)), touch(log, id(1))));
    EXPECT_EQ(finish(batch), "");
    EXPECT_EQ(batch.commits(), 0U);
    ASSERT_EQ(submitted.size(), 1U);
    EXPECT_EQ(submitted[0].error().code, ErrorCode::store_unavailable);
    EXPECT_EQ(log.refused->code, ErrorCode::store_unavailable);
    EXPECT_EQ(progress(id(1)), std::nullopt);
  }
}

// ---- reads that depend on reads -----------------------------------------------------------------------------------

/// Wants the executions of a chain, each only once it has seen the one before.
std::unique_ptr<test::AnyOperation> chain(test::AnyOperation::Log& log, std::vector<ExecutionId> ids) {
  auto operation = std::make_unique<test::AnyOperation>(log);
  operation->wants = [ids](const core::Records& in, core::Reads& out) {
    for (const auto& id : ids) {
      out.execution(id);
      if (!in.execution(id)) return;
    }
  };
  return operation;
}

TEST_F(BatchRunTest, three_rounds_of_reads_are_granted_and_a_fourth_is_refused) {
  for (int i = 1; i <= 4; ++i) run(batch(create(id(i))));
  Log three, four;
  EXPECT_EQ(run(batch(chain(three, {id(1), id(2), id(3)}))), "");
  EXPECT_THAT(script->calls, ElementsAre("begin", "load", "load", "load", "rollback"));
  EXPECT_EQ(three.decided, 1);
  run(batch(chain(four, {id(1), id(2), id(3), id(4)})));
  EXPECT_EQ(four.decided, 0);
  ASSERT_TRUE(four.refused);
  EXPECT_EQ(four.refused->code, ErrorCode::invariant_violation);
}

TEST_F(BatchRunTest, a_store_with_locks_asks_again_for_all_of_them) {
  use(MemoryCharacter::locking);
  for (int i = 1; i <= 3; ++i) run(batch(create(id(i))));
  Log log;
  EXPECT_EQ(run(batch(chain(log, {id(3), id(1), id(2)}))), "");
  EXPECT_THAT(script->calls,
              ElementsAre("begin", "load", "rollback", "begin", "load", "rollback", "begin", "load", "rollback"));
  EXPECT_EQ(log.decided, 1);
}

TEST_F(BatchRunTest, what_is_removed_and_made_anew_takes_two_commits) {
  run(batch(create(id(1))));
  Log mark, gone;
  run(batch(touch(mark, id(1))));
  ASSERT_EQ(progress(id(1)), 1U);
  auto remove = any(gone);
  remove->wants = [](const auto&, core::Reads& out) { out.execution(id(1)); };
  remove->does = [](core::WorkingSet& set, TimeMs now) {
    core::Writes writes(now);
    writes.erase(id(1));
    set.apply(std::move(writes));
  };
  auto batch = start(BatchBench::batch(std::move(remove), create(id(1))));
  finish(batch);
  EXPECT_EQ(batch.commits(), 2U);
  EXPECT_EQ(progress(id(1)), 0U) << "a new one";
}

}  // namespace
}  // namespace ff::store
