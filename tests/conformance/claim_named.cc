// 02, section 4.4 and 05, section 4.6: a claim that names one execution.

#include "conformance/conformance.h"

#include <semaphore>

namespace ff::test {

TEST_P(Executions, T17_named_fresh_and_live) {
  const auto first = submit(), second = submit();
  const auto tasks = must(claim_named(second));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].execution.execution_id, second);
  EXPECT_EQ(tasks[0].kind, HandleKind::fresh);
  EXPECT_THAT(must(claim_named(second, "w2")), IsEmpty()) << "a live lease";
  EXPECT_EQ(get(second).lease->worker_instance_id, "w1");
  EXPECT_EQ(get(second).version, 2U);
  EXPECT_EQ(claim().execution.execution_id, first);
}

TEST_P(InProcess, T17_named_in_the_batch_that_creates_it) {
  auto faults = std::make_shared<Faults>();
  restart({.sweeps = false, .executors = 1}, with(faults));
  const auto other = submit();  // now the lane is known, and a create need not read it
  faults->hold();
  std::atomic<int> answered = 0;
  fabric.cancel({.execution_id = other}, [&](const auto&) { ++answered; });
  ASSERT_TRUE(eventually([&] { return faults->holds_one(); }));
  const Submission submission = job();
  fabric.submit(submission, [&](const auto&) { ++answered; });
  ClaimRequest named = request();
  named.execution_id = submission.execution_id;
  fabric.claim(named, [&](const Result<std::vector<ClaimedTask>>& tasks) {
    EXPECT_THAT(must(tasks), SizeIs(1));
    ++answered;
  });
  faults->release();
  ASSERT_TRUE(eventually([&] { return answered == 3; }));
  EXPECT_EQ(state_of(*submission.execution_id), PublicState::active);
}

TEST_P(Executions, T17_named_lapsed_is_marked_and_leased) {
  const ClaimedTask old = running();
  const auto id = old.execution.execution_id;
  const std::uint64_t version = get(id).version;
  clock->advance(30'000);  // at this moment the lease is over, and no sweep takes it yet
  const auto tasks = must(claim_named(id, "w2"));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].kind, HandleKind::reclaimed);
  EXPECT_EQ(tasks[0].lease_epoch, 2U);
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 1U);
  EXPECT_EQ(get(id).version, version + 1) << "one operation, one version";
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired lease_expired", "lease reclaimed lease_expired"));
  EXPECT_THAT(attempt_lines(id),
              ElementsAre("0 initial interrupted_reclaimed interrupted_reclaimed", "1 reclaim started"));
  EXPECT_THAT(renew(old), Refused(ErrorCode::stale_lease));
}

TEST_P(Executions, T17_named_lapsed_follows_the_lease_loss_policy) {
  const auto retrying = running(R"({"lease_loss_policy": "retry"})").execution.execution_id;
  const auto capped = running(R"({"max_reclaim_count": 0})").execution.execution_id;
  clock->advance(30'000);
  const auto tasks = must(claim_named(retrying, "w2"));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].kind, HandleKind::fresh);
  EXPECT_EQ(tasks[0].attempt.attempt_type, AttemptType::retry);
  EXPECT_EQ(get(retrying).counters.retry_count, 1U);
  EXPECT_THAT(events(retrying), ElementsAre("lease acquired", "lease expired lease_expired", "lease acquired"));

  EXPECT_THAT(claim_named(capped, "w2"), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "failed"));
  EXPECT_EQ(get(capped).ending.failure_reason, "max_reclaims_exceeded");
  EXPECT_EQ(count_events(capped, "completion"), 1U);
}

TEST_P(Executions, T17_named_refusals) {
  Submission delayed = job();
  delayed.delay_ms = 1'000;
  submit(delayed);
  EXPECT_THAT(claim_named(*delayed.execution_id),
              RefusedWith(ErrorCode::execution_not_eligible, "detail", "waiting_for_delay"));

  const ClaimedTask failing = running();
  must(fail(failing));
  EXPECT_THAT(claim_named(failing.execution.execution_id),
              RefusedWith(ErrorCode::execution_not_eligible, "detail", "waiting_for_retry_backoff"));

  const auto held = submit();
  must(fabric.pause_lane("default"));
  EXPECT_THAT(claim_named(held), RefusedWith(ErrorCode::execution_not_eligible, "detail", "lane paused"));
  must(fabric.configure_lane({.lane_id = "default", .lane_state = LaneState::disabled}));
  EXPECT_THAT(claim_named(held), RefusedWith(ErrorCode::execution_not_eligible, "detail", "lane disabled"));
  must(fabric.drain_lane("default"));
  EXPECT_THAT(must(claim_named(held)), SizeIs(1));

  must(fabric.cancel(held));
  EXPECT_THAT(claim_named(held), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "cancelled"));
  EXPECT_THAT(claim_named(next_id()), Refused(ErrorCode::execution_not_found));
}

