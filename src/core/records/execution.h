#pragma once

#include "core/fields.h"
#include "core/records/queue.h"

#include <flowfabric/execution.h>

#include <memory>
#include <optional>

namespace ff::core {

inline constexpr std::uint64_t kRetentionDefaultMs = 86'400'000;
inline constexpr std::uint32_t kMaxRetriesDefault = 3;
inline constexpr std::uint32_t kMaxReclaimCountDefault = 20;
inline constexpr std::uint32_t kMaxReplayCountDefault = 10;

/// The lease of an execution, present while it is leased and, for audit, while a lost or revoked one waits for a
/// worker to take over.
struct LeaseFields {
  Uuid current_lease_id;
  std::string current_worker_id;
  std::string current_worker_instance_id;
  std::uint32_t lease_ttl_ms = 0;
  TimeMs lease_acquired_at_ms = 0;
  TimeMs lease_expires_at_ms = 0;
  TimeMs lease_last_renewed_at_ms = 0;
  TimeMs lease_renewal_deadline_ms = 0;
  std::optional<std::string> claim_key;

  bool operator==(const LeaseFields&) const = default;
};

/// The numbers of the policy that claim, lease loss, timeouts and the end need, kept beside the state so that those
/// operations read nothing more.
struct PolicyNumbers {
  std::optional<std::uint64_t> attempt_timeout_ms;
  std::uint64_t retention_ttl_ms = kRetentionDefaultMs;
  std::uint32_t max_retries = kMaxRetriesDefault;
  std::uint32_t max_reclaim_count = kMaxReclaimCountDefault;
  std::uint32_t max_replay_count = kMaxReplayCountDefault;
  LeaseLossPolicy lease_loss_policy = LeaseLossPolicy::reclaim;

  bool operator==(const PolicyNumbers&) const = default;
};

/// What the next new attempt will say about where it comes from.
struct Pending {
  std::optional<std::string> pending_retry_reason;
  std::optional<std::string> pending_replay_reason;
  std::optional<std::string> pending_replay_requested_by;
  std::optional<std::uint32_t> pending_previous_attempt_index;

  bool operator==(const Pending&) const = default;
};

/// An execution: the root of everything that is stored of it. Whoever changes a part of it (attempt, payload, result,
/// tags) saves the root too, so that its version and its lock cover them all.
struct ExecutionRecord {
  ExecutionId id;
  QueueRef queue;
  std::int32_t priority = 0;
  StateVector state;
  Counters counters;
  Times times;
  Timers timers;
  Hold hold;
  Progress progress;
  Ending ending;
  Pending pending;
  PolicyNumbers limits;
  std::optional<Uuid> current_attempt_id;
  std::optional<LeaseFields> lease;
  /// The newest attempt; older ones are records of their own.
  std::optional<Attempt> attempt;
  /// Null when there are none.
  std::shared_ptr<const Tags> tags;
  std::uint64_t version = 0;

  const std::string& lane_id() const { return queue->lane_id; }
  const std::string& namespace_() const { return queue->namespace_; }
  bool is_terminal() const { return state.lifecycle_phase == LifecyclePhase::terminal; }
  bool is_leased() const { return state.ownership_state == OwnershipState::leased; }
  /// Leased, and the lease has not run out.
  bool is_live(TimeMs now) const { return is_leased() && lease && now < lease->lease_expires_at_ms; }
};

/// Equal in everything that is stored; queues and tags by value.
bool same_record(const ExecutionRecord& a, const ExecutionRecord& b);

/// What is written once, at creation.
struct ExecutionInfo {
  std::shared_ptr<const Policy> policy;  ///< with all defaults written out; never null
  std::optional<std::string> creator_identity;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> traceparent;
  std::string payload_content_type = "application/json";
  std::optional<std::uint64_t> payload_bytes;
};
bool same_info(const ExecutionInfo& a, const ExecutionInfo& b);

/// Bytes that travel from caller to store and back without being copied.
using SharedBytes = std::shared_ptr<const Bytes>;

/// The payload of an execution that has one.
struct PayloadPart {
  SharedBytes payload;
};

/// The result of a completed execution that has one.
struct ResultPart {
  SharedBytes result;
  std::string result_content_type;
};

BOOST_DESCRIBE_STRUCT(LeaseFields, (),
                      (current_lease_id, current_worker_id, current_worker_instance_id, lease_ttl_ms,
                       lease_acquired_at_ms, lease_expires_at_ms, lease_last_renewed_at_ms, lease_renewal_deadline_ms,
                       claim_key))
BOOST_DESCRIBE_STRUCT(PolicyNumbers, (),
                      (attempt_timeout_ms, retention_ttl_ms, max_retries, max_reclaim_count, max_replay_count,
                       lease_loss_policy))
BOOST_DESCRIBE_STRUCT(Pending, (),
                      (pending_retry_reason, pending_replay_reason, pending_replay_requested_by,
                       pending_previous_attempt_index))

template <>
inline constexpr bool is_group<PolicyNumbers> = true;
template <>
inline constexpr bool is_group<Pending> = true;

}  // namespace ff::core
