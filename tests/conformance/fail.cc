// 02, section 5.4: fail.

#include "conformance/conformance.h"

namespace ff::test {
namespace {

constexpr const char* kDoubling =
    R"({"retry_policy": {"max_retries": 2, "backoff":
        {"type": "exponential", "initial_delay_ms": 100, "multiplier": 2.0, "jitter": false}}})";

std::string fixed(int max_retries, const std::string& rest = "") {
  return fmt::format(R"({{"retry_policy": {{"max_retries": {}, "backoff": {{"type": "fixed", "delay_ms": 0}}{}}}}})",
                     max_retries, rest);
}

}  // namespace

TEST_P(Executions, T33_two_retries_then_the_end) {
  const auto id = submit(kDoubling);
  ClaimedTask task = claim();
  EXPECT_EQ(must(fail(task, "first")), (TaskFailed{FailStatus::retry_scheduled, now() + 100, 1}));
  EXPECT_EQ(vector_of(id), kBackingOff);
  EXPECT_EQ(get(id).hold.blocking_detail, fmt::format("retry backoff until {} (attempt 0 failed: first)", now() + 100));
  EXPECT_EQ(get(id).ending.last_failure_message, "first");
  advance(99);
  EXPECT_THAT(claim(1), IsEmpty());
  advance(1);
  EXPECT_EQ(vector_of(id), kWaitingRetry);

  task = claim();
  EXPECT_EQ(must(fail(task, "second")), (TaskFailed{FailStatus::retry_scheduled, now() + 200, 2}));
  advance(200);
  task = claim();
  EXPECT_EQ(must(fail(task, "third")), (TaskFailed{FailStatus::failed, std::nullopt, std::nullopt}));

  const Execution execution = get(id);
  EXPECT_EQ(vector_of(id), kEndedFailed);
  EXPECT_EQ(execution.counters.retry_count, 2U);
  EXPECT_EQ(execution.ending.failure_reason, "third");
  EXPECT_EQ(execution.ending.failure_category, "transient");
  EXPECT_EQ(execution.ending.last_failure_message, "third");
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_failure retry", "1 retry ended_failure retry",
                                             "2 retry ended_failure failed"));
  const auto all = attempts(id);
  EXPECT_EQ(all[0].failure_reason, "first");
  EXPECT_EQ(all[0].failure_class, FailureClass::transient);
  EXPECT_EQ(all[0].failure_category, "transient");
  EXPECT_EQ(all[1].retry_reason, "first");
  EXPECT_EQ(all[1].previous_attempt_index, 0U);
  EXPECT_EQ(all[2].retry_reason, "second");
  EXPECT_EQ(all[2].previous_attempt_index, 1U);
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease released failed_retry_scheduled", "lease acquired",
                                      "lease released failed_retry_scheduled", "lease acquired",
                                      "lease released failed_terminal", "completion failed"));
}

