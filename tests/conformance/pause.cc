// 02, sections 5.5, 5.6 and 6: delay, wait for children, promotion.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Executions, T38_delay_for_an_hour) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  advance(1'000);
  EXPECT_EQ(must(fabric.delay({.handle = task.handle, .delay_until_ms = now() + 3'600'000})),
            (TaskDelayed{PublicState::delayed, now() + 3'600'000}));
  EXPECT_EQ(vector_of(id), kPausedByDelay);
  Execution execution = get(id);
  EXPECT_FALSE(execution.lease);
  EXPECT_EQ(execution.hold.interrupt_kind, InterruptKind::worker_delay);
  EXPECT_EQ(execution.hold.blocking_detail, fmt::format("delayed until {}", now() + 3'600'000));
  EXPECT_EQ(execution.timers.delay_until_ms, now() + 3'600'000);
  const Attempt paused = attempts(id).at(0);
  EXPECT_EQ(paused.attempt_state, AttemptRecordState::suspended);
  EXPECT_EQ(paused.suspended_at_ms, now());
  EXPECT_EQ(paused.suspension_id, "worker_delay");
  EXPECT_EQ(paused.release_op, ReleaseOp::delay);
  EXPECT_EQ(events(id).back(), "lease released worker_delay");
  EXPECT_THAT(claim(1), IsEmpty());
  EXPECT_THAT(renew(task), RefusedWith(ErrorCode::execution_not_active, "lifecycle_phase", "runnable"));

  advance(3'600'000);
  EXPECT_EQ(vector_of(id), kResumable);
  EXPECT_EQ(state_of(id), PublicState::resumable);
  const ClaimedTask resumed = claim("w2");
  EXPECT_EQ(resumed.kind, HandleKind::resumed);
  EXPECT_EQ(resumed.attempt, task.attempt);
  EXPECT_EQ(resumed.lease_epoch, 2U);
  const Attempt running_again = attempts(id).at(0);
  EXPECT_EQ(running_again.attempt_state, AttemptRecordState::started);
  EXPECT_EQ(running_again.started_at_ms, task.lease_expires_at_ms - 30'000);
  EXPECT_EQ(running_again.resumed_at_ms, now());
  EXPECT_FALSE(running_again.suspended_at_ms);
  EXPECT_FALSE(running_again.suspension_id);
  EXPECT_EQ(running_again.worker_instance_id, "w2");
  EXPECT_EQ(get(id).hold.interrupt_kind, InterruptKind::none);
  EXPECT_THAT(attempts(id), SizeIs(1));
  EXPECT_THAT(renew(task), Refused(ErrorCode::stale_lease));
}

TEST_P(Executions, T38_due_already) {
  const ClaimedTask past = running(), right_now = running();
  EXPECT_EQ(must(fabric.delay({.handle = past.handle, .delay_until_ms = now() - 5})).public_state,
            PublicState::resumable);
  EXPECT_EQ(vector_of(past.execution.execution_id), kResumable);
  EXPECT_EQ(must(fabric.delay({.handle = right_now.handle, .delay_ms = 0})).public_state, PublicState::resumable);
  EXPECT_THAT(claim(10), SizeIs(2));
}

