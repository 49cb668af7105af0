#include "core/policy.h"

#include "core/capabilities.h"
#include "core/json.h"
#include "core/text.h"

#include <cmath>

namespace ff::core {
namespace {

constexpr std::size_t kLabelBytesMax = 256;

Error bad_policy(std::string detail) {
  std::string message = fmt::format("The policy is not valid: {}. See docs/policies.md for its members and bounds.", detail);
  return {ErrorCode::invalid_policy_json, std::move(message), {{"detail", std::move(detail)}}};
}

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

/// The path of the first member that a policy does not have.
template <Described T>
std::string unknown_member(const json::object& object, const std::string& path) {
  const T empty{};
  for (const auto& [key, value] : object) {
    const std::string at = path.empty() ? std::string(key) : fmt::format("{}.{}", path, std::string_view(key));
    bool known = false;
    std::string below;
    for_each_field(empty, [&](std::string_view name, const auto& member) {
      if (name != std::string_view(key)) return;
      known = true;
      using M = typename Unwrapped<std::remove_cvref_t<decltype(member)>>::type;
      if constexpr (Described<M>)
        if (value.is_object()) below = unknown_member<M>(value.get_object(), at);
    });
    if (!known) return at;
    if (!below.empty()) return below;
  }
  return {};
}

/// The form of the capability list, which has error codes of its own.
std::optional<Error> capability_form(const json::object& policy) {
  const json::value* routing = policy.if_contains("routing_requirements");
  if (!routing) return std::nullopt;
  if (!routing->is_object()) return bad_policy("routing_requirements:not_object");
  const json::value* list = routing->get_object().if_contains("required_capabilities");
  if (!list) return std::nullopt;
  if (!list->is_array()) return bad_capabilities("required", "not_array");
  for (const auto& token : list->get_array())
    if (!token.is_string()) return bad_capabilities("required", "non_string_token");
  return std::nullopt;
}

std::string misplaced_backoff_member(const Policy& policy) {
  if (!policy.retry_policy || !policy.retry_policy->backoff) return {};
  const Backoff& backoff = *policy.retry_policy->backoff;
  if (backoff.type == BackoffType::fixed) {
    if (backoff.initial_delay_ms) return "initial_delay_ms";
    if (backoff.max_delay_ms) return "max_delay_ms";
    if (backoff.multiplier) return "multiplier";
    if (backoff.jitter) return "jitter";
    return {};
  }
  return backoff.delay_ms ? "delay_ms" : "";
}

std::string out_of_range(const Policy& policy) {
  auto timeout_ok = [](const std::optional<std::uint64_t>& ms) { return !ms || (*ms >= 1 && *ms <= kTimeoutMsMax); };
  auto delay_ok = [](const std::optional<std::uint64_t>& ms) { return !ms || *ms <= kBackoffDelayMsMax; };
  auto label_ok = [](const std::optional<std::string>& text) {
    return !text || (text->size() <= kLabelBytesMax && is_utf8(*text));
  };
  if (policy.retry_policy) {
    const RetryPolicy& retry = *policy.retry_policy;
    if (retry.backoff) {
      const Backoff& backoff = *retry.backoff;
      if (!delay_ok(backoff.delay_ms)) return "retry_policy.backoff.delay_ms";
      if (!delay_ok(backoff.initial_delay_ms)) return "retry_policy.backoff.initial_delay_ms";
      if (!delay_ok(backoff.max_delay_ms)) return "retry_policy.backoff.max_delay_ms";
      if (backoff.multiplier && !(std::isfinite(*backoff.multiplier) && *backoff.multiplier >= 1.0))
        return "retry_policy.backoff.multiplier";
    }
    if (retry.retryable_categories) {
      if (retry.retryable_categories->size() > kRetryCategoriesMax) return "retry_policy.retryable_categories";
      for (const auto& category : *retry.retryable_categories)
        if (category.empty() || !label_ok(category)) return "retry_policy.retryable_categories";
    }
  }
  if (policy.timeout_policy) {
    if (!timeout_ok(policy.timeout_policy->attempt_timeout_ms)) return "timeout_policy.attempt_timeout_ms";
    if (!timeout_ok(policy.timeout_policy->execution_deadline_ms)) return "timeout_policy.execution_deadline_ms";
  }
  if (policy.budget_ids && policy.budget_ids->size() > kBudgetIdsMax) return "budget_ids";
  if (policy.concurrency_key) {
    if (policy.concurrency_key->empty() || !label_ok(policy.concurrency_key)) return "concurrency_key";
    for (unsigned char c : *policy.concurrency_key)
      if (c < 0x20 || c == 0x7f) return "concurrency_key";
  }
  if (policy.max_concurrent && (*policy.max_concurrent < 1 || *policy.max_concurrent > kMaxConcurrentMax))
    return "max_concurrent";
  if (policy.routing_requirements) {
    if (!label_ok(policy.routing_requirements->preferred_locality)) return "routing_requirements.preferred_locality";
    if (!label_ok(policy.routing_requirements->isolation_level)) return "routing_requirements.isolation_level";
  }
  return {};
}

}  // namespace

Result<Policy> check_policy(Policy policy) {
  if (policy.routing_requirements && policy.routing_requirements->required_capabilities) {
    auto normal =
        normalize_capabilities("required", std::move(*policy.routing_requirements->required_capabilities));
    if (!normal) return std::unexpected(normal.error());
    policy.routing_requirements->required_capabilities = std::move(*normal);
  }
  if (auto path = out_of_range(policy); !path.empty()) return std::unexpected(bad_policy(path + ":out_of_range"));
  if (auto member = misplaced_backoff_member(policy); !member.empty())
    return std::unexpected(bad_policy(fmt::format("unknown_member:retry_policy.backoff.{}", member)));
  if (policy.max_concurrent && !policy.concurrency_key)
    return std::unexpected(bad_policy("max_concurrent:without_key"));
  return policy;
}

Policy freeze_policy(const Policy& given, const RuleSettings& settings) {
  Policy frozen = given;
  frozen.priority = given.priority.value_or(0);
  RetryPolicy retry = given.retry_policy.value_or(RetryPolicy{});
  if (!retry.max_retries) retry.max_retries = settings.default_max_retries;
  Backoff backoff = retry.backoff.value_or(Backoff{});
  if (!backoff.type) backoff.type = BackoffType::exponential;
  if (*backoff.type == BackoffType::exponential) {
    backoff.initial_delay_ms = backoff.initial_delay_ms.value_or(1'000);
    backoff.max_delay_ms = backoff.max_delay_ms.value_or(60'000);
    backoff.multiplier = backoff.multiplier.value_or(2.0);
    backoff.jitter = backoff.jitter.value_or(true);
  } else {
    backoff.delay_ms = backoff.delay_ms.value_or(0);
  }
  retry.backoff = backoff;
  if (!retry.retryable_categories) retry.retryable_categories.emplace();
  frozen.retry_policy = std::move(retry);
  if (!frozen.lease_loss_policy) frozen.lease_loss_policy = settings.lease_loss_policy;
  if (!frozen.max_reclaim_count) frozen.max_reclaim_count = settings.max_reclaim_count;
  if (!frozen.max_replay_count) frozen.max_replay_count = kMaxReplayCountDefault;
  if (!frozen.budget_ids) frozen.budget_ids.emplace();
  if (frozen.concurrency_key && !frozen.max_concurrent) frozen.max_concurrent = 1;
  if (!frozen.dedup_window_ms) frozen.dedup_window_ms = kDedupWindowDefaultMs;
  StreamPolicy stream = given.stream_policy.value_or(StreamPolicy{});
  if (!stream.retention_maxlen) stream.retention_maxlen = 10'000;
  if (!frozen.retention_ttl_ms) frozen.retention_ttl_ms = stream.retention_ttl_ms.value_or(settings.retention_ms);
  frozen.stream_policy = stream;
  if (!frozen.max_signals_per_execution) frozen.max_signals_per_execution = 10'000;
  return frozen;
}

const Policy& default_policy() {
  static const Policy policy = freeze_policy(Policy{}, RuleSettings{});
  return policy;
}

PolicyNumbers policy_numbers(const Policy& frozen) {
  PolicyNumbers numbers;
  if (frozen.timeout_policy) numbers.attempt_timeout_ms = frozen.timeout_policy->attempt_timeout_ms;
  numbers.retention_ttl_ms = *frozen.retention_ttl_ms;
  numbers.max_retries = *frozen.retry_policy->max_retries;
  numbers.max_reclaim_count = *frozen.max_reclaim_count;
  numbers.max_replay_count = *frozen.max_replay_count;
  numbers.lease_loss_policy = *frozen.lease_loss_policy;
  return numbers;
}

std::string stored_policy(const Policy& frozen) {
  json::object changed;
  for_each_field_pair(frozen, default_policy(), [&](std::string_view name, const auto& own, const auto& base) {
    if (own != base) changed.emplace(name, to_value(own));
  });
  return changed.empty() ? std::string() : json::serialize(changed);
}

Result<Policy> policy_from_stored(std::string_view text) {
  Policy policy = default_policy();
  if (text.empty()) return policy;
  auto value = parse_json(text);
  JsonReader reader;
  if (!value || !reader.read(*value, policy))
    return std::unexpected(corruption("ff_exec_info", "policy", value ? reader.problem().path : "not JSON"));
  return policy;
}

}  // namespace ff::core

namespace ff {

Result<Policy> parse_policy(std::string_view text) {
  using namespace core;
  if (text.empty()) return Policy{};
  auto value = parse_json(text);
  if (!value || !value->is_object()) return std::unexpected(bad_policy("malformed"));
  const json::object& object = value->get_object();
  if (auto path = unknown_member<Policy>(object, ""); !path.empty())
    return std::unexpected(bad_policy("unknown_member:" + path));
  if (auto error = capability_form(object)) return std::unexpected(std::move(*error));
  Policy policy;
  JsonReader reader;
  if (!reader.read(*value, policy)) {
    const JsonProblem& problem = reader.problem();
    const bool range = problem.fault == JsonFault::out_of_range || problem.fault == JsonFault::unknown_value;
    return std::unexpected(bad_policy(problem.path + (range ? ":out_of_range" : ":wrong_type")));
  }
  return check_policy(std::move(policy));
}

std::string to_json(const Policy& policy) { return core::to_json_text(policy); }

}  // namespace ff
