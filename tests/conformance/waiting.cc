// 05, section 4.4: claims that wait.

#include "conformance/conformance.h"

#include <future>

#include <condition_variable>
#include <thread>

namespace ff::test {
namespace {

/// A claim that waits, and its answer once it is there.
class Waiter {
 public:
  Waiter(const Fabric& fabric, ClaimRequest request, std::uint32_t wait_ms = 60'000) {
    request.wait_ms = wait_ms;
    call_ = fabric.claim(std::move(request), [this](Result<std::vector<ClaimedTask>> tasks) {
      std::lock_guard guard(mutex_);
      answer_ = std::move(tasks);
      changed_.notify_all();
    });
  }
  ~Waiter() {
    call_.cancel();
    answer();
  }

  bool answered() {
    std::lock_guard guard(mutex_);
    return answer_.has_value();
  }
  std::vector<ClaimedTask> answer() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [&] { return answer_.has_value(); });
    return must(*answer_);
  }
  void cancel() { call_.cancel(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<std::vector<ClaimedTask>>> answer_;
  ClaimCall call_;
};

bool all_wait(engine::Engine& engine, std::size_t waiters) {
  return eventually([&] { return engine.stats().claim_waiters == waiters; });
}

}  // namespace

TEST_P(Scheduling, T29_one_create_wakes_one_waiter) {
  std::list<Waiter> waiters;
  waiters.emplace_back(fabric, request("w0"));
  ASSERT_TRUE(all_wait(engine(), 1));
  for (int i = 1; i < 10; ++i) waiters.emplace_back(fabric, request(fmt::format("w{}", i)));
  ASSERT_TRUE(all_wait(engine(), 10));
  const auto id = submit();
  auto answered = [&] {
    return std::count_if(waiters.begin(), waiters.end(), [](Waiter& waiter) { return waiter.answered(); });
  };
  ASSERT_TRUE(eventually([&] { return answered() == 1; }));
  EXPECT_TRUE(waiters.front().answered()) << "the oldest";
  EXPECT_EQ(waiters.front().answer().at(0).execution.execution_id, id);
  ASSERT_TRUE(all_wait(engine(), 9));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(answered(), 1) << "the other nine get nothing";
}

TEST_P(Scheduling, T29_waiters_that_cannot_do_the_work_are_passed_over) {
  ClaimRequest other_kind = request("w1");
  other_kind.kinds = {"other"};
  ClaimRequest other_lane = request("w2");
  other_lane.lanes = {"other"};
  Waiter first(fabric, other_kind), second(fabric, other_lane), third(fabric, request("w3"));
  ASSERT_TRUE(all_wait(engine(), 3));
  submit();
  EXPECT_THAT(third.answer(), SizeIs(1));
  EXPECT_FALSE(first.answered());
  EXPECT_FALSE(second.answered());
}

TEST_P(Scheduling, T30_create_wakes) {
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  submit();
  EXPECT_THAT(waiter.answer(), SizeIs(1));
}

TEST_P(Scheduling, T30_what_a_waiting_claim_gets_at_once_is_stored_like_any_lease) {
  ClaimRequest waits = request("w1", 3);
  waits.idempotency_key = "k";
  Waiter waiter(fabric, waits);
  ASSERT_TRUE(all_wait(engine(), 1));
  Submission submission = job();
  submission.payload = "input";
  submission.tags = {{"colour", "red"}};
  submission.priority = 3;
  const auto id = submit(submission);
  const auto tasks = waiter.answer();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].execution.execution_id, id);
  EXPECT_EQ(tasks[0].payload, "input");
  EXPECT_EQ(tasks[0].execution.tags.at("colour"), "red");
  EXPECT_EQ(tasks[0].execution.priority, 3);

  EXPECT_EQ(vector_of(id), kRunning);
  const Execution execution = get(id);
  EXPECT_EQ(execution.lease->worker_instance_id, "w1");
  EXPECT_EQ(execution.lease->lease_epoch, 1U);
  EXPECT_THAT(must(fabric.attempts({.execution_id = id})).items, SizeIs(1));
  EXPECT_THAT(must(fabric.history({.execution_id = id})).items, SizeIs(1)) << "one lease";
  EXPECT_THAT(must(fabric.claim(request("w2"))), IsEmpty()) << "it stands in no queue";
  const auto again = must(fabric.claim(waits));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].handle, tasks[0].handle) << "found by its claim key";

  clock->advance(30'001);
  ASSERT_TRUE(eventually([&] { return vector_of(id) != kRunning; })) << "its lease runs out like others";
  const ClaimedTask reclaimed = must(fabric.claim(request("w2"))).at(0);
  EXPECT_EQ(reclaimed.kind, HandleKind::reclaimed);
  EXPECT_EQ(reclaimed.lease_epoch, 2U);
  must(complete(reclaimed));
  EXPECT_THAT(must(fabric.attempts({.execution_id = id})).items, SizeIs(2));
}

