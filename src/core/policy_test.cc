#include "core/policy.h"

#include "core/json.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

/// `<code> <detail>` of the refusal; empty when it was accepted.
std::string fault(std::string_view text) {
  auto policy = parse_policy(text);
  if (policy) return "";
  return fmt::format("{} {}", traits(policy.error().code).name, policy.error().context.text("detail"));
}

Policy parsed(std::string_view text) {
  auto policy = parse_policy(text);
  EXPECT_TRUE(policy) << text;
  return policy.value_or(Policy{});
}

std::string stored(std::string_view text, const RuleSettings& settings = {}) {
  return to_json(freeze_policy(parsed(text), settings));
}

TEST(Domain, T22_nothing_given_is_all_defaults_written_out) {
  const std::string expected =
      R"({"priority":0,"retry_policy":{"max_retries":3,"backoff":{"type":"exponential","initial_delay_ms":1000,)"
      R"("max_delay_ms":60000,"multiplier":2.0,"jitter":true},"retryable_categories":[]},)"
      R"("lease_loss_policy":"reclaim","max_reclaim_count":20,"max_replay_count":10,"budget_ids":[],)"
      R"("dedup_window_ms":86400000,"stream_policy":{"retention_maxlen":10000},"retention_ttl_ms":86400000,)"
      R"("max_signals_per_execution":10000})";
  EXPECT_EQ(stored(""), expected);
  EXPECT_EQ(stored("{}"), expected);
  EXPECT_EQ(to_json(freeze_policy(Policy{}, {})), expected);
  EXPECT_EQ(expected.find("null"), std::string::npos);
}

TEST(Domain, T22_the_settings_of_the_engine_are_the_defaults_of_the_policy) {
  RuleSettings settings;
  settings.lease_loss_policy = LeaseLossPolicy::retry;
  settings.max_reclaim_count = 7;
  settings.default_max_retries = 1;
  settings.retention_ms = 5;
  const Policy frozen = freeze_policy(Policy{}, settings);
  EXPECT_EQ(frozen.lease_loss_policy, LeaseLossPolicy::retry);
  EXPECT_EQ(frozen.max_reclaim_count, 7U);
  EXPECT_EQ(frozen.retry_policy->max_retries, 1U);
  EXPECT_EQ(frozen.retention_ttl_ms, 5U);
  const Policy own = freeze_policy(
      parsed(R"({"lease_loss_policy":"reclaim","max_reclaim_count":0,"retry_policy":{"max_retries":0}})"), settings);
  EXPECT_EQ(own.lease_loss_policy, LeaseLossPolicy::reclaim);
  EXPECT_EQ(own.max_reclaim_count, 0U);
  EXPECT_EQ(own.retry_policy->max_retries, 0U);
}

TEST(Domain, T22_retention_follows_the_stream_when_it_has_none_of_its_own) {
  EXPECT_EQ(freeze_policy(parsed(R"({"stream_policy":{"retention_ttl_ms":77}})"), {}).retention_ttl_ms, 77U);
  EXPECT_EQ(
      freeze_policy(parsed(R"({"retention_ttl_ms":5,"stream_policy":{"retention_ttl_ms":77}})"), {}).retention_ttl_ms,
      5U);
}

