#pragma once

#include <flowfabric/execution.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// What callers send and get. Member names are those of the HTTP API.

// ---- submitting ---------------------------------------------------------------------------------------------------

/// A piece of work to be done. Only `execution_kind` is required.
///
/// A caller that must survive a lost reply gives an `execution_id` of its own or an `idempotency_key`, not both:
/// the repeat is then answered with the first execution.
struct Submission {
  std::string execution_kind;
  std::string lane_id = "default";
  std::optional<std::string> namespace_;
  std::optional<Bytes> payload;
  std::optional<std::string> content_type;  ///< of the payload; `application/json` when unset
  std::optional<std::int32_t> priority;     ///< clamped to 0..9000; higher is earlier
  std::optional<ExecutionId> execution_id;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> creator_identity;
  Tags tags;
  std::optional<Policy> policy;
  std::optional<TimeMs> delay_until_ms;
  std::optional<std::uint64_t> delay_ms;
  std::optional<TimeMs> execution_deadline_at_ms;
  std::optional<std::string> traceparent;
};

struct Submitted {
  ExecutionId execution_id;
  PublicState public_state = PublicState::waiting;
  bool duplicate = false;  ///< it existed already; nothing was written

  bool operator==(const Submitted&) const = default;
};

// ---- reading ------------------------------------------------------------------------------------------------------

/// A payload or result with its label.
struct Blob {
  Bytes bytes;
  std::string content_type;

  bool operator==(const Blob&) const = default;
};

struct GetExecution {
  ExecutionId execution_id;
  std::uint32_t wait_ms = 0;  ///< how long to wait for it to end, 0..60,000
};

struct GetPayload {
  ExecutionId execution_id;
};

struct GetResult {
  ExecutionId execution_id;
};

/// Filters are ANDed; empty ones do not count.
struct ExecutionFilter {
  std::optional<std::string> namespace_;
  std::optional<std::string> lane;
  std::optional<std::string> kind;
  std::vector<PublicState> state;
  std::optional<Uuid> flow_id;
  Tags tags;
  std::optional<std::string> worker;  ///< a worker instance that holds the lease
  std::optional<TimeMs> created_after_ms;
  std::optional<TimeMs> created_before_ms;
  std::optional<BlockingReason> blocking_reason;
};

enum class ListOrder : std::uint8_t {
  newest_first,
  oldest_first,
  priority,  ///< highest first; among equals oldest first, as workers get them
};

struct ListExecutions {
  ExecutionFilter filter;
  std::string cursor;  ///< of a list in the same order
  std::uint32_t limit = 50;  ///< 0..500
  ListOrder order = ListOrder::newest_first;
};

/// Some items, and where to go on when more follow.
template <class T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next_cursor;
};

struct ListAttempts {
  ExecutionId execution_id;
  std::optional<std::uint32_t> after_index;
  std::uint32_t limit = 50;
};

struct ReadHistory {
  ExecutionId execution_id;
  std::string cursor;
  std::uint32_t limit = 50;
  std::uint32_t wait_ms = 0;  ///< how long to wait for an event when there is none, 0..60,000
};

/// What operators did, newest first. Parts that are set must all hold.
struct ListAudit {
  std::optional<std::string> actor;
  std::optional<std::string> event_type;
  std::optional<ExecutionId> execution_id;
  std::optional<TimeMs> since_ms;
  std::string cursor;
  std::uint32_t limit = 50;
};

struct LaneStatus {
  Lane lane;
  LaneCounts depth;
  std::optional<TimeMs> oldest_waiting_ms;  ///< age of the oldest execution that waits for a worker
  double claims_per_s = 0;                  ///< of this process, over the last minute
  double completions_per_s = 0;
  std::uint32_t workers = 0;  ///< that are alive and serve it
};

struct GetLaneCounts {
  std::string lane_id;
};

struct ListLanes {
  std::string cursor;
  std::uint32_t limit = 50;
};

/// Leases that are held, soonest expiry first; with `expired_before_ms` only those that ran out by then.
struct ListLeases {
  std::optional<TimeMs> expired_before_ms;
  std::optional<std::string> worker;  ///< a worker instance
  std::optional<std::string> namespace_;
  std::string cursor;
  std::uint32_t limit = 50;
};

struct LeaseItem {
  ExecutionId execution_id;
  Uuid lease_id;
  std::uint64_t lease_epoch = 0;
  std::string worker_instance_id;
  TimeMs expires_at_ms = 0;
  std::uint32_t attempt_index = 0;
  std::string namespace_;
  std::string lane_id;

  bool operator==(const LeaseItem&) const = default;
};

// ---- acting on executions as an operator ---------------------------------------------------------------------------

struct CancelExecution {
  ExecutionId execution_id;
  std::string reason = "operator";
};

