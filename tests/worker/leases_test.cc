// 05, T83 to T86: slots, renewal, tasks that are taken away, answers that get lost.

#include "worker/worker_world.h"

namespace ff::test {
namespace {

class WorkerLeases : public WorkerTest {
 protected:
  /// A handler that waits for its stop token, keeps why it fired, and returns a result that nobody wants.
  Worker::Handler until_stopped() {
    return [this](Task& task) {
      started = true;
      while (!task.cancelled().stop_requested()) std::this_thread::sleep_for(1ms);
      reason = task.stop_reason();
      healthy = task.lease_healthy();
      return ff::complete("too late");
    };
  }
  bool stops_with(StopReason expected) {
    return eventually([&] { return reason == expected; });
  }

  std::atomic<bool> started = false, healthy = true;
  std::atomic<StopReason> reason = StopReason::none;
};

}  // namespace

TEST_F(WorkerLeases, T83_one_at_a_time) {
  const auto ids = submit_many(3);
  run(brief(1), [this](Task&) {
    started = true;
    door->wait();
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  const std::size_t claims = wire->claims().size();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(wire->claims().size(), claims) << "no claim without a free slot";
  EXPECT_EQ(must(fabric.lane_counts("default")).active.value, 1U);
  door->open();
  for (const auto& id : ids) EXPECT_TRUE(comes_to(id, PublicState::completed));
  for (const auto& claim : wire->claims()) EXPECT_EQ(claim.max, 1U);
}

TEST_F(WorkerLeases, T83_never_more_than_the_slots) {
  const auto ids = submit_many(40);
  std::atomic<int> running = 0, most = 0;
  run(brief(8), [&](Task&) {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(5ms);
    --running;
    return ff::complete();
  });
  for (const auto& id : ids) ASSERT_TRUE(comes_to(id, PublicState::completed));
  EXPECT_LE(most, 8);
  EXPECT_GT(most, 1);
  EXPECT_EQ(wire->claims().front().max, 8U);
  for (const auto& claim : wire->claims()) EXPECT_LE(claim.max, 8U);
}

TEST_F(WorkerLeases, T84_ten_long_tasks_are_renewed_in_one_call) {
  const auto ids = submit_many(10);
  std::atomic<int> running = 0;
  run(brief(10), [&](Task&) {
    ++running;
    door->wait();
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return running == 10; }));
  const std::size_t before = wire->renewals().size();
  const auto since = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(3'100ms);  // three times the lease
  const auto renewals = wire->renewals();
  const auto elapsed_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since).count();
  EXPECT_GE(renewals.size(), before + 3);
  EXPECT_LE(static_cast<std::int64_t>(renewals.size() - before), elapsed_ms / 333 + 1)
      << "missed ticks are not made up for";
  for (std::size_t i = before; i < renewals.size(); ++i) EXPECT_EQ(renewals[i], 10U);
  door->open();
  for (const auto& id : ids) {
    ASSERT_TRUE(comes_to(id, PublicState::completed));
    EXPECT_EQ(get(id).counters.current_lease_epoch, 1U) << "never lost";
  }
}

TEST_F(WorkerLeases, T85_cancelled_by_an_operator) {
  const auto id = submit();
  run(brief(), until_stopped());
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  must(fabric.cancel(id));
  EXPECT_TRUE(stops_with(StopReason::cancelled));
  EXPECT_FALSE(healthy);
  stop_and_join();
  EXPECT_EQ(state_of(id), PublicState::cancelled);
  EXPECT_EQ(must(fabric.result(id)), std::nullopt) << "what it returned was thrown away";
  EXPECT_EQ(count_events(id, "completion"), 1U);
}

TEST_F(WorkerLeases, T85_revoked) {
  const auto id = submit();
  must(fabric.pause_lane("default"));
  must(fabric.resume_lane("default"));
  run(brief(1), until_stopped());
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  must(fabric.pause_lane("default"));
  must(fabric.revoke_lease({.execution_id = id}));
  EXPECT_TRUE(stops_with(StopReason::revoked));
  stop_and_join();
  EXPECT_EQ(vector_of(id), kLeaseRevoked);
}

TEST_F(WorkerLeases, T85_nobody_can_be_reached_for_the_time_of_a_lease) {
  submit();
  run(brief(1), until_stopped());
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  wire->cut = true;
  EXPECT_TRUE(stops_with(StopReason::lost));
  wire->cut = false;
}

TEST_F(WorkerLeases, T85_renewals_that_nobody_answers) {
  submit();
  wire->swallow_renewals = true;
  run(brief(1), until_stopped());
  EXPECT_TRUE(stops_with(StopReason::lost)) << "no answer says as much as one that fails";
}

TEST_F(WorkerLeases, a_renewal_that_hangs_is_given_up) {
  submit();
  wire->swallow_renewals = true;
  run(brief(2), [this](Task&) {
    door->wait();
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return wire->renewals().size() == 1; }));
  wire->swallow_renewals = false;
  submit();
  EXPECT_TRUE(eventually([&] { return wire->renewals().size() > 1; }));
}

TEST_F(WorkerLeases, T85_the_same_answer_to_a_report_of_progress) {
  const auto id = submit();
  WorkerOptions slow = brief();
  slow.lease_ttl_ms = 60'000;  // a renewal would tell only after 20 s
  run(slow, [&](Task& task) {
    started = true;
    door->wait();
    EXPECT_FALSE(task.progress(50));
    reason = task.stop_reason();
    return ff::complete("too late");
  });
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  must(fabric.cancel(id));
  door->open();
  EXPECT_TRUE(stops_with(StopReason::cancelled));
  stop_and_join();
  EXPECT_EQ(must(fabric.result(id)), std::nullopt);
}

TEST_F(WorkerLeases, T86_answers_that_get_lost) {
  wire->answers_to_lose = 2;
  const auto id = submit();
  run(brief(), [](Task&) { return ff::complete("once"); });
  ASSERT_TRUE(comes_to(id, PublicState::completed));
  EXPECT_TRUE(eventually([&] { return wire->answers_to_lose <= 0; })) << "repeated until it was answered";
  EXPECT_EQ(must(stop_and_join()), 0U);
  EXPECT_EQ(count_events(id, "completion"), 1U);
  EXPECT_EQ(must(fabric.result(id))->bytes, "once");
}

TEST_F(WorkerLeases, T86_a_cancel_that_comes_first) {
  const auto id = submit();
  WorkerOptions slow = brief();
  slow.lease_ttl_ms = 60'000;
  run(slow, [this](Task&) {
    started = true;
    door->wait();
    return ff::complete("too late");
  });
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  must(fabric.cancel(id));
  door->open();
  EXPECT_EQ(must(stop_and_join()), 0U);
  EXPECT_EQ(state_of(id), PublicState::cancelled);
  EXPECT_EQ(must(fabric.result(id)), std::nullopt);
}

}  // namespace ff::test