TEST(Domain, T23_a_retry_policy_in_part_gets_the_rest) {
  const Policy frozen = freeze_policy(parsed(R"({"retry_policy":{"max_retries":5}})"), {});
  EXPECT_EQ(frozen.retry_policy->max_retries, 5U);
  EXPECT_EQ(*frozen.retry_policy->backoff,
            (Backoff{BackoffType::exponential, std::nullopt, 1000, 60'000, 2.0, true}));
  const Policy fixed = freeze_policy(parsed(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":0}}})"), {});
  EXPECT_EQ(fixed.retry_policy->max_retries, 3U);
  EXPECT_EQ(fixed.retry_policy->backoff->delay_ms, 0U);
  EXPECT_FALSE(fixed.retry_policy->backoff->multiplier) << "no member of the other kind appears";
  const Policy calm = freeze_policy(parsed(R"({"retry_policy":{"backoff":{"type":"exponential","jitter":false}}})"), {});
  EXPECT_EQ(calm.retry_policy->backoff->jitter, false);
  EXPECT_EQ(calm.retry_policy->backoff->initial_delay_ms, 1000U);
}

TEST(Domain, T29_what_is_no_policy_is_refused_with_its_place) {
  for (std::string_view bad : {"{", "[]", "7", "null", "\"{}\"", "{\"priority\":1", "{\"priority\":1,\"priority\":2}"})
    EXPECT_EQ(fault(bad), "invalid_policy_json malformed") << bad;
  EXPECT_EQ(fault(R"({"prio":1})"), "invalid_policy_json unknown_member:prio");
  EXPECT_EQ(fault(R"({"retry_policy":{"tries":1}})"), "invalid_policy_json unknown_member:retry_policy.tries");
  EXPECT_EQ(fault(R"({"retry_policy":{"backoff":{"kind":"x"}}})"),
            "invalid_policy_json unknown_member:retry_policy.backoff.kind");
  EXPECT_EQ(fault(R"({"priority":"high"})"), "invalid_policy_json priority:wrong_type");
  EXPECT_EQ(fault(R"({"priority":null})"), "invalid_policy_json priority:wrong_type");
  EXPECT_EQ(fault(R"({"priority":1.5})"), "invalid_policy_json priority:wrong_type");
  EXPECT_EQ(fault(R"({"priority":2147483648})"), "invalid_policy_json priority:out_of_range");
  EXPECT_EQ(fault(R"({"retry_policy":7})"), "invalid_policy_json retry_policy:wrong_type");
  EXPECT_EQ(fault(R"({"retry_policy":{"max_retries":-1}})"), "invalid_policy_json retry_policy.max_retries:out_of_range");
  EXPECT_EQ(fault(R"({"retry_policy":{"max_retries":4294967296}})"),
            "invalid_policy_json retry_policy.max_retries:out_of_range");
  EXPECT_EQ(fault(R"({"lease_loss_policy":"both"})"), "invalid_policy_json lease_loss_policy:out_of_range");
  EXPECT_EQ(fault(R"({"budget_ids":["x"]})"), "invalid_policy_json budget_ids[0]:out_of_range");
  EXPECT_EQ(fault(R"({"routing_requirements":[]})"), "invalid_policy_json routing_requirements:not_object");
  EXPECT_EQ(fault(R"({"routing_requirements":null})"), "invalid_policy_json routing_requirements:not_object");
}

TEST(Domain, T29_a_bad_capability_list_never_becomes_any_worker) {
  auto list = [](std::string_view value) {
    return fault(fmt::format(R"({{"routing_requirements":{{"required_capabilities":{}}}}})", value));
  };
  EXPECT_EQ(list("\"gpu\""), "invalid_capabilities required:not_array");
  EXPECT_EQ(list("{}"), "invalid_capabilities required:not_array");
  EXPECT_EQ(list("null"), "invalid_capabilities required:not_array");
  EXPECT_EQ(list("[1]"), "invalid_capabilities required:non_string_token");
  EXPECT_EQ(list("[null]"), "invalid_capabilities required:non_string_token");
  EXPECT_EQ(list(R"(["gpu",""])"), "invalid_capabilities required:empty_token");
  EXPECT_EQ(list(R"(["a,b"])"), "invalid_capabilities required:comma_in_token");
  EXPECT_EQ(list(R"(["a b"])"), "invalid_capabilities required:control_or_whitespace");
  EXPECT_EQ(list(R"(["gpu","cuda","gpu"])"), "");
  EXPECT_EQ(*parsed(R"({"routing_requirements":{"required_capabilities":["gpu","cuda","gpu"]}})")
                 .routing_requirements->required_capabilities,
            (std::vector<std::string>{"cuda", "gpu"}));
}

TEST(Domain, T29_faults_come_in_the_order_of_the_specification) {
  EXPECT_EQ(fault(R"({"zz":1,"routing_requirements":7})"), "invalid_policy_json unknown_member:zz");
  EXPECT_EQ(fault(R"({"priority":"x","routing_requirements":7})"), "invalid_policy_json routing_requirements:not_object");
  EXPECT_EQ(fault(R"({"priority":"x","routing_requirements":{"required_capabilities":[""]}})"),
            "invalid_capabilities required:empty_token");
  EXPECT_EQ(fault(R"({"max_concurrent":0,"routing_requirements":{"required_capabilities":["a,"]}})"),
            "invalid_capabilities required:comma_in_token");
}

struct Bound {
  const char* path;
  const char* good;
  const char* bad;
};
class PolicyBounds : public testing::TestWithParam<Bound> {};

TEST_P(PolicyBounds, T29_hold_at_their_edge) {
  const Bound& bound = GetParam();
  EXPECT_EQ(fault(bound.good), "") << bound.good;
  EXPECT_EQ(fault(bound.bad), fmt::format("invalid_policy_json {}:out_of_range", bound.path)) << bound.bad;
}

INSTANTIATE_TEST_SUITE_P(
    Domain, PolicyBounds,
    testing::Values(
        Bound{"timeout_policy.attempt_timeout_ms", R"({"timeout_policy":{"attempt_timeout_ms":1}})",
              R"({"timeout_policy":{"attempt_timeout_ms":0}})"},
        Bound{"timeout_policy.attempt_timeout_ms", R"({"timeout_policy":{"attempt_timeout_ms":2592000000}})",
              R"({"timeout_policy":{"attempt_timeout_ms":2592000001}})"},
        Bound{"timeout_policy.execution_deadline_ms", R"({"timeout_policy":{"execution_deadline_ms":2592000000}})",
              R"({"timeout_policy":{"execution_deadline_ms":2592000001}})"},
        Bound{"timeout_policy.execution_deadline_ms", R"({"timeout_policy":{"execution_deadline_ms":1}})",
              R"({"timeout_policy":{"execution_deadline_ms":0}})"},
        Bound{"retry_policy.backoff.delay_ms", R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":604800000}}})",
              R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":604800001}}})"},
        Bound{"retry_policy.backoff.initial_delay_ms", R"({"retry_policy":{"backoff":{"initial_delay_ms":604800000}}})",
              R"({"retry_policy":{"backoff":{"initial_delay_ms":604800001}}})"},
        Bound{"retry_policy.backoff.max_delay_ms", R"({"retry_policy":{"backoff":{"max_delay_ms":604800000}}})",
              R"({"retry_policy":{"backoff":{"max_delay_ms":604800001}}})"},
        Bound{"retry_policy.backoff.multiplier", R"({"retry_policy":{"backoff":{"multiplier":1}}})",
              R"({"retry_policy":{"backoff":{"multiplier":0.999}}})"},
        Bound{"retry_policy.backoff.multiplier", R"({"retry_policy":{"backoff":{"multiplier":1e308}}})",
              R"({"retry_policy":{"backoff":{"multiplier":-2}}})"},
        Bound{"max_concurrent", R"({"concurrency_key":"k","max_concurrent":1})",
              R"({"concurrency_key":"k","max_concurrent":0})"},
        Bound{"max_concurrent", R"({"concurrency_key":"k","max_concurrent":1000000})",
              R"({"concurrency_key":"k","max_concurrent":1000001})"},
        Bound{"concurrency_key", R"({"concurrency_key":"k"})", R"({"concurrency_key":""})"},
        Bound{"concurrency_key", R"({"concurrency_key":"a b"})", R"({"concurrency_key":"a\nb"})"},
        Bound{"retry_policy.retryable_categories", R"({"retry_policy":{"retryable_categories":[]}})",
              R"({"retry_policy":{"retryable_categories":[""]}})"}));

TEST(Domain, T29_counts_and_lengths_hold_at_their_edge) {
  Policy policy;
  auto refused = [&] {
    auto checked = check_policy(policy);
    return checked ? std::string() : std::string(checked.error().context.text("detail"));
  };
  policy.budget_ids.emplace(16);
  EXPECT_EQ(refused(), "");
  policy.budget_ids.emplace(17);
  EXPECT_EQ(refused(), "budget_ids:out_of_range");
  policy = {};
  policy.concurrency_key = std::string(256, 'k');
  EXPECT_EQ(refused(), "");
  policy.concurrency_key->push_back('k');
  EXPECT_EQ(refused(), "concurrency_key:out_of_range");
  policy = {};
  policy.max_concurrent = 5;
  EXPECT_EQ(refused(), "max_concurrent:without_key");
  policy = {};
  policy.routing_requirements.emplace().preferred_locality = std::string(257, 'x');
  EXPECT_EQ(refused(), "routing_requirements.preferred_locality:out_of_range");
  policy.routing_requirements.emplace().isolation_level = std::string(257, 'x');
  EXPECT_EQ(refused(), "routing_requirements.isolation_level:out_of_range");
  policy = {};
  policy.retry_policy.emplace().retryable_categories.emplace(256, "c");
  EXPECT_EQ(refused(), "");
  policy.retry_policy->retryable_categories->emplace_back("c");
  EXPECT_EQ(refused(), "retry_policy.retryable_categories:out_of_range");
}

TEST(Domain, T29_members_of_the_other_backoff_are_unknown) {
  EXPECT_EQ(fault(R"({"retry_policy":{"backoff":{"type":"fixed","multiplier":2}}})"),
            "invalid_policy_json unknown_member:retry_policy.backoff.multiplier");
  EXPECT_EQ(fault(R"({"retry_policy":{"backoff":{"delay_ms":2}}})"),
            "invalid_policy_json unknown_member:retry_policy.backoff.delay_ms");
}

TEST(Domain, T22_a_concurrency_key_alone_means_one_at_a_time) {
  EXPECT_EQ(freeze_policy(parsed(R"({"concurrency_key":"k"})"), {}).max_concurrent, 1U);
  EXPECT_FALSE(freeze_policy(Policy{}, {}).max_concurrent);
}

TEST(Domain, T22_the_stored_form_comes_back_equal) {
  EXPECT_EQ(stored_policy(default_policy()), "") << "what everybody has is not written";
  const char* const texts[] = {
      "{}",
      R"({"priority":-5,"delay_until":1700000000000})",
      R"({"retry_policy":{"max_retries":0}})",
      R"({"retry_policy":{"max_retries":7,"backoff":{"type":"fixed","delay_ms":3},"retryable_categories":["a","b"]}})",
      R"({"retry_policy":{"backoff":{"multiplier":1.1,"initial_delay_ms":0,"jitter":false}}})",
      R"({"timeout_policy":{"attempt_timeout_ms":1,"execution_deadline_ms":2592000000}})",
      R"({"lease_loss_policy":"retry","max_reclaim_count":0,"max_replay_count":0})",
      R"({"suspension_policy":{"default_timeout_ms":5,"timeout_behavior":"escalate"}})",
      R"({"budget_ids":["550e8400-e29b-41d4-a716-446655440000"],"quota_id":"550e8400-e29b-41d4-a716-446655440001"})",
      R"({"concurrency_key":"k \" \\ é","max_concurrent":9})",
      R"({"routing_requirements":{"required_capabilities":["gpu"],"preferred_locality":"eu","isolation_level":"vm"}})",
      R"({"dedup_window_ms":0,"retention_ttl_ms":18446744073709551615,"max_signals_per_execution":0})",
      R"({"stream_policy":{"retention_maxlen":1,"retention_ttl_ms":2}})",
  };
  for (std::string_view text : texts) {
    const Policy frozen = freeze_policy(parsed(text), {});
    const auto back = policy_from_stored(stored_policy(frozen));
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, frozen) << text << " stored as " << stored_policy(frozen);
  }
}