struct ReplayExecution {
  ExecutionId execution_id;
  std::optional<std::string> reason;
  std::optional<std::string> requested_by;
};

struct ChangePriority {
  ExecutionId execution_id;
  std::int32_t priority = 0;
};

struct PriorityChanged {
  std::int32_t old_priority = 0;
  std::int32_t new_priority = 0;

  bool operator==(const PriorityChanged&) const = default;
};

struct RevokeLease {
  ExecutionId execution_id;
  std::optional<std::string> worker_instance_id;
  std::optional<Uuid> expected_lease_id;
  std::optional<std::string> reason;
};

/// Either the lease that was taken away, or the word for why there was none to take.
struct Revoked {
  std::optional<Uuid> lease_id;
  std::uint64_t lease_epoch = 0;
  std::string already_satisfied;

  bool operator==(const Revoked&) const = default;
};

struct OperatorComplete {
  ExecutionId execution_id;
  std::optional<Bytes> result;
  std::optional<std::string> content_type;
  std::optional<std::string> reason;
};

struct OperatorFail {
  ExecutionId execution_id;
  std::string message;
  std::optional<std::string> category;  ///< `operator` when unset
  std::optional<std::string> reason;
};

/// A tag whose value is unset is removed.
struct SetTags {
  ExecutionId execution_id;
  std::map<std::string, std::optional<std::string>> tags;
};

/// Removes an execution that has ended, with everything but its events.
struct RemoveExecution {
  ExecutionId execution_id;
};

/// The state after a call that changed an execution, or found that nothing had to change.
struct Changed {
  ExecutionId execution_id;
  PublicState public_state = PublicState::waiting;
  bool unchanged = false;

  bool operator==(const Changed&) const = default;
};

struct ConfigureLane {
  std::string lane_id;
  std::optional<LaneState> lane_state;
  std::optional<LaneFairness> fairness;
  std::optional<std::map<std::string, std::uint32_t>> namespace_weights;
  std::optional<std::string> reason;
};

// ---- working ------------------------------------------------------------------------------------------------------

/// Asks for work. Waits up to `wait_ms` when there is none.
struct ClaimRequest {
  std::string worker_id;
  std::string worker_instance_id;
  std::optional<std::string> namespace_;
  std::vector<std::string> lanes;
  std::vector<std::string> capabilities;
  std::vector<std::string> kinds;  ///< empty: all
  std::uint32_t max = 1;
  std::uint32_t wait_ms = 0;
  std::optional<std::uint32_t> lease_ttl_ms;
  std::optional<ExecutionId> execution_id;     ///< this one or nothing
  std::optional<std::string> idempotency_key;  ///< a repeat while the leases live gets the same tasks
};

/// What a worker is told of the execution it was given.
struct TaskExecution {
  ExecutionId execution_id;
  std::string namespace_;
  std::string lane_id;
  std::string execution_kind;
  std::int32_t priority = 0;
  Tags tags;
  std::optional<std::string> traceparent;

  bool operator==(const TaskExecution&) const = default;
};

/// One leased execution. `handle` is opaque; every later call about the task presents it.
struct ClaimedTask {
  std::string handle;
  HandleKind kind = HandleKind::fresh;
  TaskExecution execution;
  AttemptRef attempt;
  std::optional<Bytes> payload;
  std::string payload_content_type;
  TimeMs lease_expires_at_ms = 0;
  std::uint64_t lease_epoch = 0;
};

struct RenewLease {
  std::string handle;
  std::optional<std::uint32_t> lease_ttl_ms;
};

struct LeaseRenewed {
  TimeMs lease_expires_at_ms = 0;
  std::uint64_t lease_epoch = 0;

  bool operator==(const LeaseRenewed&) const = default;
};

struct ReportProgress {
  std::string handle;
  std::optional<std::uint32_t> progress_pct;
  std::optional<std::string> progress_message;
};

struct CompleteTask {
  std::string handle;
  std::optional<Bytes> result;
  std::optional<std::string> content_type;
};

struct FailTask {
  std::string handle;
  std::string message;
  FailureClass failure_class = FailureClass::transient;
  std::optional<std::string> category;
};

enum class FailStatus : std::uint8_t { retry_scheduled, failed, cancelled };

struct TaskFailed {
  FailStatus status = FailStatus::failed;
  std::optional<TimeMs> delay_until_ms;
  std::optional<std::uint32_t> next_attempt_index;

  bool operator==(const TaskFailed&) const = default;
};

/// Gives the task back; the same attempt goes on at `delay_until_ms` or after `delay_ms`.
struct DelayTask {
  std::string handle;
  std::optional<TimeMs> delay_until_ms;
  std::optional<std::uint64_t> delay_ms;
};

