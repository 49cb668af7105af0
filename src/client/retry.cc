#include "client/retry.h"

#include <algorithm>

namespace ff::client {
namespace {

/// A server that is away, or about to be: it is waited for as long as it may take to come back.
bool is_away(const Error& error, const Trouble& trouble) { return !trouble.answered || error.code == ErrorCode::draining; }

/// It cannot now, but may be able to soon.
bool is_busy(ErrorCode code) {
  return code == ErrorCode::resource_exhausted || code == ErrorCode::rate_limit_exceeded ||
         code == ErrorCode::store_unavailable || code == ErrorCode::hmac_secret_not_initialized;
}

}  // namespace

std::optional<std::int64_t> next_try(const RetryRules& rules, const Error& error, const Trouble& trouble, double draw) {
  if (!error.retryable()) return std::nullopt;
  if (!is_away(error, trouble) && (!is_busy(error.code) || trouble.tries >= rules.tries_max)) return std::nullopt;
  const std::uint32_t doublings = std::min<std::uint32_t>(trouble.tries - 1, 10);
  const std::int64_t full = std::min(kRetryDelayMs << doublings, kRetryDelayMsMax);
  // Half of it is chance, so that many clients do not come back at the same moment.
  std::int64_t delay = full / 2 + static_cast<std::int64_t>(draw * static_cast<double>(full - full / 2));
  delay = std::max(delay, error.context.number("retry_after_ms").value_or(0));
  if (trouble.lasts_ms + delay > rules.retry_ms) return std::nullopt;
  return delay;
}

}  // namespace ff::client