TEST(Domain, T22_the_stored_form_does_not_depend_on_the_settings_of_today) {
  RuleSettings settings;
  settings.default_max_retries = 9;
  settings.retention_ms = 1;
  const Policy frozen = freeze_policy(Policy{}, settings);
  EXPECT_NE(stored_policy(frozen), "");
  EXPECT_EQ(*policy_from_stored(stored_policy(frozen)), frozen);
}

TEST(Domain, T14_a_stored_policy_that_is_none_is_corruption) {
  for (std::string_view bad : {"{", "[]", R"({"priority":"x"})", R"({"no_such_member":1})"}) {
    auto policy = policy_from_stored(bad);
    ASSERT_FALSE(policy) << bad;
    EXPECT_EQ(policy.error().code, ErrorCode::corruption);
    EXPECT_TRUE(policy.error().context.text("detail").starts_with("ff_exec_info: policy: ")) << bad;
  }
}

TEST(Domain, T22_the_numbers_beside_the_state_are_those_of_the_policy) {
  const PolicyNumbers numbers = policy_numbers(freeze_policy(
      parsed(R"({"timeout_policy":{"attempt_timeout_ms":5},"retention_ttl_ms":6,"retry_policy":{"max_retries":7},)"
             R"("max_reclaim_count":8,"max_replay_count":9,"lease_loss_policy":"retry"})"),
      {}));
  EXPECT_EQ(numbers, (PolicyNumbers{5, 6, 7, 8, 9, LeaseLossPolicy::retry}));
  EXPECT_EQ(policy_numbers(default_policy()), PolicyNumbers{}) << "the defaults of the record are the same";
}

}  // namespace
}  // namespace ff::core
