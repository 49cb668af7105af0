#include "core/submission.h"

#include "support/rules.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;

Result<CheckedSubmission> check(Submission submission, const RuleSettings& settings = {}) {
  return check_submission(std::move(submission), settings, {});
}

/// `<code>[ <field or detail>]` of the refusal; empty when it was accepted.
std::string fault(Submission submission) {
  auto checked = check(std::move(submission));
  if (checked) return "";
  const Error& error = checked.error();
  std::string text(traits(error.code).name);
  for (std::string_view name : {"field", "detail", "key"})
    if (!error.context.text(name).empty()) text += fmt::format(" {}", error.context.text(name));
  return text;
}

TEST(Domain, T16_a_plain_submission_takes_the_defaults) {
  auto checked = check(job());
  ASSERT_TRUE(checked);
  const Create& create = checked->create;
  EXPECT_EQ(create.queue->lane_id, "default");
  EXPECT_EQ(create.queue->namespace_, "default");
  EXPECT_EQ(create.queue->execution_kind, "job");
  EXPECT_EQ(create.priority, 0);
  EXPECT_EQ(create.info.payload_content_type, "application/json");
  EXPECT_EQ(*create.info.policy, default_policy());
  EXPECT_EQ(create.payload, nullptr);
  EXPECT_EQ(create.tags, nullptr);
  EXPECT_FALSE(create.own_id);
  EXPECT_FALSE(create.key);
  EXPECT_EQ(create.dedup_window_ms, 86'400'000U);
}

TEST(Domain, T22_the_argument_wins_over_the_policy) {
  Submission given = job(R"({"priority":7,"delay_until":5000,"timeout_policy":{"execution_deadline_ms":9}})");
  auto from_policy = check(given);
  EXPECT_EQ(from_policy->create.priority, 7);
  EXPECT_EQ(from_policy->create.delay_until_ms, 5000);
  EXPECT_EQ(from_policy->create.execution_deadline_ms, 9U);
  given.priority = 20'000;
  given.delay_ms = 3;
  given.execution_deadline_at_ms = 77;
  auto from_argument = check(given);
  EXPECT_EQ(from_argument->create.priority, 9000);
  EXPECT_EQ(from_argument->create.delay_until_ms, std::nullopt);
  EXPECT_EQ(from_argument->create.delay_ms, 3U);
  EXPECT_EQ(from_argument->create.execution_deadline_at_ms, 77);
}

TEST(Domain, T27_priorities_of_the_policy_are_clamped_too) {
  EXPECT_EQ(check(job(R"({"priority":-5})"))->create.priority, 0);
  EXPECT_EQ(check(job(R"({"priority":9001})"))->create.priority, 9000);
}

TEST(Scheduling, T17_queue_classes) {
  EXPECT_EQ(queue_class("resize", {}), "274c7140b7fb2251");
  EXPECT_EQ(queue_class("resize", {"cuda", "gpu"}), "6f7f901360790a00");
  auto checked = check(job(R"({"routing_requirements":{"required_capabilities":["gpu","cuda"]}})", "resize"));
  EXPECT_EQ(checked->create.queue->queue_class, "6f7f901360790a00") << "in any order";
  EXPECT_EQ(checked->create.queue->required_capabilities, (std::vector<std::string>{"cuda", "gpu"}));
}

TEST(Executions, T2_two_delays_and_T4_key_with_own_id_contradict_each_other) {
  Submission both = job();
  both.delay_ms = 1;
  both.delay_until_ms = 1;
  EXPECT_EQ(fault(both), "invalid_input delay_ms");
  Submission named = job();
  named.execution_id = ExecutionId{};
  named.idempotency_key = "k";
  EXPECT_EQ(fault(named), "invalid_input idempotency_key");
  named.idempotency_key = "";
  EXPECT_EQ(fault(named), "") << "an empty key is none";
}

