// 02, sections 7.2 and 7.3: attempt timeouts and deadlines.

#include "conformance/conformance.h"

namespace ff::test {
namespace {

std::string timed(int attempt_timeout_ms, int max_retries) {
  return fmt::format(R"({{"timeout_policy": {{"attempt_timeout_ms": {}}}, "retry_policy": {{"max_retries": {}}}}})",
                     attempt_timeout_ms, max_retries);
}

constexpr const char* kDeadline = R"({"timeout_policy": {"execution_deadline_ms": 40000}})";

}  // namespace

TEST_P(Executions, T42_attempt_timeout_with_retries) {
  const ClaimedTask task = running(timed(5'000, 1));
  const auto id = task.execution.execution_id;
  EXPECT_EQ(get(id).timers.attempt_timeout_at_ms, now() + 5'000);
  advance(5'000);
  EXPECT_EQ(vector_of(id), kRunning);
  advance(1);
  const Execution execution = get(id);
  EXPECT_EQ(vector_of(id), kWaitingRetry);
  EXPECT_EQ(execution.counters.retry_count, 1U);
  EXPECT_EQ(execution.counters.lease_reclaim_count, 0U);
  EXPECT_EQ(execution.ending.last_failure_message, "attempt_timeout");
  EXPECT_FALSE(execution.ending.failure_reason);
  EXPECT_FALSE(execution.timers.attempt_timeout_at_ms);
  EXPECT_FALSE(execution.lease);
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired expired:attempt_timeout"));
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_failure interrupted"));
  EXPECT_EQ(attempts(id).at(0).failure_reason, "attempt_timeout");
  EXPECT_EQ(attempts(id).at(0).failure_category, "timeout");
  EXPECT_EQ(attempts(id).at(0).release_op, ReleaseOp::expire);
  EXPECT_THAT(complete(task), RefusedWith(ErrorCode::execution_not_active, "lifecycle_phase", "runnable"));

  const ClaimedTask second = claim("w2");
  EXPECT_EQ(second.attempt.attempt_type, AttemptType::retry);
  EXPECT_EQ(attempts(id).at(1).retry_reason, "attempt_timeout");
  EXPECT_EQ(get(id).timers.attempt_timeout_at_ms, now() + 5'000) << "a new attempt gets it in full";
  EXPECT_THAT(complete(task), Refused(ErrorCode::stale_lease));

  advance(5'001);
  EXPECT_EQ(vector_of(id), kEndedExpired) << "no retries are left";
}

TEST_P(Executions, T42_attempt_timeout_without_retries) {
  const ClaimedTask task = running(timed(5'000, 0));
  const auto id = task.execution.execution_id;
  advance(5'001);
  EXPECT_EQ(vector_of(id), kEndedExpired);
  EXPECT_EQ(get(id).ending.failure_reason, "attempt_timeout");
  EXPECT_EQ(get(id).ending.last_failure_message, "attempt_timeout");
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_failure expired"));
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired expired:attempt_timeout", "completion expired"));
  EXPECT_EQ(sweep("attempt_timeout").processed, 1U);
}

TEST_P(Executions, T44_timeouts_that_found_something_else) {
  const ClaimedTask renewed = running(timed(40'000, 0));
  const ClaimedTask paused = running(timed(40'000, 0));
  const ClaimedTask ended = running(timed(40'000, 0));
  const ClaimedTask replaced = running(timed(40'000, 3));
  advance(20'000);
  must(renew(renewed));
  EXPECT_EQ(get(renewed.execution.execution_id).timers.attempt_timeout_at_ms, now() + 20'000)
      << "renewals do not move it";
  must(fabric.delay({.handle = paused.handle, .delay_ms = 3'600'000}));
  must(complete(ended));
  must(fail(replaced));
  advance(2'000);
  const ClaimedTask second = claim();
  ASSERT_EQ(second.execution.execution_id, replaced.execution.execution_id);
  advance(18'001);
  EXPECT_EQ(vector_of(renewed.execution.execution_id), kEndedExpired);
  EXPECT_EQ(vector_of(paused.execution.execution_id), kPausedByDelay);
  EXPECT_EQ(vector_of(ended.execution.execution_id), kEndedSuccess);
  EXPECT_EQ(vector_of(replaced.execution.execution_id), kRunning);
  EXPECT_EQ(sweep("attempt_timeout").errors, 0U);
}

TEST_P(Executions, T42_timeout_of_a_lost_and_of_a_revoked_lease) {
  const ClaimedTask lost_one = running(timed(40'000, 1));
  const ClaimedTask revoked = running(timed(40'000, 0));
  must(fabric.revoke_lease({.execution_id = revoked.execution.execution_id}));
  advance(30'001);
  EXPECT_EQ(vector_of(lost_one.execution.execution_id), kLeaseLost);
  EXPECT_EQ(vector_of(revoked.execution.execution_id), kLeaseRevoked);
  advance(10'000);
  EXPECT_EQ(vector_of(lost_one.execution.execution_id), kWaitingRetry);
  EXPECT_FALSE(get(lost_one.execution.execution_id).hold.lease_expired_at_ms);
  EXPECT_THAT(events(lost_one.execution.execution_id), ElementsAre("lease acquired", "lease expired lease_expired"))
      << "a lease that is lost already gets no second event";
  EXPECT_EQ(vector_of(revoked.execution.execution_id), kEndedExpired);
  EXPECT_THAT(events(revoked.execution.execution_id),
              ElementsAre("lease acquired", "lease revoked operator", "operator lease_revoked", "completion expired"));
}

TEST_P(Executions, T45_deadlines_from_every_state) {
  const auto waiting = submit(kDeadline);
  Submission later = job(kDeadline);
  later.delay_ms = 3'600'000;
  const auto delayed = submit(later);
  const ClaimedTask lost_one = running(kDeadline), revoked_one = running(kDeadline), backing_off = running(kDeadline),
                    held = running(kDeadline), done = running(kDeadline);
  const auto lost_id = lost_one.execution.execution_id, revoked = revoked_one.execution.execution_id;
  must(fabric.revoke_lease({.execution_id = revoked}));
  must(fabric.fail({.handle = backing_off.handle, .message = "m"}));
  must(fabric.renew({.handle = held.handle, .lease_ttl_ms = 3'600'000}));
  must(complete(done));
  must(fabric.pause_lane("default"));
  advance(40'000);
  EXPECT_EQ(vector_of(lost_id), kLeaseLost);
  EXPECT_EQ(vector_of(held.execution.execution_id), kRunning);
  const std::uint64_t done_version = get(done.execution.execution_id).version;
  advance(1);

  EXPECT_EQ(vector_of(waiting), "terminal/unowned/not_applicable/none/expired/none") << "no attempt ever existed";
  EXPECT_EQ(vector_of(delayed), "terminal/unowned/not_applicable/none/expired/none");
  for (const auto& id : {lost_id, revoked, backing_off.execution.execution_id, held.execution.execution_id})
    EXPECT_EQ(vector_of(id), kEndedExpired);
  for (const auto& id :
       {waiting, delayed, lost_id, revoked, backing_off.execution.execution_id, held.execution.execution_id}) {
    EXPECT_EQ(count_events(id, "completion expired"), 1U);
    EXPECT_EQ(get(id).ending.failure_reason, "execution_deadline");
    EXPECT_EQ(get(id).ending.last_failure_message, "execution_deadline");
    EXPECT_EQ(get(id).times.completed_at_ms, now());
    EXPECT_FALSE(get(id).timers.delay_until_ms);
  }
  EXPECT_THAT(events(waiting), ElementsAre("completion expired"));
  EXPECT_THAT(events(held.execution.execution_id),
              ElementsAre("lease acquired", "lease expired expired:execution_deadline", "completion expired"));
  EXPECT_EQ(count_events(lost_id, "lease expired"), 1U);
  EXPECT_EQ(attempts(held.execution.execution_id).at(0).failure_reason, "execution_deadline");
  EXPECT_THAT(attempt_lines(backing_off.execution.execution_id), ElementsAre("0 initial ended_failure retry"))
      << "an attempt that had ended stays as it was";
  EXPECT_EQ(get(done.execution.execution_id).version, done_version) << "no effect once terminal";
  EXPECT_THAT(complete(held), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "expired"));
}

TEST_P(Executions, T45_deadline_given_at_create) {
  Submission submission = job(kDeadline);
  submission.execution_deadline_at_ms = now() + 5;
  const auto by_argument = submit(submission);
  EXPECT_EQ(get(by_argument).timers.execution_deadline_at_ms, now() + 5);
  submission = job();
  submission.execution_deadline_at_ms = now() - 1'000;
  const auto in_the_past = submit(submission);
  advance(0);
  EXPECT_EQ(state_of(in_the_past), PublicState::expired) << "legal; the next sweep expires it";
  EXPECT_EQ(state_of(by_argument), PublicState::waiting);
  advance(6);
  EXPECT_EQ(state_of(by_argument), PublicState::expired);
}

TEST_P(Executions, T44_several_clocks_at_once) {
  // Lease, attempt timeout and deadline all passed while nobody looked: it ends once, with one completion.
  const auto id = submit(
      R"({"timeout_policy": {"attempt_timeout_ms": 10000, "execution_deadline_ms": 20000},
          "retry_policy": {"max_retries": 5}})");
  claim();
  advance(3'600'000);
  EXPECT_EQ(state_of(id), PublicState::expired);
  EXPECT_EQ(get(id).ending.failure_reason, "execution_deadline");
  EXPECT_EQ(count_events(id, "completion"), 1U);
  EXPECT_EQ(count_events(id, "lease expired"), 1U);
}

}  // namespace ff::test
