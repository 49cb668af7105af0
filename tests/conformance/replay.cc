// 02, section 13: replay.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Executions, T57_replay_of_every_outcome) {
  const ClaimedTask completed = running();
  must(fabric.progress({.handle = completed.handle, .progress_pct = 90, .progress_message = "nearly"}));
  must(fabric.complete({.handle = completed.handle, .result = "first"}));
  const ClaimedTask failed = running();
  must(fail(failed, "broken", FailureClass::permanent));
  const ClaimedTask cancelled = running();
  must(fabric.cancel(cancelled.execution.execution_id, "reason"));
  const ClaimedTask expired = running(R"({"timeout_policy": {"attempt_timeout_ms": 10}, "retry_policy": {"max_retries": 0}})");
  advance(11);
  for (const auto& task : {completed, failed, cancelled, expired}) {
    const auto id = task.execution.execution_id;
    const Execution before = get(id);
    EXPECT_EQ(must(fabric.replay(id, "try again", "alice")), (Changed{id, PublicState::waiting, false}));
    const Execution again = get(id);
    EXPECT_EQ(vector_of(id), kWaitingReplay);
    EXPECT_EQ(again.counters.replay_count, 1U);
    EXPECT_EQ(again.counters.retry_count, 0U);
    EXPECT_EQ(again.counters.claim_count, 0U);
    EXPECT_EQ(again.counters.current_lease_epoch, before.counters.current_lease_epoch);
    EXPECT_EQ(again.counters.total_attempt_count, 1U);
    EXPECT_EQ(again.times.started_at_ms, before.times.started_at_ms);
    EXPECT_FALSE(again.times.completed_at_ms);
    EXPECT_FALSE(again.times.retain_until_ms);
    EXPECT_EQ(again.progress, Progress{});
    EXPECT_FALSE(again.ending.failure_reason);
    EXPECT_FALSE(again.ending.failure_category);
    EXPECT_FALSE(again.ending.cancellation_reason);
    EXPECT_FALSE(again.ending.cancelled_by);
    EXPECT_EQ(must(fabric.result(id)), std::nullopt) << "none until it is done again";
    EXPECT_FALSE(again.result_bytes);
    EXPECT_EQ(events(id).back(), "operator replayed");
    EXPECT_THAT(*history(id).back().details, StartsWith(R"({"branch":"normal","groups_reset":0,"replay_count":1)"));

    const ClaimedTask second = claim("w2");
    EXPECT_EQ(second.execution.execution_id, id);
    EXPECT_EQ(second.kind, HandleKind::fresh);
    EXPECT_EQ(second.attempt.attempt_index, 1U);
    EXPECT_EQ(second.attempt.attempt_type, AttemptType::replay);
    const Attempt attempt = attempts(id).at(1);
    EXPECT_EQ(attempt.replay_reason, "try again");
    // A server knows by itself who calls.
    EXPECT_EQ(attempt.replay_requested_by, GetParam().name.starts_with("http_") ? "anonymous" : "alice");
    EXPECT_EQ(attempt.replayed_from_attempt_index, 0U);
    must(fabric.complete({.handle = second.handle, .result = "second"}));
    EXPECT_EQ(must(fabric.result(id))->bytes, "second");
    EXPECT_EQ(count_events(id, "completion"), 2U);
    EXPECT_THAT(attempts(id), SizeIs(2)) << "old attempts are listed";
    (void)fabric.complete({.handle = task.handle, .result = "zombie"});
    EXPECT_EQ(must(fabric.result(id))->bytes, "second") << "the old holder changes nothing, whatever it is told";
  }
}

TEST_P(Executions, T57_retries_are_fresh) {
  const auto id = submit(R"({"retry_policy": {"max_retries": 1, "backoff": {"type": "fixed", "delay_ms": 0}}})");
  must(fail(claim()));
  must(fail(claim()));
  EXPECT_EQ(state_of(id), PublicState::failed);
  must(fabric.replay(id));
  EXPECT_EQ(must(fail(claim())).status, FailStatus::retry_scheduled);
  EXPECT_EQ(must(fail(claim())).status, FailStatus::failed);
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_failure retry", "1 retry ended_failure failed",
                                             "2 replay ended_failure retry", "3 retry ended_failure failed"));
  EXPECT_EQ(count_events(id, "completion failed"), 2U);
}

