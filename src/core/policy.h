#pragma once

#include "core/settings.h"

#include <flowfabric/policy.h>

namespace ff::core {

inline constexpr std::uint64_t kTimeoutMsMax = 30ULL * 86'400'000;     ///< attempt timeout, execution deadline
inline constexpr std::uint64_t kBackoffDelayMsMax = 7ULL * 86'400'000;
inline constexpr std::size_t kBudgetIdsMax = 16;
inline constexpr std::size_t kRetryCategoriesMax = 256;
inline constexpr std::uint32_t kMaxConcurrentMax = 1'000'000;
inline constexpr std::uint64_t kDedupWindowDefaultMs = 86'400'000;

/// Every bound of a policy: `invalid_policy_json` `<path>:out_of_range`, `max_concurrent:without_key`,
/// `invalid_capabilities`. Normalises the required capabilities.
Result<Policy> check_policy(Policy policy);

/// The policy with all defaults written out, so that readers apply none.
Policy freeze_policy(const Policy& policy, const RuleSettings& settings);

/// What freezing the empty policy gives with the built-in settings: the base that stored policies are compared with.
const Policy& default_policy();

/// The numbers that stand beside the state.
PolicyNumbers policy_numbers(const Policy& frozen);

/// The members of a frozen policy that differ from `default_policy`, as JSON; empty when none does.
std::string stored_policy(const Policy& frozen);
/// The inverse. Text that is no policy is `corruption`.
Result<Policy> policy_from_stored(std::string_view text);

}  // namespace ff::core
