#pragma once

#include <flowfabric/error.h>
#include <flowfabric/ids.h>
#include <flowfabric/states.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ff {

/// How long a failed attempt waits before the next one. Unset members take the defaults named in docs/policies.md.
struct Backoff {
  std::optional<BackoffType> type;
  std::optional<std::uint64_t> delay_ms;          ///< fixed
  std::optional<std::uint64_t> initial_delay_ms;  ///< exponential
  std::optional<std::uint64_t> max_delay_ms;      ///< exponential
  std::optional<double> multiplier;               ///< exponential
  std::optional<bool> jitter;                     ///< exponential

  bool operator==(const Backoff&) const = default;
};

/// Whether and how often a failed attempt is tried again. Nothing set: three retries, exponential, with jitter.
struct RetryPolicy {
  std::optional<std::uint32_t> max_retries;
  std::optional<Backoff> backoff;
  /// Not empty: only failures of these categories are retried.
  std::optional<std::vector<std::string>> retryable_categories;

  bool operator==(const RetryPolicy&) const = default;
};

struct TimeoutPolicy {
  std::optional<std::uint64_t> attempt_timeout_ms;
  std::optional<std::uint64_t> execution_deadline_ms;

  bool operator==(const TimeoutPolicy&) const = default;
};

struct SuspensionPolicy {
  std::optional<std::uint64_t> default_timeout_ms;
  std::optional<SuspensionTimeoutBehavior> timeout_behavior;

  bool operator==(const SuspensionPolicy&) const = default;
};

struct RoutingRequirements {
  /// Tokens that a worker must have, all of them, to be given this execution.
  std::optional<std::vector<std::string>> required_capabilities;
  std::optional<std::string> preferred_locality;  ///< kept and returned, not matched
  std::optional<std::string> isolation_level;     ///< kept and returned, not matched

  bool operator==(const RoutingRequirements&) const = default;
};

struct StreamPolicy {
  std::optional<std::uint64_t> retention_maxlen;
  std::optional<std::uint64_t> retention_ttl_ms;

  bool operator==(const StreamPolicy&) const = default;
};

/// What an execution may do and for how long, fixed when it is created. Unset members take their defaults then.
struct Policy {
  std::optional<std::int32_t> priority;
  std::optional<TimeMs> delay_until;
  std::optional<RetryPolicy> retry_policy;
  std::optional<TimeoutPolicy> timeout_policy;
  std::optional<LeaseLossPolicy> lease_loss_policy;
  std::optional<std::uint32_t> max_reclaim_count;
  std::optional<std::uint32_t> max_replay_count;
  std::optional<SuspensionPolicy> suspension_policy;
  std::optional<std::vector<Uuid>> budget_ids;
  std::optional<Uuid> quota_id;
  std::optional<std::string> concurrency_key;
  std::optional<std::uint32_t> max_concurrent;
  std::optional<RoutingRequirements> routing_requirements;
  std::optional<std::uint64_t> dedup_window_ms;
  std::optional<StreamPolicy> stream_policy;
  std::optional<std::uint64_t> retention_ttl_ms;
  std::optional<std::uint32_t> max_signals_per_execution;

  bool operator==(const Policy&) const = default;
};

/// Reads a policy from JSON. Anything that is not exactly a policy is refused with its place:
/// `invalid_policy_json` (`malformed`, `unknown_member:<path>`, `<path>:wrong_type`, `<path>:out_of_range`,
/// `routing_requirements:not_object`) or `invalid_capabilities`. An empty text is the empty policy.
Result<Policy> parse_policy(std::string_view json);

/// The policy as JSON; unset members are left out.
std::string to_json(const Policy& policy);

}  // namespace ff
