// 02, section 1.3 and 01, sections 3.6, 4.4 and 4.5: lost leases, and what they leave behind.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Executions, T43_reclaims_and_retries) {
  const std::string two = R"("retry_policy": {"max_retries": 2})";
  const auto reclaiming = submit("{" + two + "}");
  const auto retrying = submit(R"({"lease_loss_policy": "retry", )" + two + "}");
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(claim(2), SizeIs(2));
    advance(30'001);
  }
  EXPECT_EQ(get(reclaiming).counters.retry_count, 0U);
  EXPECT_EQ(get(reclaiming).counters.lease_reclaim_count, 2U);
  EXPECT_EQ(get(retrying).counters.retry_count, 2U);
  EXPECT_EQ(get(retrying).counters.lease_reclaim_count, 2U);
  ASSERT_THAT(claim(2), SizeIs(2));
  advance(30'001);
  EXPECT_EQ(state_of(reclaiming), PublicState::active);
  EXPECT_EQ(state_of(retrying), PublicState::expired);
}

TEST_P(Executions, T46_lost_lease) {
  const ClaimedTask old = running();
  const auto id = old.execution.execution_id;
  restart({.sweeps = false});
  clock->advance(30'001);
  EXPECT_THAT(must(fabric.leases({.expired_before_ms = now()})).items, SizeIs(1)) << "listed as lapsed";
  EXPECT_THAT(claim(1), IsEmpty()) << "a claim by lane does not look for lapsed leases";
  EXPECT_EQ(vector_of(id), kRunning);

  restart();
  settle();
  EXPECT_EQ(vector_of(id), kLeaseLost);
  EXPECT_EQ(state_of(id), PublicState::active);
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 1U);
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial started lease_expired_reclaimable"));
  EXPECT_EQ(attempts(id).at(0).release_op, ReleaseOp::lease_lost);
  EXPECT_THAT(must(fabric.leases()).items, IsEmpty());

  const ClaimedTask task = claim("w2");
  EXPECT_EQ(task.kind, HandleKind::reclaimed);
  EXPECT_EQ(task.attempt.attempt_index, 1U);
  EXPECT_EQ(task.attempt.attempt_type, AttemptType::reclaim);
  EXPECT_EQ(task.lease_epoch, 2U);
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 1U);
  EXPECT_EQ(get(id).ending.last_failure_message, "lease_expired");
  EXPECT_FALSE(get(id).hold.lease_expired_at_ms);
  EXPECT_FALSE(get(id).hold.blocking_detail);
  const auto all = attempts(id);
  EXPECT_THAT(attempt_lines(id),
              ElementsAre("0 initial interrupted_reclaimed interrupted_reclaimed", "1 reclaim started"));
  EXPECT_EQ(all[0].failure_reason, "lease_expired");
  EXPECT_EQ(all[0].ended_at_ms, now());
  EXPECT_EQ(all[0].release_op, ReleaseOp::reclaim);
  EXPECT_EQ(all[1].reclaim_reason, "lease_expired");
  EXPECT_EQ(all[1].previous_attempt_index, 0U);
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired lease_expired", "lease reclaimed lease_expired"));
  EXPECT_THAT(must(fabric.leases({.worker = "w1"})).items, IsEmpty());
  EXPECT_THAT(must(fabric.leases({.worker = "w2"})).items, SizeIs(1));
}