TEST_P(Scheduling, T30_several_waiting_claims_share_what_comes) {
  Waiter first(fabric, request("w1", 2));
  ASSERT_TRUE(all_wait(engine(), 1));
  Waiter second(fabric, request("w2", 1));
  ASSERT_TRUE(all_wait(engine(), 2));
  for (int i = 0; i < 3; ++i) submit();
  std::set<ExecutionId> given;
  for (const auto& task : first.answer()) given.insert(task.execution.execution_id);
  for (const auto& task : second.answer()) given.insert(task.execution.execution_id);
  for (const auto& task : must(fabric.claim(request("w3", 9)))) given.insert(task.execution.execution_id);
  EXPECT_THAT(given, SizeIs(3)) << "each one once";
}

TEST_P(Scheduling, T30_a_paused_lane_gives_nothing_to_who_waits) {
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  must(fabric.pause_lane("default"));
  const auto id = submit();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(waiter.answered());
  EXPECT_EQ(vector_of(id), kWaitingFirst);
  must(fabric.resume_lane("default"));
  EXPECT_THAT(waiter.answer(), SizeIs(1));
}

TEST_P(Scheduling, T30_delay_due_wakes) {
  Submission later = job();
  later.delay_ms = 3'600'000;
  submit(later);
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  clock->advance(3'600'000);
  EXPECT_THAT(waiter.answer(), SizeIs(1));
}

TEST_P(Scheduling, T30_retry_due_wakes) {
  must(fail(running()));
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  clock->advance(60'000);
  EXPECT_EQ(waiter.answer().at(0).attempt.attempt_type, AttemptType::retry);
}

TEST_P(Scheduling, T30_lost_lease_wakes) {
  running();
  Waiter waiter(fabric, request("w2"));
  ASSERT_TRUE(all_wait(engine(), 1));
  clock->advance(30'001);
  EXPECT_EQ(waiter.answer().at(0).kind, HandleKind::reclaimed);
}

TEST_P(Scheduling, T30_revoke_wakes) {
  const ClaimedTask task = running();
  Waiter waiter(fabric, request("w2"));
  ASSERT_TRUE(all_wait(engine(), 1));
  must(fabric.revoke_lease({.execution_id = task.execution.execution_id}));
  EXPECT_EQ(waiter.answer().at(0).kind, HandleKind::reclaimed);
}

TEST_P(Scheduling, T30_replay_wakes) {
  const ClaimedTask task = running();
  must(complete(task));
  Waiter waiter(fabric, request("w2"));
  ASSERT_TRUE(all_wait(engine(), 1));
  must(fabric.replay(task.execution.execution_id));
  EXPECT_EQ(waiter.answer().at(0).attempt.attempt_type, AttemptType::replay);
}

TEST_P(Scheduling, T30_lane_resume_wakes) {
  submit();
  must(fabric.pause_lane("default"));
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  must(fabric.resume_lane("default"));
  EXPECT_THAT(waiter.answer(), SizeIs(1));
}

TEST_P(Scheduling, T30_another_process_wakes) {
  const Opened other = open_another();
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  must(other.fabric.submit(job()));
  EXPECT_THAT(waiter.answer(), SizeIs(1));
}

TEST_P(Scheduling, T30_without_notifications_the_poll_wakes) {
  auto faults = std::make_shared<Faults>();
  faults->deaf = true;
  restart({}, with(faults));
  const Opened other = open_another();
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  must(other.fabric.submit(job()));
  EXPECT_THAT(waiter.answer(), SizeIs(1));
}

TEST_P(Scheduling, T31_a_claimer_that_went_away) {
  Waiter gone(fabric, request("gone")), stays(fabric, request("stays"));
  ASSERT_TRUE(all_wait(engine(), 2));
  gone.cancel();
  EXPECT_THAT(gone.answer(), IsEmpty());
  const auto id = submit();
  ASSERT_THAT(stays.answer(), SizeIs(1));
  EXPECT_EQ(get(id).lease->worker_instance_id, "stays");
}

TEST_P(Scheduling, T32_a_waiting_claim_repeated_with_its_key) {
  ClaimRequest keyed = request("w1");
  keyed.idempotency_key = "k";
  Waiter waiter(fabric, keyed);
  ASSERT_TRUE(all_wait(engine(), 1));
  submit();
  const auto first = waiter.answer();
  ASSERT_THAT(first, SizeIs(1));
  const auto again = must(fabric.claim(keyed));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].handle, first[0].handle);
}

