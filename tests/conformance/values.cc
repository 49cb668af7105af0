// 01, sections 4 and 3.5: what may be given at create, and that a refusal leaves nothing behind.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Domain, T16_delays_at_create) {
  Submission past = job();
  past.delay_until_ms = now() - 3'600'000;
  EXPECT_EQ(vector_of(submit(past)), kWaitingFirst);
  Submission future = job();
  future.delay_until_ms = now() + 1;
  EXPECT_EQ(vector_of(submit(future)), kDelayedFirst);
  Submission by_policy = job();
  by_policy.policy.emplace().delay_until = now() + 10;
  EXPECT_EQ(vector_of(submit(by_policy)), kDelayedFirst);
}

TEST_P(Domain, T22_policies_are_frozen_with_their_defaults) {
  const Policy empty = get(submit("{}")).policy;
  EXPECT_EQ(empty, get(submit()).policy);
  EXPECT_EQ(empty.priority, 0);
  EXPECT_EQ(empty.max_reclaim_count, 20U);
  EXPECT_EQ(empty.max_replay_count, 10U);
  EXPECT_EQ(empty.max_signals_per_execution, 10'000U);
  EXPECT_EQ(empty.lease_loss_policy, LeaseLossPolicy::reclaim);
  EXPECT_EQ(empty.dedup_window_ms, 86'400'000U);
  EXPECT_EQ(empty.retention_ttl_ms, 86'400'000U);
  ASSERT_TRUE(empty.retry_policy);
  EXPECT_EQ(empty.retry_policy->max_retries, 3U);
  EXPECT_EQ(*empty.retry_policy->backoff, (Backoff{BackoffType::exponential, std::nullopt, 1'000, 60'000, 2.0, true}));

  // Those of the engine that took it in; a later start with other settings changes nothing.
  restart({.lease_loss_policy = LeaseLossPolicy::retry, .default_max_retries = 7});
  const auto id = submit();
  restart();
  EXPECT_EQ(get(id).policy.lease_loss_policy, LeaseLossPolicy::retry);
  EXPECT_EQ(get(id).policy.retry_policy->max_retries, 7U);
}

TEST_P(Domain, T27_order_by_priority_then_creation_then_uuid) {
  EXPECT_EQ(get(submit(R"({"priority": -5})")).priority, 0);
  EXPECT_EQ(get(submit(R"({"priority": 9001})")).priority, 9'000);
  claim(2);

  // Same priority and time, in partitions of falling number: only the uuid counts.
  std::vector<ExecutionId> expected;
  for (std::uint16_t spread = 10; spread > 0; --spread) {
    Submission submission = job();
    submission.execution_id = next_id(spread);
    expected.push_back(submit(submission));
  }
  advance(1);
  Submission younger = job();
  expected.push_back(submit(younger));
  std::vector<ExecutionId> claimed;
  for (const auto& task : claim(20)) claimed.push_back(task.execution.execution_id);
  EXPECT_EQ(claimed, expected);
}

TEST_P(Domain, T29_refused_creates_leave_nothing) {
  for (const char* json : {R"({"priority": 1)", "[]", R"({"retry_policy": {"max_tries": 1}})",
                           R"({"priority": "high"})", R"({"timeout_policy": {"attempt_timeout_ms": 0}})"})
    EXPECT_THAT(parse_policy(json), Refused(ErrorCode::invalid_policy_json)) << json;
  EXPECT_THAT(parse_policy(R"({"retry_policy": {"max_tries": 1}})"),
              RefusedWith(ErrorCode::invalid_policy_json, "detail", "unknown_member:retry_policy.max_tries"));

  // The same checks stand before the store, whoever made the policy.
  std::vector<Policy> wrong(5);
  wrong[0].timeout_policy.emplace().execution_deadline_ms = 31ULL * 86'400'000;
  wrong[1].retry_policy.emplace().backoff.emplace().multiplier = 0.5;
  wrong[2].retry_policy.emplace().backoff.emplace() = {.type = BackoffType::fixed, .jitter = true};
  wrong[3].max_concurrent = 2;
  wrong[4].retry_policy.emplace().backoff.emplace().delay_ms = 8ULL * 86'400'000;
  for (const auto& policy : wrong) {
    Submission submission;
    submission.execution_kind = "job";
    submission.lane_id = "never-used";
    submission.idempotency_key = "key";
    submission.policy = policy;
    EXPECT_THAT(fabric.submit(submission), Refused(ErrorCode::invalid_policy_json));
  }
  EXPECT_THAT(list_all(), IsEmpty());
  EXPECT_THAT(fabric.lane_counts("never-used"), Refused(ErrorCode::lane_not_found));
  Submission good;
  good.execution_kind = "job";
  good.idempotency_key = "key";
  EXPECT_FALSE(must(fabric.submit(good)).duplicate) << "the key was not taken";
}

TEST_P(Domain, T31_bytes_and_absence) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  const std::optional<Bytes> values[] = {std::nullopt, Bytes(), Bytes(1, '\0'), Bytes("\xff\xfe\xc0\x80", 4), every_byte};
  for (const auto& bytes : values) {
    Submission submission = job();
    submission.payload = bytes;
    const auto id = submit(submission);
    const auto payload = must(fabric.payload(id));
    EXPECT_EQ(payload ? std::optional(payload->bytes) : std::nullopt, bytes);
    const ClaimedTask task = claim();
    EXPECT_EQ(task.payload, bytes);
    must(fabric.complete({.handle = task.handle, .result = bytes}));
    const auto result = must(fabric.result(id));
    EXPECT_EQ(result ? std::optional(result->bytes) : std::nullopt, bytes);
    EXPECT_EQ(get(id).result_bytes, bytes ? std::optional<std::uint64_t>(bytes->size()) : std::nullopt);
  }
}

TEST_P(Domain, T31_payload_sizes) {
  restart({.payload_bytes_max = 1'000});
  Submission submission = job();
  submission.payload = Bytes(1'001, 'x');
  EXPECT_THAT(fabric.submit(submission), Refused(ErrorCode::payload_too_large));
  submission.payload = Bytes(1'000, 'x');
  EXPECT_THAT(fabric.submit(submission), Succeeds());
}

TEST_P(Domain, T33_tag_keys) {
  Submission submission = job();
  submission.tags = {{"tenant", "1"}, {"app.task_id", "2"}, {"a-b", "3"}, {"1a.x", ""}, {std::string(128, 'k'), "5"}};
  const auto id = submit(submission);
  EXPECT_EQ(get(id).tags, submission.tags);
  const std::vector<std::string> bad_keys = {"", ".a", "-a", "a b", "a=b", "a/b", "\xc3\xa4", std::string(129, 'k')};
  for (const auto& key : bad_keys) {
    Submission refused = job();
    refused.tags = {{"good", "1"}, {key, "2"}};
    EXPECT_THAT(fabric.submit(refused), Refused(ErrorCode::invalid_tag_key)) << key;
    EXPECT_THAT(fabric.set_tags(id, {{"good", "1"}, {key, "2"}}), Refused(ErrorCode::invalid_tag_key)) << key;
    EXPECT_THAT(fabric.tag(id, key), Refused(ErrorCode::invalid_tag_key)) << key;
  }
  EXPECT_EQ(get(id).tags, submission.tags) << "one bad key writes nothing";
  EXPECT_EQ(get(id).version, 1U);

  Submission many = job();
  for (int i = 0; i < 128; ++i) many.tags[fmt::format("k{}", i)] = "v";
  const auto full = submit(many);
  EXPECT_THAT(fabric.set_tags(full, {{"one-more", "v"}}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.set_tags(full, {{"one-more", "v"}, {"k0", std::nullopt}}), Succeeds());
  many = job();
  for (int i = 0; i < 129; ++i) many.tags[fmt::format("k{}", i)] = "v";
  EXPECT_THAT(fabric.submit(many), Refused(ErrorCode::invalid_input));
  Submission long_value = job();
  long_value.tags = {{"k", std::string(4'096, 'v')}};
  EXPECT_EQ(get(submit(long_value)).tags, long_value.tags);
  long_value = job();
  long_value.tags = {{"k", std::string(4'097, 'v')}};
  EXPECT_THAT(fabric.submit(long_value), Refused(ErrorCode::invalid_input));
}

TEST_P(Domain, T31_texts_that_are_not_utf8) {
  // Labels of callers have to be text; what a failing program says is kept as far as it is text.
  const std::string broken = "caf\xe9";
  std::vector<Submission> refused(6, job());
  refused[0].execution_kind = broken;
  refused[1].namespace_ = broken;
  refused[2].tags = {{"k", broken}};
  refused[3].creator_identity = broken;
  refused[4].content_type = broken;
  refused[5].policy.emplace().routing_requirements.emplace().preferred_locality = broken;
  for (std::size_t i = 0; i < refused.size(); ++i) EXPECT_FALSE(fabric.submit(refused[i])) << i;

  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  EXPECT_THAT(fabric.set_tags(id, {{"k", broken}}), Refused(ErrorCode::invalid_input));
  must(fabric.progress({.handle = task.handle, .progress_message = broken}));
  EXPECT_EQ(get(id).progress.progress_message, "caf\xef\xbf\xbd");
  must(fail(task, broken));
  EXPECT_EQ(get(id).ending.last_failure_message, "caf\xef\xbf\xbd");
  EXPECT_EQ(attempts(id).at(0).failure_reason, "caf\xef\xbf\xbd");
}

}  // namespace ff::test
