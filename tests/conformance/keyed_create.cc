// 01, section 2.5: creates with an idempotency key.

#include "conformance/conformance.h"

namespace ff::test {
namespace {

Submission keyed(const std::string& key) {
  Submission submission;
  submission.execution_kind = "job";
  submission.payload = "{}";
  submission.tags = {{"tenant", "acme"}};
  submission.policy = must(parse_policy(R"({"priority": 3, "max_replay_count": 2})"));
  submission.idempotency_key = key;
  return submission;
}

}  // namespace

TEST_P(Executions, T4_same_key) {
  const Submission first = keyed("order-42");
  const auto created = must(fabric.submit(first));
  EXPECT_FALSE(created.duplicate);
  EXPECT_EQ(get(created.execution_id).idempotency_key, "order-42");
  EXPECT_EQ(must(fabric.submit(first)), (Submitted{created.execution_id, PublicState::waiting, true}));

  // Nothing but kind, lane, payload, policy and tags is compared.
  Submission other_rest = first;
  other_rest.priority = 9;
  other_rest.creator_identity = "somebody else";
  other_rest.delay_ms = 1'000;
  other_rest.content_type = "text/plain";
  EXPECT_TRUE(must(fabric.submit(other_rest)).duplicate);

  // The window is 24 hours.
  advance(24 * 3'600'000 - 1'000);
  EXPECT_TRUE(must(fabric.submit(first)).duplicate);
  advance(2'000);
  const auto second = must(fabric.submit(first));
  EXPECT_FALSE(second.duplicate);
  EXPECT_NE(second.execution_id, created.execution_id);
}

TEST_P(Executions, T4_same_key_other_content) {
  const Submission first = keyed("order-42");
  const auto created = must(fabric.submit(first));
  std::vector<Submission> others(5, first);
  others[0].execution_kind = "other";
  others[1].lane_id = "other";
  others[2].payload = "[]";
  others[3].policy = must(parse_policy(R"({"priority": 4, "max_replay_count": 2})"));
  others[4].tags = {{"tenant", "umbrella"}};
  for (const auto& other : others)
    EXPECT_THAT(fabric.submit(other), RefusedWith(ErrorCode::idempotency_conflict, "execution_id",
                                                  created.execution_id.to_string()));
  Submission without_payload = first;
  without_payload.payload.reset();
  EXPECT_THAT(fabric.submit(without_payload), Refused(ErrorCode::idempotency_conflict));
  EXPECT_THAT(list_all(), SizeIs(1));
  EXPECT_EQ(get(created.execution_id).version, 1U);
}

TEST_P(Executions, T4_key_and_own_id) {
  Submission both = keyed("order-42");
  both.execution_id = next_id();
  EXPECT_THAT(fabric.submit(both), RefusedWith(ErrorCode::invalid_input, "field", "idempotency_key"));
  both.idempotency_key = "";  // empty means absent
  EXPECT_THAT(fabric.submit(both), Succeeds());
  Submission long_key = keyed(std::string(513, 'k'));
  EXPECT_THAT(fabric.submit(long_key), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.submit(keyed(std::string(512, 'k'))), Succeeds());
}

TEST_P(Domain, T30_keyed_create_lies_in_the_partition_of_its_key) {
  EXPECT_EQ(must(fabric.submit(keyed("order-42"))).execution_id.partition, 178);
  Submission of_tenant = keyed("order-42");
  of_tenant.namespace_ = "tenant-a";
  const auto created = must(fabric.submit(of_tenant));
  EXPECT_FALSE(created.duplicate) << "a key belongs to its namespace";
  EXPECT_EQ(created.execution_id.partition, 34);
}

TEST_P(Domain, T30_policy_members_in_another_order_are_the_same_content) {
  Submission first = keyed("k");
  first.policy = must(parse_policy(R"({"priority": 3, "retry_policy": {"max_retries": 1, "backoff": {"type": "fixed"}}})"));
  const auto created = must(fabric.submit(first));
  Submission second = first;
  second.policy = must(parse_policy(R"({"retry_policy": {"backoff": {"type": "fixed"}, "max_retries": 1}, "priority": 3})"));
  EXPECT_EQ(must(fabric.submit(second)).execution_id, created.execution_id);
}

TEST_P(Domain, T30_window_of_the_policy) {
  Submission no_window = keyed("k0");
  no_window.policy = must(parse_policy(R"({"dedup_window_ms": 0})"));
  EXPECT_NE(must(fabric.submit(no_window)).execution_id, must(fabric.submit(no_window)).execution_id);

  Submission minute = keyed("k1");
  minute.policy = must(parse_policy(R"({"dedup_window_ms": 60000})"));
  EXPECT_FALSE(must(fabric.submit(minute)).duplicate);
  advance(59'000);
  EXPECT_TRUE(must(fabric.submit(minute)).duplicate);
  advance(2'000);
  EXPECT_FALSE(must(fabric.submit(minute)).duplicate);

  // A key that has lapsed makes room for other content, swept or not.
  restart({.sweeps = false});
  clock->advance(70'000);
  minute.payload = "other";
  EXPECT_FALSE(must(fabric.submit(minute)).duplicate);
}

TEST_P(Domain, T30_the_key_outlives_its_execution) {
  const auto created = must(fabric.submit(keyed("k")));
  must(fabric.cancel(created.execution_id));
  must(fabric.remove(created.execution_id));
  EXPECT_EQ(must(fabric.submit(keyed("k"))).execution_id, created.execution_id);
  EXPECT_TRUE(must(fabric.submit(keyed("k"))).duplicate);
  EXPECT_THAT(list_all(), IsEmpty());
}

TEST_P(Domain, T30_refused_creates_leave_no_key) {
  must(fabric.drain_lane("closed"));
  Submission submission = keyed("k");
  submission.lane_id = "closed";
  EXPECT_THAT(fabric.submit(submission), Refused(ErrorCode::lane_not_accepting));
  submission.lane_id = "default";
  EXPECT_FALSE(must(fabric.submit(submission)).duplicate);
}

TEST_P(Domain, T30_one_call_with_the_same_key_many_times) {
  const auto answers = fabric.submit_all(std::vector(10, keyed("k")));
  std::size_t created = 0;
  for (const auto& answer : answers) {
    EXPECT_EQ(must(answer).execution_id, answers[0]->execution_id);
    created += answer->duplicate ? 0 : 1;
  }
  EXPECT_EQ(created, 1U);
  EXPECT_THAT(list_all(), SizeIs(1));
}

}  // namespace ff::test