TEST_P(Scheduling, T29_more_waiters_than_allowed) {
  restart({.waiters_max = 2});
  Waiter first(fabric, request("w1")), second(fabric, request("w2"));
  ASSERT_TRUE(all_wait(engine(), 2));
  ClaimRequest third = request("w3");
  third.wait_ms = 60'000;
  const auto refused = fabric.claim(third);
  EXPECT_THAT(refused, Refused(ErrorCode::resource_exhausted));
  EXPECT_TRUE(refused.error().context.number("retry_after_ms"));
  third.wait_ms = 0;
  EXPECT_THAT(must(fabric.claim(third)), IsEmpty()) << "without waiting it is answered";
}

TEST_P(Scheduling, T29_closing_answers_everybody) {
  Waiter waiter(fabric, request());
  ASSERT_TRUE(all_wait(engine(), 1));
  const auto id = submit();
  EXPECT_THAT(waiter.answer(), SizeIs(1));
  Waiter left(fabric, request());
  Result<Execution> waited;
  std::jthread reader([&] { waited = fabric.wait(id, std::chrono::minutes(1)); });
  ASSERT_TRUE(all_wait(engine(), 1));
  fabric.close();
  EXPECT_THAT(left.answer(), IsEmpty());
  reader.join();
  EXPECT_THAT(fabric.submit(job()), Refused(ErrorCode::draining));
  EXPECT_THAT(fabric.claim(request()), Refused(ErrorCode::draining));
  restart();
  EXPECT_EQ(vector_of(id), kRunning);
}

TEST_P(Executions, a_history_can_be_followed) {
  const auto id = submit();
  const auto none = must(fabric.history({.execution_id = id, .wait_ms = 1}));
  EXPECT_THAT(none.items, IsEmpty());
  ASSERT_TRUE(none.next_cursor) << "where to go on";
  std::promise<Result<Page<Event>>> told;
  fabric.history({.execution_id = id, .cursor = *none.next_cursor, .wait_ms = 60'000},
                 [&](Result<Page<Event>> page) { told.set_value(std::move(page)); });
  must(fabric.change_priority(id, 5));
  auto page = must(told.get_future().get());
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].event_type, "priority_changed");
  ASSERT_TRUE(page.next_cursor);

  // What another process did is noticed too.
  std::promise<Result<Page<Event>>> more;
  fabric.history({.execution_id = id, .cursor = *page.next_cursor, .wait_ms = 60'000},
                 [&](Result<Page<Event>> next) { more.set_value(std::move(next)); });
  Opened other = open_another();
  must(other.fabric.cancel(id));
  page = must(more.get_future().get());
  EXPECT_THAT(page.items, Not(IsEmpty()));
  while (page.next_cursor) {
    const auto next = must(fabric.history({.execution_id = id, .cursor = *page.next_cursor, .wait_ms = 60'000}));
    page = next;
  }
  EXPECT_THAT(must(fabric.history({.execution_id = id, .wait_ms = 60'000})).next_cursor, ::testing::Eq(std::nullopt))
      << "it has ended: there is nothing to wait for";
  EXPECT_THAT(fabric.history({.execution_id = id, .wait_ms = 60'001}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.history({.execution_id = next_id(), .wait_ms = 60'000}), Refused(ErrorCode::execution_not_found));
}

}  // namespace ff::test
