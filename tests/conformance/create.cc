// 02, section 3: create.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {

TEST_P(Executions, T1_create_without_delay) {
  Submission submission = job();
  submission.tags = {{"tenant", "acme"}, {"app.task_id", "42"}};
  const auto created = must(fabric.submit(submission));
  EXPECT_EQ(created, (Submitted{*submission.execution_id, PublicState::waiting, false}));

  const Execution execution = get(created.execution_id);
  EXPECT_EQ(vector_of(created.execution_id), kWaitingFirst);
  EXPECT_EQ(execution.tags, submission.tags);
  EXPECT_EQ(execution.counters, Counters{});
  EXPECT_FALSE(execution.lease);
  EXPECT_FALSE(execution.current_attempt);
  EXPECT_EQ(execution.times.created_at_ms, now());
  EXPECT_EQ(execution.times.last_transition_at_ms, now());
  EXPECT_EQ(execution.times.last_mutation_at_ms, now());
  EXPECT_FALSE(execution.times.started_at_ms);
  EXPECT_EQ(execution.version, 1U);
  EXPECT_THAT(events(created.execution_id), IsEmpty());
}

TEST_P(Executions, T2_delayed_until_a_time) {
  Submission later = job();
  later.delay_until_ms = now() + 3'600'000;
  EXPECT_EQ(must(fabric.submit(later)).public_state, PublicState::delayed);
  EXPECT_EQ(vector_of(*later.execution_id), kDelayedFirst);
  const Execution delayed = get(*later.execution_id);
  EXPECT_EQ(delayed.timers.delay_until_ms, later.delay_until_ms);
  EXPECT_EQ(delayed.hold.blocking_detail, fmt::format("delayed until {}", *later.delay_until_ms));
  EXPECT_THAT(claim(10), IsEmpty());

  advance(3'599'999);
  EXPECT_EQ(vector_of(*later.execution_id), kDelayedFirst);
  EXPECT_THAT(claim(10), IsEmpty());

  advance(1);
  EXPECT_EQ(vector_of(*later.execution_id), kWaitingFirst);
  EXPECT_FALSE(get(*later.execution_id).timers.delay_until_ms);
  const ClaimedTask task = claim();
  EXPECT_EQ(task.execution.execution_id, *later.execution_id);
  EXPECT_EQ(task.attempt.attempt_type, AttemptType::initial);
}

TEST_P(Executions, T2_delay_in_the_past_by_duration_and_both) {
  Submission past = job();
  past.delay_until_ms = now() - 1;
  EXPECT_EQ(must(fabric.submit(past)).public_state, PublicState::waiting);
  EXPECT_FALSE(get(*past.execution_id).timers.delay_until_ms);
  Submission right_now = job();
  right_now.delay_until_ms = now();
  EXPECT_EQ(must(fabric.submit(right_now)).public_state, PublicState::waiting);

  Submission by_duration = job();
  by_duration.delay_ms = 5'000;
  EXPECT_EQ(must(fabric.submit(by_duration)).public_state, PublicState::delayed);
  EXPECT_EQ(get(*by_duration.execution_id).timers.delay_until_ms, now() + 5'000);
  Submission no_duration = job();
  no_duration.delay_ms = 0;
  EXPECT_EQ(must(fabric.submit(no_duration)).public_state, PublicState::waiting);

  Submission both = job();
  both.delay_ms = 5'000;
  both.delay_until_ms = now() + 5'000;
  EXPECT_THAT(fabric.submit(both), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.get(*both.execution_id), Refused(ErrorCode::execution_not_found));
}

TEST_P(Executions, T3_same_id_twice) {
  Submission first = job();
  first.payload = "one";
  Submission second = first;
  second.payload = "two";
  second.execution_kind = "other";
  EXPECT_FALSE(must(fabric.submit(first)).duplicate);
  EXPECT_EQ(must(fabric.submit(second)), (Submitted{*first.execution_id, PublicState::waiting, true}));
  EXPECT_EQ(must(fabric.payload(*first.execution_id))->bytes, "one");
  EXPECT_EQ(get(*first.execution_id).execution_kind, "job");
  EXPECT_EQ(get(*first.execution_id).version, 1U);

  // It answers with the state of the first one, whatever that has become.
  must(fabric.cancel(*first.execution_id));
  EXPECT_EQ(must(fabric.submit(second)), (Submitted{*first.execution_id, PublicState::cancelled, true}));
}

TEST_P(Executions, T5_concurrent_creates_with_one_id) {
  const Submission submission = job();
  std::atomic<int> created = 0, duplicates = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 32; ++i)
      threads.emplace_back([&] { ++(must(fabric.submit(submission)).duplicate ? duplicates : created); });
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(duplicates, 31);
  EXPECT_THAT(list_all(), SizeIs(1));
}

TEST_P(Executions, T5_concurrent_creates_with_one_key) {
  Submission submission = job();
  submission.execution_id.reset();
  submission.idempotency_key = "order-42";
  std::atomic<int> created = 0, duplicates = 0;
  std::mutex mutex;
  std::set<ExecutionId> ids;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 32; ++i)
      threads.emplace_back([&] {
        const Submitted answer = must(fabric.submit(submission));
        ++(answer.duplicate ? duplicates : created);
        std::lock_guard guard(mutex);
        ids.insert(answer.execution_id);
      });
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(duplicates, 31);
  EXPECT_THAT(ids, SizeIs(1));
  EXPECT_THAT(list_all(), SizeIs(1));
}

