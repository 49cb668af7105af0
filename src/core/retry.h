#pragma once

#include <flowfabric/policy.h>

#include <optional>
#include <string_view>

namespace ff::core {

/// How long to wait before the next attempt, or none when the failure is final.
///
/// `retry_count` counts the retries so far; `draw` is a number in [0, 1) for the jitter, drawn before.
std::optional<std::uint64_t> retry_delay_ms(const RetryPolicy& policy, FailureClass failure_class,
                                            std::string_view category, std::uint32_t retry_count, double draw);

}  // namespace ff::core