TEST_P(Executions, T57_replay_of_one_that_never_ran) {
  const auto id = submit();
  must(fabric.cancel(id));
  must(fabric.replay(id));
  EXPECT_EQ(vector_of(id), kWaitingReplay);
  const ClaimedTask task = claim();
  EXPECT_EQ(task.attempt.attempt_index, 0U);
  EXPECT_EQ(task.attempt.attempt_type, AttemptType::replay);
  EXPECT_FALSE(attempts(id).at(0).replayed_from_attempt_index);
  must(fabric.cancel(id));
  must(fabric.replay(id));
  must(fabric.cancel(id));
  EXPECT_EQ(vector_of(id), kEndedCancelled) << "an attempt existed once";
}

TEST_P(Executions, T58_limits_of_replay) {
  const auto id = submit();
  EXPECT_THAT(fabric.replay(id), Refused(ErrorCode::execution_not_terminal));
  for (int i = 0; i < 10; ++i) {
    must(fabric.cancel(id));
    must(fabric.replay(id));
    EXPECT_THAT(fabric.replay(id), Refused(ErrorCode::execution_not_terminal)) << "a second one before anything ran";
  }
  must(fabric.cancel(id));
  const std::uint64_t version = get(id).version;
  const auto eleventh = fabric.replay(id);
  EXPECT_THAT(eleventh, Refused(ErrorCode::max_replays_exhausted));
  EXPECT_EQ(eleventh.error().context.number("limit"), 10);
  EXPECT_EQ(get(id).version, version);

  const auto never = submit(R"({"max_replay_count": 0})");
  must(fabric.cancel(never));
  EXPECT_THAT(fabric.replay(never), Refused(ErrorCode::max_replays_exhausted));
  EXPECT_THAT(fabric.replay(running().execution.execution_id), Refused(ErrorCode::execution_not_terminal));
  EXPECT_THAT(fabric.replay(next_id()), Refused(ErrorCode::execution_not_found));
}

TEST_P(Executions, T60_replay_and_the_deadline) {
  const auto past = submit(R"({"timeout_policy": {"execution_deadline_ms": 1000}})");
  const auto future = submit(R"({"timeout_policy": {"execution_deadline_ms": 3600000}})");
  const TimeMs deadline = now() + 3'600'000;
  must(fabric.cancel(future));
  advance(1'001);
  EXPECT_EQ(state_of(past), PublicState::expired);
  must(fabric.replay(past));
  must(fabric.replay(future));
  EXPECT_FALSE(get(past).timers.execution_deadline_at_ms);
  EXPECT_EQ(get(future).timers.execution_deadline_at_ms, deadline) << "kept while it lies ahead";
  advance(7'200'000);
  EXPECT_EQ(state_of(future), PublicState::expired);
  must(complete(claim()));
  EXPECT_EQ(state_of(past), PublicState::completed);
}

TEST_P(Domain, T42_every_end_writes_one_completion_event) {
  Submission submission = job(R"({"retry_policy": {"max_retries": 0}, "max_reclaim_count": 0,
                                  "timeout_policy": {"attempt_timeout_ms": 20000}, "max_replay_count": 100})");
  submission.namespace_ = "tenant-a";
  submission.tags = {{"team", "blue"}};
  const auto id = submit(submission);
  std::size_t ends = 0;
  auto ended = [&](TerminalOutcome outcome) {
    const auto all = history(id);
    EXPECT_EQ(count_events(id, "completion"), ++ends);
    const auto last = std::find_if(all.rbegin(), all.rend(), [](const Event& e) { return e.kind == EventKind::completion; });
    EXPECT_EQ(last->outcome, outcome);
    EXPECT_EQ(last->namespace_, "tenant-a");
    EXPECT_EQ(last->tags, submission.tags);
    EXPECT_EQ(last->execution_id, id);
    EXPECT_EQ(last->occurred_at_ms, now());
    must(fabric.replay(id));
    EXPECT_EQ(count_events(id, "completion"), ends) << "replay writes none";
  };
  must(complete(claim()));
  ended(TerminalOutcome::success);
  must(fail(claim()));
  ended(TerminalOutcome::failed);
  must(fabric.cancel_task({claim().handle, "r"}));
  ended(TerminalOutcome::cancelled);
  must(fabric.cancel(id));
  ended(TerminalOutcome::cancelled);
  must(fabric.operator_complete({.execution_id = id}));
  ended(TerminalOutcome::success);
  must(fabric.operator_fail({.execution_id = id, .message = "m"}));
  ended(TerminalOutcome::failed);
  claim();
  advance(20'001);  // the attempt timeout
  ended(TerminalOutcome::expired);
  ClaimRequest brief = request();
  brief.lease_ttl_ms = 1'000;
  must(fabric.claim(brief));
  advance(1'001);  // the lease, with the cap reached
  ended(TerminalOutcome::failed);
}

}  // namespace ff::test
