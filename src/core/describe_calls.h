#pragma once

// The descriptions of what callers send: request bodies and query parameters are read, and documented, by these lists.
//
// Payloads and results are left out: they are bytes, which JSON texts cannot hold; who reads a request adds them.

#include "core/json.h"

namespace ff {

BOOST_DESCRIBE_STRUCT(Submission, (),
                      (execution_kind, lane_id, namespace_, content_type, priority, execution_id, idempotency_key,
                       creator_identity, tags, policy, delay_until_ms, delay_ms, execution_deadline_at_ms, traceparent))
BOOST_DESCRIBE_STRUCT(GetExecution, (), (execution_id, wait_ms))
BOOST_DESCRIBE_STRUCT(GetPayload, (), (execution_id))
BOOST_DESCRIBE_STRUCT(GetResult, (), (execution_id))
BOOST_DESCRIBE_STRUCT(ExecutionFilter, (),
                      (namespace_, lane, kind, state, flow_id, tags, worker, created_after_ms, created_before_ms,
                       blocking_reason))
BOOST_DESCRIBE_STRUCT(ReadHistory, (), (execution_id, cursor, limit, wait_ms))
BOOST_DESCRIBE_STRUCT(ListAudit, (), (actor, event_type, execution_id, since_ms, cursor, limit))
BOOST_DESCRIBE_STRUCT(ListLanes, (), (cursor, limit))
BOOST_DESCRIBE_STRUCT(ListLeases, (), (expired_before_ms, worker, namespace_, cursor, limit))
BOOST_DESCRIBE_STRUCT(CancelExecution, (), (execution_id, reason))
BOOST_DESCRIBE_STRUCT(ReplayExecution, (), (execution_id, reason))
BOOST_DESCRIBE_STRUCT(ChangePriority, (), (execution_id, priority))
BOOST_DESCRIBE_STRUCT(RevokeLease, (), (execution_id, worker_instance_id, expected_lease_id, reason))
BOOST_DESCRIBE_STRUCT(OperatorComplete, (), (execution_id, content_type, reason))
BOOST_DESCRIBE_STRUCT(OperatorFail, (), (execution_id, message, category, reason))
BOOST_DESCRIBE_STRUCT(SetTags, (), (execution_id, tags))
BOOST_DESCRIBE_STRUCT(RemoveExecution, (), (execution_id))
BOOST_DESCRIBE_STRUCT(ConfigureLane, (), (lane_id, lane_state, fairness, namespace_weights, reason))

BOOST_DESCRIBE_STRUCT(ClaimRequest, (),
                      (worker_id, worker_instance_id, namespace_, lanes, capabilities, kinds, max, wait_ms,
                       lease_ttl_ms, execution_id, idempotency_key))
BOOST_DESCRIBE_STRUCT(ClaimedTask, (),
                      (handle, kind, execution, attempt, payload_content_type, lease_expires_at_ms, lease_epoch))
BOOST_DESCRIBE_STRUCT(RenewLease, (), (handle, lease_ttl_ms))
BOOST_DESCRIBE_STRUCT(ReportProgress, (), (handle, progress_pct, progress_message))
BOOST_DESCRIBE_STRUCT(CompleteTask, (), (handle, content_type))
BOOST_DESCRIBE_STRUCT(DelayTask, (), (handle, delay_until_ms, delay_ms))
BOOST_DESCRIBE_STRUCT(WaitChildren, (), (handle, children))
BOOST_DESCRIBE_STRUCT(CancelTask, (), (handle, reason))
BOOST_DESCRIBE_STRUCT(RegisterWorker, (),
                      (worker_id, worker_instance_id, namespace_, lanes, capabilities, kinds, liveness_ttl_ms, boot_id,
                       max_concurrent_tasks, client_version))
BOOST_DESCRIBE_STRUCT(HeartbeatWorker, (), (worker_instance_id, namespace_))
BOOST_DESCRIBE_STRUCT(MarkWorkerDead, (), (worker_instance_id, namespace_, reason, revoke_leases))
BOOST_DESCRIBE_STRUCT(DeregisterWorker, (), (worker_instance_id, namespace_))
BOOST_DESCRIBE_STRUCT(ListWorkers, (), (namespace_, lane, cursor, limit))

}  // namespace ff

namespace ff::core {

template <>
inline constexpr bool is_group<ExecutionFilter> = true;

template <>
inline constexpr std::array<std::string_view, 1> required_members<Submission>{"execution_kind"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<CancelExecution>{"execution_id"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<ReplayExecution>{"execution_id"};
template <>
inline constexpr std::array<std::string_view, 2> required_members<ChangePriority>{"execution_id", "priority"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<RevokeLease>{"execution_id"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<OperatorComplete>{"execution_id"};
template <>
inline constexpr std::array<std::string_view, 2> required_members<OperatorFail>{"execution_id", "message"};
template <>
inline constexpr std::array<std::string_view, 2> required_members<SetTags>{"execution_id", "tags"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<RemoveExecution>{"execution_id"};
template <>
inline constexpr std::array<std::string_view, 2> required_members<ClaimRequest>{"worker_id", "worker_instance_id"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<RenewLease>{"handle"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<ReportProgress>{"handle"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<CompleteTask>{"handle"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<DelayTask>{"handle"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<WaitChildren>{"handle"};
template <>
inline constexpr std::array<std::string_view, 2> required_members<CancelTask>{"handle", "reason"};
template <>
inline constexpr std::array<std::string_view, 3> required_members<RegisterWorker>{"worker_id", "worker_instance_id",
                                                                                  "lanes"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<HeartbeatWorker>{"worker_instance_id"};
template <>
inline constexpr std::array<std::string_view, 2> required_members<MarkWorkerDead>{"worker_instance_id", "reason"};
template <>
inline constexpr std::array<std::string_view, 1> required_members<DeregisterWorker>{"worker_instance_id"};

}  // namespace ff::core
