#include "engine/executor.h"

#include "support/batch_bench.h"
#include "support/manual_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::engine {
namespace {

using store::Step;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ExecutorTest : public test::BatchBench {
 protected:
  void open(Executor::Options options = {}) {
    executor = std::make_unique<Executor>(
        runtime, std::make_unique<test::ScriptedSession>(*store->open_session(), script), store->traits(), planner,
        delivery, metrics, Executor::Hooks{{}, [this](const auto&) { ++commits; }}, options);
    delivery.start(runtime);
    executor->start("ff-executor");
  }
  std::uint64_t batches_of(std::size_t size) { return executor->stats().sizes[size].load(); }

  test::ManualRuntime runtime;
  Delivery delivery;
  Metrics metrics;
  int commits = 0;
  std::unique_ptr<Executor> executor;
};

TEST_F(ExecutorTest, what_queued_during_a_commit_is_the_next_batch) {
  open();
  std::vector<Log> logs(8);
  executor->push(touch(logs[0], id(1)));
  EXPECT_EQ(executor->step(), 0) << "an idle system has batches of one";
  for (std::size_t i = 1; i < 8; ++i) executor->push(touch(logs[i], id(1)));
  EXPECT_EQ(executor->step(), 0);
  EXPECT_EQ(executor->step(), kNever);
  EXPECT_EQ(batches_of(1), 1U);
  EXPECT_EQ(batches_of(7), 1U);
  EXPECT_EQ(executor->stats().batches.load(), 2U);
  EXPECT_EQ(executor->stats().operations.load(), 8U);
}

TEST_F(ExecutorTest, its_load_is_what_waits_and_what_is_under_way) {
  open({.batch_max = 3});
  EXPECT_EQ(executor->load(), 0U);
  std::vector<Log> logs(4);
  for (auto& log : logs) executor->push(touch(log, id(1)));
  core::Claim claim;
  claim.max = 50;
  executor->push(std::make_unique<core::ClaimOperation>(claim, [](auto) {}));
  EXPECT_EQ(executor->load(), 54U);
  EXPECT_EQ(executor->step(), 0);
  EXPECT_EQ(executor->load(), 51U);
  while (executor->step() != kNever) {
  }
  EXPECT_EQ(executor->load(), 0U);
}

TEST_F(ExecutorTest, a_batch_is_bounded_and_keeps_the_order) {
  open({.batch_max = 3});
  std::vector<int> order;
  std::vector<Log> logs(7);
  for (int i = 0; i < 7; ++i) {
    auto operation = any(logs[static_cast<std::size_t>(i)]);
    operation->does = [&order, i](auto&, TimeMs) { order.push_back(i); };
    executor->push(std::move(operation));
  }
  while (executor->step() != kNever) {
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(batches_of(3), 2U);
  EXPECT_EQ(batches_of(1), 1U);
}

TEST_F(ExecutorTest, the_first_in_an_empty_queue_wakes_the_thread) {
  open();
  std::vector<Log> logs(3);
  executor->push(any(logs[0]));
  executor->push(any(logs[1]));
  EXPECT_EQ(runtime.notified("ff-executor"), 1);
  executor->step();
  executor->push(any(logs[2]));
  EXPECT_EQ(runtime.notified("ff-executor"), 2);
}

TEST_F(ExecutorTest, a_full_queue_refuses_with_resource_exhausted) {
  open({.queue_max = 2});
  std::vector<Log> logs(6);
  executor->push(any(logs[0]));
  executor->push(any(logs[1]));
  executor->push(any(logs[2]));
  ASSERT_TRUE(logs[2].refused);
  EXPECT_EQ(logs[2].refused->code, ErrorCode::resource_exhausted);
  EXPECT_EQ(logs[2].refused->context.number("max"), 2);
  EXPECT_TRUE(logs[2].refused->retryable());
  delivery.step();
  EXPECT_TRUE(logs[2].delivered);
  EXPECT_FALSE(logs[0].refused || logs[1].refused);

  while (executor->step() != kNever) {
  }
  // Several that belong together are taken together or not at all.
  executor->push(any(logs[3]));
  executor->push(batch(any(logs[4]), any(logs[5])));
  EXPECT_TRUE(logs[4].refused && logs[5].refused);
  EXPECT_EQ(executor->step(), 0);
  EXPECT_EQ(logs[3].decided, 1) << "there is room again";
}

TEST_F(ExecutorTest, answers_are_delivered_on_their_own_thread_unless_they_only_wake_somebody) {
  open();
  Log callback, waiting;
  executor->push(any(callback));
  auto inline_operation = any(waiting);
  inline_operation->deliver_inline = true;
  executor->push(std::move(inline_operation));
  executor->step();
  EXPECT_TRUE(waiting.delivered);
  EXPECT_FALSE(callback.delivered);
  EXPECT_EQ(runtime.notified("ff-deliver"), 1);
  EXPECT_EQ(delivery.step(), 0);
  EXPECT_TRUE(callback.delivered);
  EXPECT_EQ(delivery.step(), kNever);
}

TEST_F(ExecutorTest, a_blocked_batch_comes_back_soon_and_holds_its_place) {
  open();
  script->begin = {Step::blocked};
  Log first, second;
  executor->push(any(first));
  const SteadyUs next = executor->step();
  EXPECT_GT(next, runtime.now_us);
  EXPECT_LE(next, runtime.now_us + 1'000);
  executor->push(any(second));
  executor->step();
  EXPECT_EQ(first.decided, 1);
  EXPECT_EQ(second.decided, 0) << "the batch under way takes no newcomers";
}

TEST_F(ExecutorTest, a_conflict_waits_longer_each_time) {
  open();
  executor->push(create(id(1)));
  executor->step();
  script->conflicts = [](const auto&) { return true; };
  Log log;
  executor->push(touch(log, id(1)));
  std::vector<SteadyUs> waits;
  for (SteadyUs next = executor->step(); next != 0; next = executor->step()) waits.push_back(next - runtime.now_us);
  ASSERT_EQ(waits.size(), static_cast<std::size_t>(store::kConflictRetriesMax - 1));
  EXPECT_GE(waits.front(), 1'000);
  EXPECT_LE(waits.front(), 3'000);
  EXPECT_GT(waits.back(), 10 * waits.front());
  EXPECT_EQ(executor->stats().retries.load(), static_cast<std::uint64_t>(store::kConflictRetriesMax));
  EXPECT_EQ(log.refused->code, ErrorCode::retry_exhausted);
}

TEST_F(ExecutorTest, small_steps_return_after_every_stage) {
  runtime.one_stage_at_a_time = true;
  open();
  Log log;
  executor->push(any(log));
  int steps = 0;
  while (executor->step() != kNever) ++steps;
  EXPECT_GE(steps, 4) << "begin, load, decide, save";
  EXPECT_EQ(log.decided, 1);
}

TEST_F(ExecutorTest, other_work_on_the_session_runs_between_batches) {
  open();
  script->begin = {Step::blocked};
  Log log;
  executor->push(any(log));
  executor->step();
  bool ran = false;
  executor->push_task([&](store::Session&) { ran = true; });
  executor->step();
  EXPECT_EQ(log.decided, 1);
  EXPECT_FALSE(ran) << "a batch is under way";
  executor->step();
  EXPECT_TRUE(ran);
}

TEST_F(ExecutorTest, a_drain_runs_what_is_queued_and_refuses_newcomers) {
  open({.batch_max = 1});
  Log first, second, late;
  executor->push(any(first));
  executor->push(any(second));
  executor->stop(true);
  EXPECT_EQ(first.decided + second.decided, 2);
  executor->push(any(late));
  EXPECT_EQ(late.refused->code, ErrorCode::draining);
  delivery.step();
  EXPECT_TRUE(first.delivered && second.delivered && late.delivered);
}

TEST_F(ExecutorTest, stopping_at_once_answers_whoever_is_queued) {
  open({.batch_max = 1});
  std::vector<Log> logs(3);
  for (auto& log : logs) executor->push(any(log));
  executor->step();
  executor->stop(false);
  delivery.step();
  EXPECT_EQ(logs[0].decided, 1);
  for (std::size_t i : {1U, 2U}) {
    EXPECT_EQ(logs[i].decided, 0);
    EXPECT_EQ(logs[i].refused->code, ErrorCode::draining);
    EXPECT_TRUE(logs[i].delivered);
  }
}

}  // namespace
}  // namespace ff::engine
