// 06, section 1.6 and its neighbours: what the sweeps do to leases, attempts and delays.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {

TEST_P(Background, T15_reclaim) {
  const ClaimedTask task = lost();
  const auto id = task.execution.execution_id;
  EXPECT_EQ(vector_of(id), kLeaseLost);
  EXPECT_EQ(sweep("lease_expiry").processed, 1U);
  const std::uint64_t version = get(id).version;
  settle();
  EXPECT_EQ(sweep("lease_expiry").processed, 1U) << "a second run finds nothing";
  EXPECT_EQ(get(id).version, version);
  EXPECT_THAT(renew(task), Refused(ErrorCode::lease_expired));
  const ClaimedTask taken = claim("w2");
  EXPECT_EQ(taken.kind, HandleKind::reclaimed);
  EXPECT_EQ(taken.attempt.attempt_index, 1U);
  EXPECT_EQ(taken.lease_epoch, 2U);
}

TEST_P(Background, T16_retry) {
  const ClaimedTask task = lost(R"({"lease_loss_policy": "retry", "retry_policy": {"max_retries": 3}})");
  const auto id = task.execution.execution_id;
  EXPECT_EQ(vector_of(id), kWaitingRetry);
  EXPECT_EQ(get(id).counters.total_attempt_count, 1U) << "the next attempt has index 1";
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_failure interrupted"));
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired lease_expired"));
  EXPECT_EQ(get(id).counters.current_lease_epoch, 1U);
}

TEST_P(Background, T17_retry_with_none_left) {
  const auto id = lost(R"({"lease_loss_policy": "retry", "retry_policy": {"max_retries": 0}})").execution.execution_id;
  EXPECT_EQ(vector_of(id), kEndedExpired);
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired lease_expired", "completion expired"));
}

TEST_P(Background, T18_how_many_retries) {
  EXPECT_EQ(get(submit(R"({"lease_loss_policy": "retry"})")).policy.retry_policy->max_retries, 3U);
  EXPECT_EQ(get(submit(R"({"retry_policy": {"backoff": {"type": "fixed"}}})")).policy.retry_policy->max_retries, 3U);
  EXPECT_EQ(get(submit(R"({"retry_policy": {"max_retries": 0}})")).policy.retry_policy->max_retries, 0U);
  for (const char* number : {"-1", "\"three\"", "4294967296", "1.5"})
    EXPECT_THAT(parse_policy(fmt::format(R"({{"retry_policy": {{"max_retries": {}}}}})", number)),
                Refused(ErrorCode::invalid_policy_json))
        << number;
  restart({.default_max_retries = 5});
  EXPECT_EQ(get(submit()).policy.retry_policy->max_retries, 5U);
}

TEST_P(Background, T19_something_else_came_first) {
  const ClaimedTask renewed = running(), completed = running(), cancelled = running(), paused = running();
  advance(29'000);
  must(renew(renewed));
  must(complete(completed));
  must(fabric.cancel(cancelled.execution.execution_id));
  must(fabric.delay({.handle = paused.handle, .delay_ms = 3'600'000}));
  std::map<ExecutionId, std::uint64_t> versions;
  for (const auto& task : {renewed, completed, cancelled, paused})
    versions[task.execution.execution_id] = get(task.execution.execution_id).version;
  advance(20'000);
  for (const auto& [id, version] : versions) EXPECT_EQ(get(id).version, version);
  EXPECT_EQ(sweep("lease_expiry").errors, 0U);
}

TEST_P(Background, T20_lease_expiry_against_complete) {
  int completed = 0, reclaimed = 0;
  for (int round = 0; round < 40; ++round) {
    const ClaimedTask task = running();
    const auto id = task.execution.execution_id;
    clock->advance(29'999);
    bool done = false;
    {
      std::jthread time([&] { clock->advance(2); });
      std::jthread worker([&] { done = complete(task).has_value(); });
    }
    settle();
    EXPECT_EQ(vector_of(id), done ? kEndedSuccess : kLeaseLost);
    EXPECT_EQ(count_events(id, "completion"), done ? 1U : 0U);
    EXPECT_EQ(count_events(id, "lease expired"), done ? 0U : 1U);
    ++(done ? completed : reclaimed);
    if (!done) must(fabric.cancel(id));
  }
  EXPECT_EQ(completed + reclaimed, 40);
}

TEST_P(Background, T21_to_the_millisecond) {
  const ClaimedTask held = running(), called = running();
  advance(30'000);
  EXPECT_EQ(vector_of(held.execution.execution_id), kRunning) << "the sweep leaves it";
  EXPECT_EQ(get(held.execution.execution_id).lease->expires_at_ms, now());
  EXPECT_THAT(renew(called), Refused(ErrorCode::lease_expired)) << "a worker call is refused";
  advance(1);
  EXPECT_EQ(vector_of(held.execution.execution_id), kLeaseLost);
}

TEST_P(Background, T22_attempt_timeout_of_a_diligent_worker) {
  const ClaimedTask task = running(R"({"timeout_policy": {"attempt_timeout_ms": 60000}, "retry_policy": {"max_retries": 1}})");
  const auto id = task.execution.execution_id;
  for (int i = 0; i < 6; ++i) {
    must(renew(task));
    advance(10'000);
  }
  EXPECT_EQ(vector_of(id), kRunning);
  must(renew(task));
  advance(1);
  EXPECT_EQ(vector_of(id), kWaitingRetry);
  EXPECT_THAT(renew(task), Refused(ErrorCode::execution_not_active));
}

TEST_P(Background, T23_deadline_of_one_never_claimed) {
  const auto id = submit(R"({"timeout_policy": {"execution_deadline_ms": 1000}})");
  advance(1'001);
  EXPECT_EQ(state_of(id), PublicState::expired);
  EXPECT_THAT(events(id), ElementsAre("completion expired"));
  EXPECT_EQ(sweep("execution_deadline").processed, 1U);
}

TEST_P(Background, T24_the_cap_under_retry) {
  const auto id = lost(R"({"lease_loss_policy": "retry", "max_reclaim_count": 0, "retry_policy": {"max_retries": 9}})")
                      .execution.execution_id;
  EXPECT_EQ(vector_of(id), kEndedFailed);
  EXPECT_EQ(get(id).ending.failure_reason, "max_reclaims_exceeded");
  EXPECT_EQ(count_events(id, "completion"), 1U);
}

TEST_P(Background, T27_promotion_keeps_what_comes_next) {
  Submission first = job();
  first.delay_ms = 1'000;
  first.lane_id = "made-at-run-time";
  submit(first);
  const ClaimedTask failing = running(R"({"retry_policy": {"backoff": {"type": "fixed", "delay_ms": 1000}}})");
  must(fail(failing));
  const ClaimedTask pausing = running();
  must(fabric.delay({.handle = pausing.handle, .delay_ms = 1'000}));
  advance(1'000);
  EXPECT_EQ(vector_of(*first.execution_id), kWaitingFirst);
  EXPECT_EQ(vector_of(failing.execution.execution_id), kWaitingRetry);
  EXPECT_EQ(vector_of(pausing.execution.execution_id), kResumable);
  EXPECT_EQ(sweep("delayed_promoter").processed, 3U);
}

}  // namespace ff::test