TEST_P(Executions, T34_delays_between_retries) {
  auto delays = [&](const std::string& backoff, int failures) {
    const auto id = submit(fmt::format(R"({{"retry_policy": {{"max_retries": 20, "backoff": {}}}}})", backoff));
    std::vector<TimeMs> found;
    for (int i = 0; i < failures; ++i) {
      const auto failed = must(fail(claim()));
      found.push_back(*failed.delay_until_ms - now());
      advance(found.back());
    }
    must(fabric.cancel(id));
    return found;
  };
  EXPECT_THAT(delays(R"({"initial_delay_ms": 101, "multiplier": 1.5, "jitter": false})", 4),
              ElementsAre(101, 151, 227, 340)) << "whole milliseconds";
  EXPECT_THAT(delays(R"({"initial_delay_ms": 100, "max_delay_ms": 350, "jitter": false})", 4),
              ElementsAre(100, 200, 350, 350)) << "the cap";
  EXPECT_THAT(delays(R"({"type": "fixed", "delay_ms": 70})", 3), ElementsAre(70, 70, 70));
  EXPECT_THAT(delays(R"({"type": "fixed", "delay_ms": 0})", 3), ElementsAre(0, 0, 0));

  const auto jittered = delays(R"({"initial_delay_ms": 1000, "multiplier": 1.0})", 20);
  for (TimeMs delay : jittered) {
    EXPECT_GE(delay, 500);
    EXPECT_LE(delay, 1'000);
  }
  EXPECT_GT(std::set(jittered.begin(), jittered.end()).size(), 1U);

  const auto at_once = submit(fixed(3));
  must(fail(claim()));
  EXPECT_EQ(vector_of(at_once), kWaitingRetry) << "delay 0 is eligible at once";
  EXPECT_FALSE(get(at_once).timers.delay_until_ms);
}

TEST_P(Executions, T35_what_is_retried) {
  auto fails = [&](const std::string& policy, FailureClass failure_class, std::optional<std::string> category = {}) {
    const ClaimedTask task = running(policy);
    const auto failed = must(fabric.fail(
        {.handle = task.handle, .message = "m", .failure_class = failure_class, .category = std::move(category)}));
    return failed.status == FailStatus::retry_scheduled;
  };
  EXPECT_FALSE(fails(fixed(5), FailureClass::permanent));
  EXPECT_FALSE(fails(fixed(5), FailureClass::cancelled));
  EXPECT_FALSE(fails(fixed(5), FailureClass::timeout));
  EXPECT_TRUE(fails(fixed(5), FailureClass::infra_crash));
  EXPECT_TRUE(fails(fixed(5), FailureClass::transient));
  EXPECT_FALSE(fails(fixed(0), FailureClass::transient));

  const std::string listed = fixed(5, R"(, "retryable_categories": ["rate_limit", "timeout"])");
  EXPECT_TRUE(fails(listed, FailureClass::transient, "rate_limit"));
  EXPECT_FALSE(fails(listed, FailureClass::transient, "bad_input"));
  EXPECT_FALSE(fails(listed, FailureClass::transient));
  EXPECT_TRUE(fails(listed, FailureClass::timeout)) << "the category is the class when none is given";
  EXPECT_FALSE(fails(listed, FailureClass::permanent, "rate_limit"));
}

TEST_P(Executions, T35_three_retries_without_a_policy) {
  const auto id = submit();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(must(fail(claim())).status, FailStatus::retry_scheduled);
    advance(10'000);
  }
  EXPECT_EQ(must(fail(claim())).status, FailStatus::failed);
  EXPECT_EQ(get(id).counters.retry_count, 3U);
  EXPECT_EQ(get(id).counters.total_attempt_count, 4U);
}

TEST_P(Executions, T36_fail_repeated) {
  const auto id = submit(kDoubling);
  const ClaimedTask first = claim("w1");
  const TaskFailed answer = must(fail(first));
  advance(50);
  const std::uint64_t version = get(id).version;
  EXPECT_EQ(must(fail(first, "another message", FailureClass::permanent)), answer);
  EXPECT_EQ(get(id).version, version);

  advance(50);
  const ClaimedTask second = claim("w2");
  const std::uint64_t running_version = get(id).version;
  EXPECT_EQ(must(fail(first)), answer) << "also while the next attempt runs";
  EXPECT_EQ(get(id).version, running_version);
  EXPECT_THAT(complete(first), Refused(ErrorCode::stale_lease)) << "another call learns what happened";

  must(fail(second, "permanent", FailureClass::permanent));
  EXPECT_EQ(must(fail(second)), (TaskFailed{FailStatus::failed, std::nullopt, std::nullopt}));
  EXPECT_EQ(must(fail(first)), answer);
  EXPECT_EQ(count_events(id, "completion"), 1U);
}

TEST_P(Executions, T37_pointer_and_counter_after_a_failure) {
  const auto id = submit(fixed(3));
  must(fail(claim()));
  const Execution execution = get(id);
  ASSERT_TRUE(execution.current_attempt);
  EXPECT_EQ(execution.current_attempt->attempt_index, 0U);
  EXPECT_EQ(execution.counters.total_attempt_count, 1U);
  EXPECT_EQ(claim().attempt.attempt_index, 1U);
}

TEST_P(Executions, T33_long_messages_are_cut) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  must(fail(task, std::string(4'095, 'x') + "\xc3\xa4"));
  EXPECT_EQ(get(id).ending.last_failure_message, std::string(4'095, 'x'));
  EXPECT_LE(get(id).hold.blocking_detail->size(), 1'024U);
  EXPECT_THAT(fabric.fail({.handle = task.handle, .message = "m", .category = std::string(257, 'c')}),
              Refused(ErrorCode::invalid_input));
}

}  // namespace ff::test