TEST_P(Executions, T38_arguments_and_repeats) {
  const ClaimedTask task = running();
  EXPECT_THAT(fabric.delay({.handle = task.handle}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.delay({.handle = task.handle, .delay_until_ms = 1, .delay_ms = 1}),
              Refused(ErrorCode::invalid_input));
  const TaskDelayed answer = must(fabric.delay({.handle = task.handle, .delay_ms = 500}));
  const std::uint64_t version = get(task.execution.execution_id).version;
  EXPECT_EQ(must(fabric.delay({.handle = task.handle, .delay_ms = 9'000})), answer) << "the first answer again";
  EXPECT_EQ(get(task.execution.execution_id).version, version);
  EXPECT_THAT(complete(task), Refused(ErrorCode::execution_not_active));
}

TEST_P(Executions, T39_the_deadline_survives_a_delay) {
  const auto id = submit(R"({"timeout_policy": {"execution_deadline_ms": 10000}})");
  const TimeMs deadline = now() + 10'000;
  ClaimedTask task = claim();
  must(fabric.delay({.handle = task.handle, .delay_ms = 3'000}));
  EXPECT_EQ(get(id).timers.execution_deadline_at_ms, deadline);
  advance(3'000);
  EXPECT_EQ(get(id).timers.execution_deadline_at_ms, deadline);
  task = claim();
  must(fabric.delay({.handle = task.handle, .delay_ms = 60'000}));
  advance(7'000);
  EXPECT_EQ(vector_of(id), kPausedByDelay) << "at the deadline it is not past";
  advance(1);
  EXPECT_EQ(vector_of(id), kEndedExpired);
  EXPECT_EQ(get(id).ending.failure_reason, "execution_deadline");
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_failure expired"));
}

TEST_P(Executions, T40_the_attempt_timeout_is_paused) {
  const auto id = submit(R"({"timeout_policy": {"attempt_timeout_ms": 10000}, "retry_policy": {"max_retries": 0}})");
  ClaimedTask task = claim();
  EXPECT_EQ(get(id).timers.attempt_timeout_at_ms, now() + 10'000);
  advance(4'000);
  must(fabric.delay({.handle = task.handle, .delay_ms = 3'600'000}));
  EXPECT_FALSE(get(id).timers.attempt_timeout_at_ms);
  EXPECT_EQ(get(id).timers.attempt_timeout_remaining_ms, 6'000U);
  advance(3'600'000);
  EXPECT_EQ(vector_of(id), kResumable);
  task = claim();
  EXPECT_EQ(get(id).timers.attempt_timeout_at_ms, now() + 6'000);
  EXPECT_FALSE(get(id).timers.attempt_timeout_remaining_ms);
  advance(6'000);
  EXPECT_EQ(vector_of(id), kRunning);
  advance(1);
  EXPECT_EQ(vector_of(id), kEndedExpired);
  EXPECT_THAT(complete(task), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "expired"));
}

TEST_P(Executions, T41_wait_children_with_nothing_unresolved) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  EXPECT_EQ(must(fabric.wait_children({.handle = task.handle})), (Changed{id, PublicState::resumable, false}));
  EXPECT_EQ(vector_of(id), kResumable);
  EXPECT_EQ(get(id).hold.interrupt_kind, InterruptKind::waiting_children);
  EXPECT_EQ(attempts(id).at(0).suspension_id, "waiting_children");
  EXPECT_EQ(events(id).back(), "lease released waiting_children");
  const std::uint64_t version = get(id).version;
  EXPECT_EQ(must(fabric.wait_children({.handle = task.handle})), (Changed{id, PublicState::resumable, true}));
  EXPECT_EQ(get(id).version, version);
  const ClaimedTask resumed = claim("w2");
  EXPECT_EQ(resumed.kind, HandleKind::resumed);
  EXPECT_THAT(fabric.wait_children({.handle = task.handle}), Succeeds()) << "repeats succeed while it runs on";
  EXPECT_THAT(fabric.wait_children({.handle = resumed.handle, .children = {"child"}}),
              Refused(ErrorCode::execution_not_in_flow));
  EXPECT_THAT(complete(resumed), Succeeds());
}

TEST_P(Scheduling, T41_a_delay_keeps_what_comes_next) {
  Submission first = job();
  first.delay_ms = 1'000;
  submit(first);
  const ClaimedTask failing = running(R"({"retry_policy": {"backoff": {"type": "fixed", "delay_ms": 1000}}})");
  must(fail(failing));
  const ClaimedTask pausing = running();
  must(fabric.delay({.handle = pausing.handle, .delay_ms = 1'000}));
  const auto replayed = running();
  must(complete(replayed));
  must(fabric.replay(replayed.execution.execution_id));
  advance(1'000);
  EXPECT_EQ(vector_of(*first.execution_id), kWaitingFirst);
  EXPECT_EQ(vector_of(failing.execution.execution_id), kWaitingRetry);
  EXPECT_EQ(vector_of(pausing.execution.execution_id), kResumable);
  EXPECT_EQ(vector_of(replayed.execution.execution_id), kWaitingReplay);

  // Each goes back to its old place.
  std::vector<AttemptType> types;
  for (const auto& task : claim(10)) types.push_back(task.attempt.attempt_type);
  EXPECT_THAT(types, ElementsAre(AttemptType::initial, AttemptType::retry, AttemptType::initial, AttemptType::replay));
}

TEST_P(Scheduling, T46_delays) {
  Submission due = job(), not_due = job(), gone = job(), past = job();
  due.delay_ms = 1'000;
  not_due.delay_ms = 1'001;
  gone.delay_ms = 1'000;
  past.delay_until_ms = now() - 1;
  for (const auto& submission : {due, not_due, gone, past}) submit(submission);
  EXPECT_EQ(state_of(*past.execution_id), PublicState::waiting);
  must(fabric.cancel(*gone.execution_id));
  const std::uint64_t version = get(*gone.execution_id).version;
  advance(1'000);
  EXPECT_EQ(state_of(*due.execution_id), PublicState::waiting);
  EXPECT_EQ(state_of(*not_due.execution_id), PublicState::delayed);
  EXPECT_EQ(get(*gone.execution_id).version, version);
  const Execution promoted = get(*due.execution_id);
  EXPECT_EQ(promoted.version, 2U);
  EXPECT_EQ(promoted.times.last_transition_at_ms, now());
  EXPECT_FALSE(promoted.hold.blocking_detail);
  EXPECT_THAT(events(*due.execution_id), IsEmpty());
}

}  // namespace ff::test
