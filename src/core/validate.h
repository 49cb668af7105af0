#pragma once

// Checks of arguments that need no record. They come before anything is read or written.

#include "core/errors.h"
#include "core/ids.h"
#include "core/settings.h"

#include <flowfabric/calls.h>

#include <optional>

namespace ff::core {

inline constexpr std::size_t kLaneBytesMax = 64;
inline constexpr std::size_t kNameBytesMax = 256;  ///< namespaces, workers, kinds, reasons, labels
inline constexpr std::size_t kIdempotencyKeyBytesMax = 512;
inline constexpr std::size_t kTagKeyBytesMax = 128;
inline constexpr std::size_t kTagValueBytesMax = 4096;
inline constexpr std::size_t kMessageBytesMax = 4096;  ///< failure and progress messages are cut to this
inline constexpr std::uint32_t kClaimMax = 1000;
inline constexpr std::size_t kClaimLanesMax = 64;
inline constexpr std::size_t kClaimKindsMax = 256;
inline constexpr std::uint32_t kWaitMsMax = 60'000;
inline constexpr std::uint32_t kLeaseTtlMsMin = 1'000;
inline constexpr std::uint32_t kLeaseTtlMsMax = 86'400'000;
inline constexpr std::uint64_t kLivenessTtlMsMin = 1'000;
inline constexpr std::uint64_t kLivenessTtlMsMax = 86'400'000;
inline constexpr std::uint32_t kPageMax = 500;
inline constexpr std::uint32_t kLeasePageMax = 10'000;  ///< lists of leases, in process
inline constexpr std::size_t kBatchMax = 1000;

/// The fault, or none.
using Fault = std::optional<Error>;

Fault check_lane(std::string_view lane_id);
/// Namespaces, worker ids and worker instance ids.
Fault check_name(std::string_view field, std::string_view value);
/// Execution kinds and the like: 1..256 bytes, no control bytes.
Fault check_kind(std::string_view field, std::string_view value);
/// Reasons, content types and other labels: at most 256 bytes.
Fault check_label(std::string_view field, const std::optional<std::string>& value);
Fault check_key(std::string_view key);
Fault check_tag_key(std::string_view key);
Fault check_tags(const Tags& tags);
Fault check_partition(const ExecutionId& id, const Partitioning& partitioning);
Fault check_payload(std::string_view field, const std::optional<Bytes>& bytes, std::uint64_t bytes_max);
Fault check_limit(std::uint32_t limit, std::uint32_t limit_max = kPageMax);
Fault check_wait(std::uint32_t wait_ms);
Fault check_ttl(std::uint32_t lease_ttl_ms);
Fault check_liveness_ttl(std::uint64_t liveness_ttl_ms);

/// A W3C traceparent; anything else counts as not given.
bool is_traceparent(std::string_view text);

Fault check_lane_settings(const ConfigureLane& request);

}  // namespace ff::core