TEST(Executions, T7_the_first_broken_rule_in_the_order_of_the_specification_is_the_answer) {
  // Everything is wrong; each step repairs the first fault, so that the next one shows.
  Submission s;
  s.execution_id = ExecutionId{256, {}};
  s.lane_id = "";
  s.namespace_ = "a b";
  s.execution_kind = "";
  s.content_type = std::string(257, 'c');
  s.creator_identity = std::string(257, 'c');
  s.idempotency_key = std::string(513, 'k');
  s.payload = Bytes(1024 * 1024 + 1, 'p');
  s.delay_ms = 1;
  s.delay_until_ms = 1;
  s.policy.emplace().max_concurrent = 1;
  s.policy->routing_requirements.emplace().required_capabilities = {std::string()};
  s.tags = {{"-bad", "v"}};
  EXPECT_EQ(fault(s), "invalid_input execution_id");
  s.execution_id->partition = 255;
  EXPECT_EQ(fault(s), "invalid_input lane_id");
  s.lane_id = "default";
  EXPECT_EQ(fault(s), "invalid_input namespace");
  s.namespace_ = "tenant";
  EXPECT_EQ(fault(s), "invalid_input execution_kind");
  s.execution_kind = "job";
  EXPECT_EQ(fault(s), "invalid_input content_type");
  s.content_type = "text/plain";
  EXPECT_EQ(fault(s), "invalid_input creator_identity");
  s.creator_identity = "me";
  EXPECT_EQ(fault(s), "invalid_input idempotency_key");
  s.idempotency_key = "k";
  EXPECT_EQ(fault(s), "payload_too_large");
  s.payload = Bytes(1024 * 1024, 'p');
  EXPECT_EQ(fault(s), "invalid_input idempotency_key") << "with an id of its own";
  s.execution_id.reset();
  EXPECT_EQ(fault(s), "invalid_input delay_ms");
  s.delay_ms.reset();
  EXPECT_EQ(fault(s), "invalid_capabilities required:empty_token");
  s.policy->routing_requirements.reset();
  EXPECT_EQ(fault(s), "invalid_policy_json max_concurrent:without_key");
  s.policy->max_concurrent.reset();
  EXPECT_EQ(fault(s), "invalid_tag_key -bad");
  s.tags = {{"good", "v"}};
  s.policy->budget_ids = std::vector{Uuid{}};
  s.policy->quota_id = Uuid{};
  EXPECT_EQ(fault(s), "budget_not_found");
  s.policy->budget_ids->clear();
  EXPECT_EQ(fault(s), "quota_policy_not_found");
  s.policy->quota_id.reset();
  EXPECT_EQ(fault(s), "");
}

TEST(Domain, empty_texts_are_absent_but_an_empty_payload_is_one) {
  Submission s = job();
  s.creator_identity = "";
  s.idempotency_key = "";
  s.content_type = "";
  s.traceparent = "nonsense";
  s.payload = "";
  auto checked = check(s);
  ASSERT_TRUE(checked);
  EXPECT_FALSE(checked->create.info.creator_identity);
  EXPECT_FALSE(checked->create.info.idempotency_key);
  EXPECT_FALSE(checked->create.info.traceparent) << "malformed: dropped, not refused";
  EXPECT_EQ(checked->create.info.payload_content_type, "application/json");
  EXPECT_EQ(checked->create.info.payload_bytes, 0U);
  ASSERT_TRUE(checked->create.payload);
  EXPECT_EQ(*checked->create.payload, "");
}

TEST(Domain, T30_a_keyed_submission_lies_in_the_partition_of_its_key) {
  Submission s = job();
  s.idempotency_key = "order-42";
  auto checked = check(s);
  IdSource ids(1, 1);
  for (int i = 0; i < 20; ++i) {
    place_submission(*checked, ids.next(1000), {});
    EXPECT_EQ(checked->create.id.partition, 178);
  }
  EXPECT_EQ(checked->create.key, (IdempotencyId{"default", "create_execution", "order-42"}));
  s.namespace_ = "tenant-a";
  auto other = check(s);
  place_submission(*other, ids.next(1000), {});
  EXPECT_EQ(other->create.id.partition, 34);
}

TEST(Domain, T30_an_own_id_is_taken_verbatim_and_a_minted_one_follows_its_lane) {
  const Uuid uuid = *Uuid::parse("550e8400-e29b-41d4-a716-446655440000");
  Submission own = job();
  own.execution_id = ExecutionId{3, uuid};
  auto named = check(own);
  place_submission(*named, Uuid{}, {});
  EXPECT_EQ(named->create.id, (ExecutionId{3, uuid})) << "also when the tag is not where the rules would place it";
  EXPECT_TRUE(named->create.own_id);
  auto minted = check(job());
  place_submission(*minted, uuid, {});
  EXPECT_EQ(minted->create.id, (ExecutionId{88, uuid}));
}

TEST(Domain, T30_what_counts_as_the_same_content) {
  Submission base = job(R"({"priority":1,"max_replay_count":2})");
  base.payload = "p";
  base.tags = {{"a", "1"}, {"b", "2"}};
  const std::string content = submission_content(base);
  Submission same = base;
  same.policy = job(R"({"max_replay_count":2,"priority":1})").policy;
  same.priority = 7;
  same.creator_identity = "someone else";
  same.delay_ms = 9;
  same.content_type = "text/plain";
  EXPECT_EQ(submission_content(same), content) << "nothing else is compared";

  auto differs = [&](auto change) {
    Submission other = base;
    change(other);
    return submission_content(other) != content;
  };
  EXPECT_TRUE(differs([](Submission& s) { s.execution_kind = "other"; }));
  EXPECT_TRUE(differs([](Submission& s) { s.lane_id = "other"; }));
  EXPECT_TRUE(differs([](Submission& s) { s.payload = "q"; }));
  EXPECT_TRUE(differs([](Submission& s) { s.payload = ""; }));
  EXPECT_TRUE(differs([](Submission& s) { s.payload.reset(); }));
  EXPECT_TRUE(differs([](Submission& s) { s.policy->priority = 2; }));
  EXPECT_TRUE(differs([](Submission& s) { s.policy.reset(); }));
  EXPECT_TRUE(differs([](Submission& s) { s.tags["a"] = "2"; }));
  EXPECT_TRUE(differs([](Submission& s) { s.tags.clear(); }));
  Submission none, empty;
  none.execution_kind = empty.execution_kind = "job";
  empty.payload = "";
  EXPECT_NE(submission_content(none), submission_content(empty)) << "no payload is not an empty one";
  empty.payload.reset();
  empty.policy.emplace();
  EXPECT_EQ(submission_content(none), submission_content(empty)) << "no policy is the empty one";
}

