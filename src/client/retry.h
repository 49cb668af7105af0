#pragma once

// Whether a call that did not succeed is made again, and when. Every call is made so that a repeat does no harm: it
// carries an id, a key or a handle.

#include <flowfabric/error.h>

namespace ff::client {

struct RetryRules {
  std::uint32_t retry_ms = 30'000;
  std::uint32_t tries_max = 5;
};

/// How a call has fared so far.
struct Trouble {
  bool answered = false;       ///< by a server; else it was not reached, or went away
  std::uint32_t tries = 1;     ///< that were made
  std::int64_t lasts_ms = 0;   ///< since the first of them failed
};

inline constexpr std::int64_t kRetryDelayMs = 100;
inline constexpr std::int64_t kRetryDelayMsMax = 5'000;

/// Milliseconds until the next try; none when the caller gets the error. `draw` is a number in [0, 1).
std::optional<std::int64_t> next_try(const RetryRules& rules, const Error& error, const Trouble& trouble, double draw);

}  // namespace ff::client
