#pragma once

#include "core/records/execution.h"

#include <string>

namespace ff::core {

/// The settings of an engine that rules and checks depend on.
struct RuleSettings {
  std::string namespace_ = "default";  ///< used when a caller gives none
  std::uint32_t lease_ttl_ms = 30'000;
  LeaseLossPolicy lease_loss_policy = LeaseLossPolicy::reclaim;
  std::uint32_t max_reclaim_count = kMaxReclaimCountDefault;
  std::uint32_t default_max_retries = kMaxRetriesDefault;
  std::uint64_t retention_ms = kRetentionDefaultMs;
  std::uint64_t payload_bytes_max = 1024 * 1024;
  bool renewal_events = false;
};

}  // namespace ff::core
