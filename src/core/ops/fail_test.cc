#include "core/ops/fail.h"

#include "support/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::Rules;
using testing::ElementsAre;

constexpr const char* kTwoRetries =
    R"({"retry_policy":{"max_retries":2,"backoff":{"type":"exponential","initial_delay_ms":100,"jitter":false}}})";

/// The delay until the next claim may come, promoted.
void wait_out(Rules& rules, const ExecutionId& id) {
  rules.now = *rules.record(id).timers.delay_until_ms;
  EXPECT_TRUE(*rules.ring(id, TimerKind::delay));
}

TEST(Executions, T33_retry_after_a_delay) {
  Rules rules;
  const ExecutionId id = rules.submit(job(
      R"({"retry_policy":{"max_retries":2,"backoff":{"initial_delay_ms":100,"jitter":false}},)"
      R"("timeout_policy":{"attempt_timeout_ms":50000}})"));
  const TaskHandle handle = rules.claim(id);
  rules.now += 10;
  auto reply = rules.fail(handle, "no luck");
  ASSERT_TRUE(reply);
  EXPECT_EQ(*reply, (TaskFailed{FailStatus::retry_scheduled, rules.now + 100, 1}));
  EXPECT_EQ(rules.vector(id),
            "runnable / unowned / not_eligible_until_time / waiting_for_retry_backoff / none / pending_retry_attempt");
  EXPECT_EQ(rules.changed(id),
            "attempt.attempt_state attempt.ended_at_ms attempt.failure_category attempt.failure_class "
            "attempt.failure_reason attempt.outcome attempt.release_delay_until_ms attempt.release_op "
            "attempt.released_lease_epoch attempt.released_lease_id attempt_state attempt_timeout_at_ms "
            "blocking_detail blocking_reason current_attempt_id delay_until_ms eligibility_state "
            "last_failure_message lease lifecycle_phase ownership_state pending_previous_attempt_index "
            "pending_retry_reason retry_count");
  EXPECT_THAT(rules.said(), ElementsAre("lease released failed_retry_scheduled")) << "no completion";
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(record.timers.delay_until_ms, rules.now + 100);
  EXPECT_EQ(record.hold.blocking_detail,
            fmt::format("retry backoff until {} (attempt 0 failed: no luck)", rules.now + 100));
  EXPECT_EQ(record.ending.last_failure_message, "no luck");
  EXPECT_EQ(record.ending.failure_reason, std::nullopt) << "that is for the end";
  EXPECT_EQ(record.pending.pending_retry_reason, "no luck");
  EXPECT_EQ(record.pending.pending_previous_attempt_index, 0U);
  EXPECT_EQ(record.attempt->attempt_state, AttemptRecordState::ended_failure);
  EXPECT_EQ(record.attempt->outcome, AttemptOutcome::retry);
  EXPECT_EQ(record.attempt->failure_reason, "no luck");
  EXPECT_EQ(record.attempt->failure_category, "transient");
  EXPECT_EQ(record.attempt->failure_class, FailureClass::transient);
  EXPECT_EQ(record.attempt->ended_at_ms, rules.now);
  EXPECT_EQ(record.attempt->release_op, ReleaseOp::fail_retry);
  EXPECT_EQ(record.attempt->release_delay_until_ms, rules.now + 100);
  EXPECT_EQ(record.counters, (Counters{1, 1, 1, 1, 0, 0, 0}));
}