TEST_P(Executions, T6_priorities_are_clamped_and_order_claims) {
  auto with_priority = [&](int priority) {
    Submission submission = job();
    submission.priority = priority;
    return submit(submission);
  };
  const auto lowest = with_priority(-5), middle = with_priority(5'000), highest = with_priority(20'000);
  EXPECT_EQ(get(lowest).priority, 0);
  EXPECT_EQ(get(highest).priority, 9'000);
  EXPECT_EQ(claim().execution.execution_id, highest);
  EXPECT_EQ(claim().execution.execution_id, middle);
  EXPECT_EQ(claim().execution.execution_id, lowest);

  // The call's own priority goes before the policy's.
  Submission both = job(R"({"priority": 7})");
  EXPECT_EQ(get(submit(both)).priority, 7);
  both = job(R"({"priority": 7})");
  both.priority = 8;
  EXPECT_EQ(get(submit(both)).priority, 8);
}

TEST_P(Executions, T7_bad_policies_and_tags_store_nothing) {
  Policy bad_capabilities;
  bad_capabilities.routing_requirements.emplace().required_capabilities = {"g p u"};
  Policy bad_number;
  bad_number.timeout_policy.emplace().attempt_timeout_ms = 0;
  Policy unknown_budget;
  unknown_budget.budget_ids = {Uuid{}};
  Policy unknown_quota;
  unknown_quota.quota_id = Uuid{};
  const std::pair<Policy, ErrorCode> cases[] = {{bad_capabilities, ErrorCode::invalid_capabilities},
                                                {bad_number, ErrorCode::invalid_policy_json},
                                                {unknown_budget, ErrorCode::budget_not_found},
                                                {unknown_quota, ErrorCode::quota_policy_not_found}};
  for (const auto& [policy, code] : cases) {
    Submission submission = job();
    submission.lane_id = "never-used";
    submission.policy = policy;
    EXPECT_THAT(fabric.submit(submission), Refused(code));
    EXPECT_THAT(fabric.get(*submission.execution_id), Refused(ErrorCode::execution_not_found));
  }
  Submission bad_tag = job();
  bad_tag.lane_id = "never-used";
  bad_tag.tags = {{"good", "1"}, {"not good", "2"}};
  EXPECT_THAT(fabric.submit(bad_tag), RefusedWith(ErrorCode::invalid_tag_key, "key", "not good"));
  EXPECT_THAT(list_all(), IsEmpty());
  EXPECT_THAT(fabric.lane_counts("never-used"), Refused(ErrorCode::lane_not_found));

  EXPECT_EQ(state_of(submit("{}")), PublicState::waiting);
}

TEST_P(Executions, T8_bytes_survive) {
  const Bytes bytes("\xff\xfe\x00\xc0\x80", 5);
  Submission submission = job();
  submission.payload = bytes;
  submission.content_type = "application/octet-stream";
  const auto id = submit(submission);
  EXPECT_EQ(must(fabric.payload(id)), (Blob{bytes, "application/octet-stream"}));
  EXPECT_EQ(get(id).payload_bytes, 5U);

  const ClaimedTask task = claim();
  EXPECT_EQ(task.payload, bytes);
  EXPECT_EQ(task.payload_content_type, "application/octet-stream");
  must(fabric.complete({.handle = task.handle, .result = bytes, .content_type = "x/y"}));
  EXPECT_EQ(must(fabric.result(id)), (Blob{bytes, "x/y"}));
  EXPECT_EQ(get(id).result_bytes, 5U);
  EXPECT_EQ(get(id).result_content_type, "x/y");
}

TEST_P(Executions, T9_lanes_of_creates) {
  Submission bad = job();
  bad.lane_id = std::string(65, 'x');
  EXPECT_THAT(fabric.submit(bad), RefusedWith(ErrorCode::invalid_input, "reason", "too long (got 65)"));
  bad.lane_id = "bad\nlane";
  EXPECT_THAT(fabric.submit(bad), RefusedWith(ErrorCode::invalid_input, "reason", "non-printable byte at index 3"));

  Submission first = job();
  first.lane_id = std::string(64, 'x');
  submit(first);
  ASSERT_TRUE(eventually([&] { return must(fabric.lanes()).items.size() == 2; }));  // this one, and `default` of boot
  const Lane lane = must(fabric.lanes()).items[1].lane;
  EXPECT_EQ(lane.lane_id, first.lane_id);
  EXPECT_EQ(lane.registered_by, "create_execution");

  const std::pair<LaneState, bool> states[] = {
      {LaneState::paused, true}, {LaneState::draining, false}, {LaneState::disabled, false}, {LaneState::active, true}};
  for (const auto& [state, accepts] : states) {
    must(fabric.configure_lane({.lane_id = "other", .lane_state = state}));
    Submission submission = job();
    submission.lane_id = "other";
    const auto answer = fabric.submit(submission);
    if (accepts)
      EXPECT_THAT(answer, Succeeds());
    else
      EXPECT_THAT(answer, RefusedWith(ErrorCode::lane_not_accepting, "lane_state", core::name_of(state)));
  }
}

TEST_P(Executions, T10_reads_of_a_new_execution) {
  Submission submission = job();
  submission.payload = "bytes";
  const auto id = submit(submission);
  const Execution waited = must(fabric.wait(id, std::chrono::milliseconds(20)));
  EXPECT_EQ(waited.state.public_state, PublicState::waiting);
  EXPECT_EQ(must(fabric.result(id)), std::nullopt);
  EXPECT_EQ(must(fabric.payload(id)), (Blob{"bytes", "application/json"}));

  // It waits for the end and no longer.
  const ClaimedTask task = claim();
  std::jthread worker([&] { must(complete(task)); });
  EXPECT_EQ(must(fabric.wait(id, std::chrono::minutes(5))).state.public_state, PublicState::completed);
}

}  // namespace ff::test