// ---- claims -------------------------------------------------------------------------------------------------------

ClaimRequest request() {
  ClaimRequest claim;
  claim.worker_id = "pool";
  claim.worker_instance_id = "pool-1";
  claim.lanes = {"default"};
  return claim;
}

std::string claim_fault(const ClaimRequest& claim) {
  auto checked = check_claim(claim, {});
  if (checked) return "";
  const Error& error = checked.error();
  const auto where = error.context.text("field");
  return fmt::format("{} {}", traits(error.code).name, where.empty() ? error.context.text("detail") : where);
}

TEST(Scheduling, T28_claims_are_checked_at_every_edge) {
  EXPECT_EQ(claim_fault(request()), "");
  auto fault_of = [](auto change) {
    ClaimRequest claim = request();
    change(claim);
    return claim_fault(claim);
  };
  using R = ClaimRequest;
  EXPECT_EQ(fault_of([](R& c) { c.worker_id = ""; }), "invalid_input worker_id");
  EXPECT_EQ(fault_of([](R& c) { c.worker_instance_id = "a b"; }), "invalid_input worker_instance_id");
  EXPECT_EQ(fault_of([](R& c) { c.namespace_ = "{"; }), "invalid_input namespace");
  EXPECT_EQ(fault_of([](R& c) { c.lanes.clear(); }), "invalid_input lanes");
  EXPECT_EQ(fault_of([](R& c) {
              c.lanes.clear();
              c.execution_id = ExecutionId{};
            }),
            "");
  EXPECT_EQ(fault_of([](R& c) { c.lanes.assign(64, "a"); }), "");
  EXPECT_EQ(fault_of([](R& c) { c.lanes.assign(65, "a"); }), "invalid_input lanes");
  EXPECT_EQ(fault_of([](R& c) { c.lanes = {"ok", ""}; }), "invalid_input lane_id");
  EXPECT_EQ(fault_of([](R& c) { c.capabilities = {"a,b"}; }), "invalid_capabilities worker:comma_in_token");
  EXPECT_EQ(fault_of([](R& c) { c.kinds.assign(256, "k"); }), "");
  EXPECT_EQ(fault_of([](R& c) { c.kinds.assign(257, "k"); }), "invalid_input kinds");
  EXPECT_EQ(fault_of([](R& c) { c.kinds = {""}; }), "invalid_input kinds");
  EXPECT_EQ(fault_of([](R& c) { c.max = 0; }), "invalid_input max");
  EXPECT_EQ(fault_of([](R& c) { c.max = 1000; }), "");
  EXPECT_EQ(fault_of([](R& c) { c.max = 1001; }), "invalid_input max");
  EXPECT_EQ(fault_of([](R& c) { c.wait_ms = 60'000; }), "");
  EXPECT_EQ(fault_of([](R& c) { c.wait_ms = 60'001; }), "invalid_input wait_ms");
  EXPECT_EQ(fault_of([](R& c) { c.lease_ttl_ms = 999; }), "invalid_input lease_ttl_ms");
  EXPECT_EQ(fault_of([](R& c) { c.lease_ttl_ms = 1'000; }), "");
  EXPECT_EQ(fault_of([](R& c) { c.idempotency_key = std::string(513, 'k'); }), "invalid_input idempotency_key");
}

TEST(Scheduling, T28_a_claim_keeps_its_lanes_in_order_and_once) {
  ClaimRequest given = request();
  given.lanes = {"b", "a", "b"};
  given.capabilities = {"gpu", "cuda", "gpu"};
  given.kinds = {"x"};
  given.idempotency_key = "";
  RuleSettings settings;
  settings.lease_ttl_ms = 5'000;
  auto claim = check_claim(given, settings);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->worker.lanes, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(claim->worker.capabilities, (std::set<std::string, std::less<>>{"cuda", "gpu"}));
  EXPECT_EQ(claim->lease_ttl_ms, 5'000U);
  EXPECT_EQ(claim->claim_key, std::nullopt);
  given.lease_ttl_ms = 7'000;
  given.idempotency_key = "k";
  EXPECT_EQ(check_claim(given, settings)->lease_ttl_ms, 7'000U);
  EXPECT_EQ(check_claim(given, settings)->claim_key, "k");
}

}  // namespace
}  // namespace ff::core