TEST(Executions, T33_delays_types_and_lineage_until_it_is_final) {
  Rules rules;
  const ExecutionId id = rules.submit(job(kTwoRetries));
  ASSERT_TRUE(rules.fail(rules.claim(id), "one"));
  EXPECT_EQ(*rules.record(id).timers.delay_until_ms - rules.now, 100);
  wait_out(rules, id);
  ASSERT_TRUE(rules.fail(rules.claim(id), "two"));
  EXPECT_EQ(*rules.record(id).timers.delay_until_ms - rules.now, 200);
  wait_out(rules, id);
  auto last = rules.fail(rules.claim(id), "three");
  EXPECT_EQ(*last, (TaskFailed{FailStatus::failed, std::nullopt, std::nullopt}));
  EXPECT_EQ(rules.attempt(id, 0).attempt_type, AttemptType::initial);
  EXPECT_EQ(rules.attempt(id, 1).attempt_type, AttemptType::retry);
  EXPECT_EQ(rules.attempt(id, 1).retry_reason, "one");
  EXPECT_EQ(rules.attempt(id, 1).previous_attempt_index, 0U);
  EXPECT_EQ(rules.attempt(id, 2).retry_reason, "two");
  EXPECT_EQ(rules.attempt(id, 2).previous_attempt_index, 1U);
  EXPECT_EQ(rules.record(id).counters.retry_count, 2U);
  const auto history = rules.history();
  EXPECT_EQ(std::count(history.begin(), history.end(), "completion failed"), 1);
}

TEST(Executions, T33_a_final_failure_ends_it) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.now += 3;
  auto reply = rules.run(Fail{handle, "bad input", FailureClass::permanent, "validation", 0});
  EXPECT_EQ(*reply, (TaskFailed{FailStatus::failed, std::nullopt, std::nullopt}));
  EXPECT_EQ(rules.vector(id), "terminal / unowned / not_applicable / none / failed / attempt_terminal");
  EXPECT_EQ(rules.changed(id),
            "attempt.attempt_state attempt.ended_at_ms attempt.failure_category attempt.failure_class "
            "attempt.failure_reason attempt.outcome attempt.release_op attempt.released_lease_epoch "
            "attempt.released_lease_id attempt_state completed_at_ms failure_category failure_reason "
            "last_failure_message lease lifecycle_phase ownership_state retain_until_ms terminal_outcome");
  EXPECT_THAT(rules.said(), ElementsAre("lease released failed_terminal", "completion failed"));
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(record.ending, (Ending{"bad input", "validation", "bad input", std::nullopt, std::nullopt}));
  EXPECT_EQ(record.attempt->outcome, AttemptOutcome::failed);
  EXPECT_EQ(record.attempt->release_op, ReleaseOp::fail_terminal);
  EXPECT_EQ(record.attempt->failure_category, "validation");
  EXPECT_EQ(record.current_attempt_id, handle.attempt_id) << "kept at the end";
}

TEST(Executions, T34_a_delay_of_nothing_is_eligible_at_once) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":0}}})"));
  auto reply = rules.fail(rules.claim(id));
  EXPECT_EQ(*reply, (TaskFailed{FailStatus::retry_scheduled, rules.now, 1}));
  EXPECT_EQ(rules.vector(id), "runnable / unowned / eligible_now / waiting_for_worker / none / pending_retry_attempt");
  EXPECT_EQ(rules.record(id).timers.delay_until_ms, std::nullopt);
  EXPECT_EQ(rules.record(id).hold.blocking_detail, std::nullopt);
}

TEST(Executions, T34_the_draw_decides_within_the_jitter) {
  for (const auto& [draw, delay] : {std::pair(0.0, 500), std::pair(0.5, 750), std::pair(0.99999, 1000)}) {
    Rules rules;
    const ExecutionId id = rules.submit();
    auto reply = rules.fail(rules.claim(id), "x", FailureClass::transient, draw);
    EXPECT_EQ(*reply->delay_until_ms - rules.now, delay) << draw;
  }
}