struct TaskDelayed {
  PublicState public_state = PublicState::delayed;
  std::optional<TimeMs> delay_until_ms;

  bool operator==(const TaskDelayed&) const = default;
};

struct WaitChildren {
  std::string handle;
  std::vector<std::string> children;
};

struct CancelTask {
  std::string handle;
  std::string reason;
};

// ---- who works -----------------------------------------------------------------------------------------------------

/// Makes a worker known: where it works and what it can do. It counts as alive for `liveness_ttl_ms` after its last sign.
struct RegisterWorker {
  std::string worker_id;           ///< the pool it belongs to
  std::string worker_instance_id;  ///< this process
  std::optional<std::string> namespace_;  ///< unset: it works for all
  std::vector<std::string> lanes;
  std::vector<std::string> capabilities;
  std::vector<std::string> kinds;  ///< empty: all
  std::uint64_t liveness_ttl_ms = 60'000;
  std::optional<Uuid> boot_id;  ///< of this start of the process
  std::optional<std::uint32_t> max_concurrent_tasks;
  std::optional<std::string> client_version;
};

enum class RegisterStatus : std::uint8_t { registered, refreshed };

struct WorkerRegistered {
  RegisterStatus status = RegisterStatus::registered;
  TimeMs next_expiry_at_ms = 0;
  std::uint64_t heartbeat_after_ms = 0;

  bool operator==(const WorkerRegistered&) const = default;
};

/// A sign of life. `worker_not_found`: it is not known, or has been silent for too long; register again.
struct HeartbeatWorker {
  std::string worker_instance_id;
  std::optional<std::string> namespace_;
};

struct WorkerAlive {
  TimeMs next_expiry_at_ms = 0;

  bool operator==(const WorkerAlive&) const = default;
};

/// Strikes a worker off the list. Its leases run out by themselves; with `revoke_leases` each is taken away.
struct MarkWorkerDead {
  std::string worker_instance_id;
  std::optional<std::string> namespace_;
  std::string reason;
  bool revoke_leases = false;
};

struct WorkerMarkedDead {
  std::uint32_t leases_revoked = 0;

  bool operator==(const WorkerMarkedDead&) const = default;
};

/// A worker that ends in order takes itself off the list. One that is not on it is off it already.
struct DeregisterWorker {
  std::string worker_instance_id;
  std::optional<std::string> namespace_;
};

/// Workers that are alive, by namespace and instance.
struct ListWorkers {
  std::optional<std::string> namespace_;
  std::optional<std::string> lane;
  std::string cursor;
  std::uint32_t limit = 50;
};

struct WorkerInfo {
  std::string worker_id;
  std::string worker_instance_id;
  std::optional<std::string> namespace_;
  std::vector<std::string> lanes;
  std::vector<std::string> capabilities;
  std::vector<std::string> kinds;
  std::optional<std::uint32_t> max_concurrent_tasks;
  std::optional<std::string> client_version;
  std::optional<Uuid> boot_id;
  std::uint64_t liveness_ttl_ms = 0;
  TimeMs registered_at_ms = 0;
  TimeMs last_heartbeat_at_ms = 0;
  std::uint64_t leases_held = 0;

  bool operator==(const WorkerInfo&) const = default;
};

/// Nothing to say but that it was done.
struct Done {
  bool operator==(const Done&) const = default;
};

struct GetInfo {};

// ---- the engine itself --------------------------------------------------------------------------------------------

enum class Durability : std::uint8_t {
  full,     ///< an acknowledged call survives power loss
  relaxed,  ///< a crash of the store may lose the last moments
  none,     ///< nothing survives the process
};

struct SweepInfo {
  std::string sweep;
  std::uint64_t interval_ms = 0;
  bool enabled = true;
  std::optional<TimeMs> last_run_at_ms;
  std::uint64_t runs = 0;
  std::uint64_t processed = 0;
  std::uint64_t errors = 0;
  std::uint64_t skipped_locked = 0;
  std::uint64_t filtered = 0;
  std::uint64_t restarts = 0;
  std::uint64_t backoff_items = 0;
  std::vector<std::string> backoff;  ///< `<key>: <last error>`, at most 20
  std::uint64_t lag_ms = 0;          ///< age of the oldest row that was due when the last run looked
};

struct FabricInfo {
  std::string version;
  std::string store;          ///< `sqlite`, `postgres`, `valkey`, `memory`
  std::string store_version;
  Durability durability = Durability::none;
  std::string durability_detail;
  Uuid data_set_id;
  std::uint32_t flow_partitions = 0;
  std::uint32_t lane_spread = 0;
  std::uint64_t payload_bytes_max = 0;
  std::vector<SweepInfo> sweeps;
  TimeMs server_time_ms = 0;
};

}  // namespace ff
