#pragma once

// The descriptions of the public types: JSON, SQL columns, packed records, `ff get` and the OpenAPI schema are all
// made from these lists.

#include <flowfabric/calls.h>
#include <flowfabric/execution.h>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>

namespace ff {

BOOST_DESCRIBE_ENUM(LifecyclePhase, runnable, active, suspended, terminal)
BOOST_DESCRIBE_ENUM(OwnershipState, unowned, leased, lease_expired_reclaimable, lease_revoked)
BOOST_DESCRIBE_ENUM(EligibilityState, eligible_now, not_eligible_until_time, blocked_by_dependencies,
                    blocked_by_budget, blocked_by_quota, blocked_by_route, not_applicable)
BOOST_DESCRIBE_ENUM(BlockingReason, none, waiting_for_worker, waiting_for_retry_backoff, waiting_for_resume_delay,
                    waiting_for_delay, waiting_for_signal, waiting_for_approval, waiting_for_callback,
                    waiting_for_tool_result, waiting_for_children, waiting_for_budget, waiting_for_quota,
                    waiting_for_capable_worker, paused_by_operator, paused_by_policy)
BOOST_DESCRIBE_ENUM(TerminalOutcome, none, success, failed, cancelled, expired, skipped)
BOOST_DESCRIBE_ENUM(AttemptState, none, pending_first_attempt, running_attempt, attempt_interrupted,
                    pending_retry_attempt, pending_replay_attempt, attempt_terminal)
BOOST_DESCRIBE_ENUM(PublicState, waiting, delayed, rate_limited, waiting_children, active, suspended, resumable,
                    completed, failed, cancelled, expired, skipped)
BOOST_DESCRIBE_ENUM(InterruptKind, none, suspension, worker_delay, waiting_children, lease_lost)
BOOST_DESCRIBE_ENUM(AttemptRecordState, started, suspended, ended_success, ended_failure, ended_cancelled,
                    interrupted_reclaimed)
BOOST_DESCRIBE_ENUM(AttemptType, initial, retry, reclaim, replay)
BOOST_DESCRIBE_ENUM(AttemptOutcome, success, retry, failed, interrupted, lease_expired_reclaimable,
                    interrupted_reclaimed, cancelled, expired)
BOOST_DESCRIBE_ENUM(FailureClass, transient, permanent, infra_crash, timeout, cancelled)
BOOST_DESCRIBE_ENUM(ReleaseOp, complete, fail_retry, fail_terminal, cancel, delay, wait_children, suspend, expire,
                    lease_lost, revoke, reclaim, operator_, engine)
BOOST_DESCRIBE_ENUM(HandleKind, fresh, resumed, reclaimed)
BOOST_DESCRIBE_ENUM(CancelSource, operator_override, lease_holder, cancel_flow, engine, system_timeout)
BOOST_DESCRIBE_ENUM(CancelOwed, none, now, on_release)
BOOST_DESCRIBE_ENUM(LaneState, active, paused, draining, disabled)
BOOST_DESCRIBE_ENUM(LaneFairness, fair, strict)
BOOST_DESCRIBE_ENUM(LeaseLossPolicy, reclaim, retry)
BOOST_DESCRIBE_ENUM(BackoffType, exponential, fixed)
BOOST_DESCRIBE_ENUM(SuspensionTimeoutBehavior, fail, cancel, expire, auto_resume_with_timeout_signal, escalate)
BOOST_DESCRIBE_ENUM(EventKind, completion, lease, signal, operator_)
BOOST_DESCRIBE_ENUM(LeaseEventType, acquired, reclaimed, renewed, expired, revoked, released)
BOOST_DESCRIBE_ENUM(Bucket, eligible, delayed, blocked_dependencies, blocked_budget, blocked_quota, blocked_route,
                    active, reclaimable, suspended, terminal)
BOOST_DESCRIBE_ENUM(FailStatus, retry_scheduled, failed, cancelled)
BOOST_DESCRIBE_ENUM(RegisterStatus, registered, refreshed)
BOOST_DESCRIBE_ENUM(Durability, full, relaxed, none)
BOOST_DESCRIBE_ENUM(ErrorCategory, not_found, validation, contention, conflict, state, limit, transport, unavailable,
                    timeout, bug)

BOOST_DESCRIBE_STRUCT(Backoff, (), (type, delay_ms, initial_delay_ms, max_delay_ms, multiplier, jitter))
BOOST_DESCRIBE_STRUCT(RetryPolicy, (), (max_retries, backoff, retryable_categories))
BOOST_DESCRIBE_STRUCT(TimeoutPolicy, (), (attempt_timeout_ms, execution_deadline_ms))
BOOST_DESCRIBE_STRUCT(SuspensionPolicy, (), (default_timeout_ms, timeout_behavior))
BOOST_DESCRIBE_STRUCT(RoutingRequirements, (), (required_capabilities, preferred_locality, isolation_level))
BOOST_DESCRIBE_STRUCT(StreamPolicy, (), (retention_maxlen, retention_ttl_ms))
BOOST_DESCRIBE_STRUCT(Policy, (),
                      (priority, delay_until, retry_policy, timeout_policy, lease_loss_policy, max_reclaim_count,
                       max_replay_count, suspension_policy, budget_ids, quota_id, concurrency_key, max_concurrent,
                       routing_requirements, dedup_window_ms, stream_policy, retention_ttl_ms,
                       max_signals_per_execution))

BOOST_DESCRIBE_STRUCT(StateVector, (),
                      (lifecycle_phase, ownership_state, eligibility_state, blocking_reason, terminal_outcome,
                       attempt_state, public_state))
BOOST_DESCRIBE_STRUCT(Counters, (),
                      (total_attempt_count, current_lease_epoch, claim_count, retry_count, lease_reclaim_count,
                       replay_count, signal_count))
BOOST_DESCRIBE_STRUCT(Times, (),
                      (created_at_ms, started_at_ms, completed_at_ms, retain_until_ms, last_transition_at_ms,
                       last_mutation_at_ms))
BOOST_DESCRIBE_STRUCT(Timers, (),
                      (delay_until_ms, attempt_timeout_at_ms, attempt_timeout_remaining_ms, execution_deadline_at_ms))
BOOST_DESCRIBE_STRUCT(Hold, (),
                      (blocking_detail, blocked_at_ms, blocked_on, blocked_until_ms, interrupt_kind, cancel_owed,
                       lease_expired_at_ms, lease_revoked_at_ms, lease_revoke_reason, last_capability_mismatch_at_ms))
BOOST_DESCRIBE_STRUCT(Progress, (), (progress_pct, progress_message, progress_updated_at_ms))
BOOST_DESCRIBE_STRUCT(Ending, (),
                      (failure_reason, failure_category, last_failure_message, cancellation_reason, cancelled_by))
BOOST_DESCRIBE_STRUCT(Attempt, (),
                      (attempt_index, attempt_id, attempt_type, attempt_state, outcome, lease_id, lease_epoch,
                       worker_id, worker_instance_id, created_at_ms, started_at_ms, suspended_at_ms, suspension_id,
                       resumed_at_ms, ended_at_ms, failure_reason, failure_category, failure_class, retry_reason,
                       replay_reason, replay_requested_by, reclaim_reason, previous_attempt_index,
                       replayed_from_attempt_index, usage, released_lease_id, released_lease_epoch, release_op,
                       release_delay_until_ms, version))
BOOST_DESCRIBE_STRUCT(LeaseInfo, (),
                      (lease_id, lease_epoch, worker_id, worker_instance_id, acquired_at_ms, expires_at_ms,
                       last_renewed_at_ms))
BOOST_DESCRIBE_STRUCT(AttemptRef, (), (attempt_index, attempt_id, attempt_type))
BOOST_DESCRIBE_STRUCT(Why, (), (reason, text, since_ms, until_ms, needs))
BOOST_DESCRIBE_STRUCT(Execution, (),
                      (execution_id, namespace_, lane_id, execution_kind, creator_identity, idempotency_key,
                       traceparent, priority, required_capabilities, queue_class, policy, tags, payload_bytes,
                       payload_content_type, result_bytes, result_content_type, state, hold, counters, timers, times,
                       progress, ending, current_attempt, lease, why, version))
BOOST_DESCRIBE_STRUCT(ExecutionSummary, (),
                      (execution_id, namespace_, lane_id, execution_kind, public_state, blocking_reason, priority,
                       flow_id, tags, created_at_ms, started_at_ms, completed_at_ms, total_attempt_count))
BOOST_DESCRIBE_STRUCT(Event, (),
                      (partition, event_id, kind, execution_id, flow_id, namespace_, tags, occurred_at_ms, outcome,
                       cancelled_by, event_type, lease_id, lease_epoch, attempt_index, attempt_id, worker_id,
                       worker_instance_id, reason, actor, details))
BOOST_DESCRIBE_STRUCT(Lane, (),
                      (lane_id, lane_state, fairness, namespace_weights, budget_ids, quota_id, registered_at_ms,
                       registered_by, state_changed_at_ms, state_reason, version))
BOOST_DESCRIBE_STRUCT(Count, (), (value, estimate))
BOOST_DESCRIBE_STRUCT(LaneCounts, (),
                      (eligible, delayed, blocked_dependencies, blocked_budget, blocked_quota, blocked_route, active,
                       reclaimable, suspended, terminal))

BOOST_DESCRIBE_STRUCT(Submitted, (), (execution_id, public_state, duplicate))
BOOST_DESCRIBE_STRUCT(LaneStatus, (), (lane, depth, oldest_waiting_ms, claims_per_s, completions_per_s, workers))
BOOST_DESCRIBE_STRUCT(LeaseItem, (),
                      (execution_id, lease_id, lease_epoch, worker_instance_id, expires_at_ms, attempt_index,
                       namespace_, lane_id))
BOOST_DESCRIBE_STRUCT(PriorityChanged, (), (old_priority, new_priority))
BOOST_DESCRIBE_STRUCT(Revoked, (), (lease_id, lease_epoch, already_satisfied))
BOOST_DESCRIBE_STRUCT(Changed, (), (execution_id, public_state, unchanged))
BOOST_DESCRIBE_STRUCT(TaskExecution, (),
                      (execution_id, namespace_, lane_id, execution_kind, priority, tags, traceparent))
BOOST_DESCRIBE_STRUCT(LeaseRenewed, (), (lease_expires_at_ms, lease_epoch))
BOOST_DESCRIBE_STRUCT(TaskFailed, (), (status, delay_until_ms, next_attempt_index))
BOOST_DESCRIBE_STRUCT(TaskDelayed, (), (public_state, delay_until_ms))
BOOST_DESCRIBE_STRUCT(WorkerRegistered, (), (status, next_expiry_at_ms, heartbeat_after_ms))
BOOST_DESCRIBE_STRUCT(WorkerAlive, (), (next_expiry_at_ms))
BOOST_DESCRIBE_STRUCT(WorkerMarkedDead, (), (leases_revoked))
BOOST_DESCRIBE_STRUCT(WorkerInfo, (),
                      (worker_id, worker_instance_id, namespace_, lanes, capabilities, kinds, max_concurrent_tasks,
                       client_version, boot_id, liveness_ttl_ms, registered_at_ms, last_heartbeat_at_ms, leases_held))
BOOST_DESCRIBE_STRUCT(Done, (), ())
BOOST_DESCRIBE_STRUCT(SweepInfo, (),
                      (sweep, interval_ms, enabled, last_run_at_ms, runs, processed, errors, skipped_locked, filtered,
                       restarts, backoff_items, backoff, lag_ms))
BOOST_DESCRIBE_STRUCT(FabricInfo, (),
                      (version, store, store_version, durability, durability_detail, data_set_id, flow_partitions,
                       lane_spread, payload_bytes_max, sweeps, server_time_ms))

}  // namespace ff