TEST_P(Executions, T17_named_without_the_capabilities) {
  const auto id = submit(R"({"routing_requirements": {"required_capabilities": ["zip", "gpu", "cuda"]}})");
  ClaimRequest named = request();
  named.execution_id = id;
  named.capabilities = {"gpu"};
  advance(5);
  const auto refused = fabric.claim(named);
  EXPECT_THAT(refused, Refused(ErrorCode::capability_mismatch));
  const Detail* missing = refused.error().context.find("missing");
  ASSERT_TRUE(missing);
  EXPECT_THAT(std::get<std::vector<std::string>>(*missing), ElementsAre("cuda", "zip"));
  EXPECT_EQ(get(id).hold.last_capability_mismatch_at_ms, now());
  EXPECT_EQ(vector_of(id), kWaitingFirst);
  EXPECT_EQ(get(id).version, 2U);

  named.capabilities = {"zip", "cuda", "gpu", "more"};
  EXPECT_THAT(must(fabric.claim(named)), SizeIs(1));
}

TEST_P(Executions, T18_named_claim_of_a_resumed_execution) {
  const ClaimedTask first = running();
  const auto id = first.execution.execution_id;
  EXPECT_THAT(must(claim_named(id, "w2")), IsEmpty());
  EXPECT_THAT(renew(first), Succeeds()) << "w1 is not affected";
  must(fabric.delay({.handle = first.handle, .delay_ms = 1'000}));
  advance(1'000);
  EXPECT_EQ(vector_of(id), kResumable);
  const auto resumed = must(claim_named(id, "w2"));
  ASSERT_THAT(resumed, SizeIs(1));
  EXPECT_EQ(resumed[0].kind, HandleKind::resumed);
  EXPECT_EQ(resumed[0].attempt, first.attempt);
  EXPECT_EQ(resumed[0].lease_epoch, 2U);
  EXPECT_EQ(events(id).back(), "lease acquired claim_resumed");
}

TEST_P(Scheduling, T37_named_claim_of_a_revoked_one) {
  const ClaimedTask old = running();
  const auto id = old.execution.execution_id;
  must(fabric.revoke_lease({.execution_id = id}));
  const auto tasks = must(claim_named(id, "w2"));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].kind, HandleKind::reclaimed);
  EXPECT_EQ(events(id).back(), "lease reclaimed lease_revoked");
  EXPECT_EQ(attempts(id).at(0).failure_reason, "lease_revoked");
  EXPECT_EQ(attempts(id).at(1).reclaim_reason, "lease_revoked");
  EXPECT_EQ(get(id).ending.last_failure_message, "lease_revoked");
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 0U);
}

TEST_P(Scheduling, T37_named_claim_of_another_namespace_or_kind) {
  Submission submission = job();
  submission.namespace_ = "tenant-b";
  const auto id = submit(submission);
  ClaimRequest named = request();
  named.execution_id = id;
  named.namespace_ = "tenant-a";
  EXPECT_THAT(fabric.claim(named), Refused(ErrorCode::execution_not_found));
  named.namespace_ = "tenant-b";
  named.kinds = {"other"};
  EXPECT_THAT(fabric.claim(named), Refused(ErrorCode::execution_not_eligible));
  named.kinds = {"other", "job"};
  EXPECT_THAT(must(fabric.claim(named)), SizeIs(1));
}

TEST_P(Scheduling, T37_named_claim_waits_for_the_lease_to_end) {
  const ClaimedTask first = running();
  ClaimRequest named = request("w2");
  named.execution_id = first.execution.execution_id;
  named.wait_ms = 60'000;
  std::binary_semaphore answered(0);
  Result<std::vector<ClaimedTask>> answer;
  fabric.claim(named, [&](Result<std::vector<ClaimedTask>> tasks) {
    answer = std::move(tasks);
    answered.release();
  });
  must(fabric.delay({.handle = first.handle, .delay_ms = 0}));
  answered.acquire();
  ASSERT_THAT(must(answer), SizeIs(1));
  EXPECT_EQ(answer->front().kind, HandleKind::resumed);
}

}  // namespace ff::test