TEST(Executions, T35_which_failures_are_final) {
  struct Row {
    const char* policy;
    FailureClass failure_class;
    const char* category;
    FailStatus status;
  };
  const Row rows[] = {
      {"", FailureClass::transient, "transient", FailStatus::retry_scheduled},
      {"", FailureClass::infra_crash, "infra_crash", FailStatus::retry_scheduled},
      {"", FailureClass::permanent, "permanent", FailStatus::failed},
      {"", FailureClass::cancelled, "cancelled", FailStatus::failed},
      {"", FailureClass::timeout, "timeout", FailStatus::failed},
      {R"({"retry_policy":{"max_retries":0}})", FailureClass::transient, "transient", FailStatus::failed},
      {R"({"retry_policy":{"max_retries":5}})", FailureClass::permanent, "permanent", FailStatus::failed},
      {R"({"retry_policy":{"retryable_categories":["net"]}})", FailureClass::transient, "disk", FailStatus::failed},
      {R"({"retry_policy":{"retryable_categories":["net"]}})", FailureClass::transient, "net",
       FailStatus::retry_scheduled},
      {R"({"retry_policy":{"retryable_categories":["timeout"]}})", FailureClass::timeout, "timeout",
       FailStatus::retry_scheduled},
  };
  for (const Row& row : rows) {
    Rules rules;
    const ExecutionId id = rules.submit(job(row.policy));
    auto reply = rules.run(Fail{rules.claim(id), "m", row.failure_class, row.category, 0});
    EXPECT_EQ(reply->status, row.status) << row.policy << " " << row.category;
  }
}

TEST(Executions, T35_without_a_policy_the_fourth_failure_is_final) {
  Rules rules;
  const ExecutionId id = rules.submit();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rules.fail(rules.claim(id))->status, FailStatus::retry_scheduled) << i;
    wait_out(rules, id);
  }
  EXPECT_EQ(rules.fail(rules.claim(id))->status, FailStatus::failed);
}

TEST(Executions, T36_a_repeat_gets_the_first_answer_also_while_the_next_attempt_runs) {
  Rules rules;
  const ExecutionId id = rules.submit(job(kTwoRetries));
  const TaskHandle first = rules.claim(id, "w1");
  const TaskFailed answer = *rules.fail(first, "one");
  rules.now += 50;
  EXPECT_EQ(*rules.fail(first, "one again"), answer);
  EXPECT_FALSE(rules.wrote());
  wait_out(rules, id);
  rules.claim(id, "w2");
  EXPECT_EQ(*rules.fail(first, "one again", FailureClass::permanent), answer);
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(rules.record(id).lease->current_worker_instance_id, "w2");

  const ExecutionId final_id = rules.submit(job(R"({"retry_policy":{"max_retries":0}})"));
  const TaskHandle last = rules.claim(final_id);
  EXPECT_EQ(rules.fail(last)->status, FailStatus::failed);
  EXPECT_EQ(rules.fail(last)->status, FailStatus::failed);
  EXPECT_FALSE(rules.wrote());
}

TEST(Executions, T37_after_one_failure_the_pointer_is_0_and_the_counter_1) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":0}}})"));
  ASSERT_TRUE(rules.fail(rules.claim(id)));
  EXPECT_EQ(rules.record(id).attempt->attempt_index, 0U);
  EXPECT_EQ(rules.record(id).counters.total_attempt_count, 1U);
  EXPECT_EQ(rules.claim(id).attempt_index, 1U);
}

TEST(Executions, a_long_message_is_cut_in_the_detail_at_a_character) {
  Rules rules;
  const ExecutionId id = rules.submit();
  std::string message;
  while (message.size() < 4000) message += "\xe6\x9d\xb1";
  ASSERT_TRUE(rules.fail(rules.claim(id), message));
  const std::string detail = *rules.record(id).hold.blocking_detail;
  EXPECT_LE(detail.size(), 1024U);
  EXPECT_GT(detail.size(), 1020U);
  EXPECT_EQ(rules.record(id).ending.last_failure_message, message) << "only the detail is cut";
}

TEST(Executions, a_retry_due_after_the_deadline_is_still_scheduled) {
  Rules rules;
  Submission s = job(kTwoRetries);
  s.execution_deadline_at_ms = rules.now + 50;
  const ExecutionId id = rules.submit(s);
  EXPECT_EQ(rules.fail(rules.claim(id))->status, FailStatus::retry_scheduled);
  rules.now += 51;
  EXPECT_TRUE(*rules.ring(id, TimerKind::deadline));
  EXPECT_EQ(rules.record(id).state.terminal_outcome, TerminalOutcome::expired);
}

}  // namespace
}  // namespace ff::core
