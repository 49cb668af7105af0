#include "core/retry.h"

#include "core/records/execution.h"

#include <algorithm>
#include <cmath>

namespace ff::core {
namespace {

bool may_retry(const RetryPolicy& policy, FailureClass failure_class, std::string_view category) {
  if (failure_class == FailureClass::permanent || failure_class == FailureClass::cancelled) return false;
  if (policy.retryable_categories && !policy.retryable_categories->empty())
    return std::find(policy.retryable_categories->begin(), policy.retryable_categories->end(), category) !=
           policy.retryable_categories->end();
  return failure_class == FailureClass::transient || failure_class == FailureClass::infra_crash;
}

}  // namespace

std::optional<std::uint64_t> retry_delay_ms(const RetryPolicy& policy, FailureClass failure_class,
                                            std::string_view category, std::uint32_t retry_count, double draw) {
  if (!may_retry(policy, failure_class, category)) return std::nullopt;
  if (retry_count >= policy.max_retries.value_or(kMaxRetriesDefault)) return std::nullopt;

  const Backoff backoff = policy.backoff.value_or(Backoff{});
  if (backoff.type == BackoffType::fixed) return backoff.delay_ms.value_or(0);
  const auto initial = static_cast<double>(backoff.initial_delay_ms.value_or(1'000));
  const auto cap = static_cast<double>(backoff.max_delay_ms.value_or(60'000));
  // The power may be infinite, and nothing times infinity is no number.
  if (initial == 0) return 0;
  const double grown = initial * std::pow(backoff.multiplier.value_or(2.0), static_cast<double>(retry_count));
  const double delay = std::floor(std::min(grown, cap));
  if (!backoff.jitter.value_or(true)) return static_cast<std::uint64_t>(delay);
  const double half = delay / 2;
  return static_cast<std::uint64_t>(std::min(delay, std::ceil(half) + std::floor(draw * (delay - std::ceil(half) + 1))));
}

}  // namespace ff::core