TEST_P(Executions, T46_marked_by_the_late_holder) {
  const ClaimedTask old = running();
  restart({.sweeps = false});
  clock->advance(30'001);
  EXPECT_THAT(claim(1), IsEmpty());
  EXPECT_THAT(complete(old), Refused(ErrorCode::lease_expired));
  EXPECT_EQ(claim("w2").kind, HandleKind::reclaimed);
}

TEST_P(Executions, T47_the_cap) {
  const auto id = submit(R"({"max_reclaim_count": 2})");
  for (int i = 0; i < 2; ++i) {
    claim();
    advance(30'001);
    EXPECT_EQ(vector_of(id), kLeaseLost);
  }
  claim();
  advance(30'001);
  EXPECT_EQ(vector_of(id), kEndedFailed) << "at once, whether or not a worker waits";
  EXPECT_EQ(get(id).ending.failure_reason, "max_reclaims_exceeded");
  EXPECT_EQ(get(id).ending.last_failure_message, "max_reclaims_exceeded");
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 2U);
  EXPECT_EQ(count_events(id, "completion"), 1U);
  const auto lines = events(id);
  EXPECT_EQ(lines[lines.size() - 2], "lease expired max_reclaims_exceeded");
  EXPECT_EQ(count_events(id, "lease expired"), 3U);
  EXPECT_EQ(lines_of(attempts(id)).back(), "2 reclaim ended_failure failed");

  const auto none = submit(R"({"max_reclaim_count": 0})");
  claim();
  advance(30'001);
  EXPECT_EQ(vector_of(none), kEndedFailed);
  EXPECT_EQ(get(submit()).policy.max_reclaim_count, 20U);
}

TEST_P(Executions, T48_lease_loss_policy_retry) {
  const ClaimedTask task = running(R"({"lease_loss_policy": "retry", "retry_policy": {"max_retries": 3}})");
  const auto id = task.execution.execution_id;
  advance(30'001);
  const Execution execution = get(id);
  EXPECT_EQ(vector_of(id), kWaitingRetry);
  EXPECT_EQ(execution.counters.current_lease_epoch, 1U);
  EXPECT_EQ(execution.counters.retry_count, 1U);
  EXPECT_EQ(execution.ending.last_failure_message, "attempt_timeout");
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_failure interrupted"));
  EXPECT_EQ(attempts(id).at(0).failure_reason, "lease_lost");
  EXPECT_EQ(attempts(id).at(0).failure_category, "infra_crash");
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired lease_expired"));
  EXPECT_THAT(renew(task), RefusedWith(ErrorCode::execution_not_active, "lifecycle_phase", "runnable"));
  const ClaimedTask second = claim();
  EXPECT_EQ(second.attempt.attempt_index, 1U);
  EXPECT_EQ(second.attempt.attempt_type, AttemptType::retry);
  EXPECT_EQ(second.kind, HandleKind::fresh);
  EXPECT_EQ(attempts(id).at(1).retry_reason, "lease_lost");
}

TEST_P(Executions, T48_lease_loss_policy_retry_used_up) {
  const auto none = running(R"({"lease_loss_policy": "retry", "retry_policy": {"max_retries": 0}})").execution.execution_id;
  const auto one = submit(R"({"lease_loss_policy": "retry", "retry_policy": {"max_retries": 1}})");
  claim();
  advance(30'001);
  claim();
  advance(30'001);
  for (const auto& id : {none, one}) {
    EXPECT_EQ(vector_of(id), kEndedExpired);
    EXPECT_EQ(get(id).ending.failure_reason, "lease_lost");
    EXPECT_EQ(get(id).ending.last_failure_message, "attempt_timeout");
    EXPECT_EQ(count_events(id, "completion expired"), 1U);
  }
  EXPECT_THAT(events(none), ElementsAre("lease acquired", "lease expired lease_expired", "completion expired"));

  // Paused or ended before its time is over: nothing is lost.
  const ClaimedTask paused = running(R"({"lease_loss_policy": "retry"})");
  must(fabric.delay({.handle = paused.handle, .delay_ms = 3'600'000}));
  const std::uint64_t version = get(paused.execution.execution_id).version;
  advance(30'001);
  EXPECT_EQ(get(paused.execution.execution_id).version, version);
}

TEST_P(Executions, T49_a_zombie_changes_nothing) {
  const ClaimedTask zombie = lost();
  const auto id = zombie.execution.execution_id;
  const ClaimedTask successor = claim("w2");
  EXPECT_THAT(fabric.complete({.handle = zombie.handle, .result = "zombie"}), Refused(ErrorCode::stale_lease));
  must(fabric.complete({.handle = successor.handle, .result = "successor"}));
  EXPECT_THAT(fabric.complete({.handle = zombie.handle, .result = "zombie"}),
              AnyOf(Refused(ErrorCode::stale_lease), Refused(ErrorCode::execution_not_active)));
  EXPECT_EQ(must(fabric.result(id))->bytes, "successor");
  EXPECT_EQ(count_events(id, "completion"), 1U);
}

TEST_P(Executions, T50_the_epoch_rises) {
  const auto id = submit(R"({"retry_policy": {"backoff": {"type": "fixed", "delay_ms": 0}}})");
  std::uint64_t epoch = 0;
  auto leased = [&] {
    ClaimedTask task = claim();
    EXPECT_EQ(task.lease_epoch, ++epoch);
    return task;
  };
  auto unmoved = [&] { EXPECT_EQ(get(id).counters.current_lease_epoch, epoch); };
  for (int i = 0; i < 3; ++i) {
    ClaimedTask task = leased();
    must(renew(task));
    unmoved();
    must(fabric.delay({.handle = task.handle, .delay_ms = 0}));
    unmoved();
    leased();
    advance(30'001);
    unmoved();
    leased();
    must(fabric.revoke_lease({.execution_id = id}));
    unmoved();
    task = leased();
    must(complete(task));
    unmoved();
    must(fabric.replay(id));
    unmoved();
  }
  EXPECT_EQ(epoch, 12U);
}

TEST_P(Domain, T18_the_worked_example) {
  const auto id = submit(R"({"retry_policy": {"max_retries": 1, "backoff": {"type": "fixed", "delay_ms": 0}}})");
  auto expect = [&](std::uint32_t total, std::uint32_t retries, std::uint32_t reclaims, std::uint32_t claims,
                    std::uint64_t epoch, const std::vector<std::string>& lines) {
    const Counters counters = get(id).counters;
    EXPECT_EQ(counters, (Counters{total, epoch, claims, retries, reclaims, 0, 0}));
    EXPECT_EQ(attempt_lines(id), lines);
  };
  expect(0, 0, 0, 0, 0, {});
  ClaimedTask task = claim();
  expect(1, 0, 0, 1, 1, {"0 initial started"});
  must(fabric.delay({.handle = task.handle, .delay_ms = 0}));
  claim();
  expect(1, 0, 0, 2, 2, {"0 initial started"});
  advance(30'001);
  expect(1, 0, 1, 2, 2, {"0 initial started lease_expired_reclaimable"});
  task = claim();
  const std::string reclaimed = "0 initial interrupted_reclaimed interrupted_reclaimed";
  expect(2, 0, 1, 3, 3, {reclaimed, "1 reclaim started"});
  must(fail(task));
  expect(2, 1, 1, 3, 3, {reclaimed, "1 reclaim ended_failure retry"});
  task = claim();
  expect(3, 1, 1, 4, 4, {reclaimed, "1 reclaim ended_failure retry", "2 retry started"});
  must(complete(task));
  expect(3, 1, 1, 4, 4, {reclaimed, "1 reclaim ended_failure retry", "2 retry ended_success success"});
}

TEST_P(Domain, T19_the_epoch_moves_at_claims_only) {
  const ClaimedTask cancelled = running();
  must(fabric.cancel(cancelled.execution.execution_id));
  EXPECT_EQ(get(cancelled.execution.execution_id).counters.current_lease_epoch, 1U);
  must(fabric.replay(cancelled.execution.execution_id));
  EXPECT_EQ(get(cancelled.execution.execution_id).counters.current_lease_epoch, 1U);
  EXPECT_EQ(claim().lease_epoch, 2U);
}

TEST_P(Domain, T20_started_at_is_set_once) {
  const auto id = submit(R"({"retry_policy": {"backoff": {"type": "fixed", "delay_ms": 10}}})");
  advance(5);
  const TimeMs started = now();
  ClaimedTask task = claim();
  must(fail(task));
  advance(10);
  task = claim();  // a retry
  must(fabric.delay({.handle = task.handle, .delay_ms = 10}));
  advance(10);
  claim();  // resumed
  advance(30'001);
  task = claim();  // reclaimed
  must(complete(task));
  must(fabric.replay(id));
  EXPECT_EQ(get(id).times.started_at_ms, started);
  claim();
  EXPECT_EQ(get(id).times.started_at_ms, started);
}

TEST_P(Domain, T25_revokes_are_not_counted_and_replay_resets) {
  const auto id = submit(R"({"max_reclaim_count": 1})");
  for (int i = 0; i < 3; ++i) {
    claim();
    must(fabric.revoke_lease({.execution_id = id}));
  }
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 0U);
  claim();
  advance(30'001);
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 1U);
  claim();
  advance(30'001);
  EXPECT_EQ(vector_of(id), kEndedFailed);
  EXPECT_EQ(count_events(id, "completion"), 1U);
  must(fabric.replay(id));
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 0U);
  claim();
  advance(30'001);
  EXPECT_EQ(vector_of(id), kLeaseLost);
}

TEST_P(Domain, T26_lease_loss_policy_of_the_engine) {
  restart({.lease_loss_policy = LeaseLossPolicy::retry});
  const auto id = submit();
  claim();
  advance(30'001);
  EXPECT_EQ(vector_of(id), kWaitingRetry) << "also without a policy";
  EXPECT_EQ(count_events(id, "lease expired"), 1U);
  const auto none = submit(R"({"retry_policy": {"max_retries": 0}})");
  must(claim_named(none));
  advance(30'001);
  EXPECT_EQ(vector_of(none), kEndedExpired);
  EXPECT_EQ(count_events(none, "completion"), 1U);
}

}  // namespace ff::test
