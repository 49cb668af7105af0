#pragma once

/// The one table of error codes: code, category, class, HTTP status, retryable.
///
/// `retryable` says whether the same call may succeed later without anyone changing it.
/// The enum, the names, the HTTP mapping and the documentation are all made from this list.
#define FF_ERROR_CODES(X)                                               \
  X(execution_not_found, not_found, terminal, 404, false)               \
  X(flow_not_found, not_found, terminal, 404, false)                    \
  X(attempt_not_found, not_found, terminal, 404, false)                 \
  X(edge_not_found, not_found, terminal, 404, false)                    \
  X(budget_not_found, not_found, terminal, 404, false)                  \
  X(quota_policy_not_found, not_found, terminal, 404, false)            \
  X(lane_not_found, not_found, terminal, 404, false)                    \
  X(worker_not_found, not_found, terminal, 404, false)                  \
  X(token_not_found, not_found, terminal, 404, false)                   \
  X(waitpoint_not_found, not_found, retryable, 404, false)              \
  X(stream_not_found, not_found, expected_empty, 404, false)            \
  X(route_not_found, not_found, terminal, 404, false)                   \
  X(method_not_allowed, not_found, terminal, 405, false)                \
  X(invalid_input, validation, terminal, 400, false)                    \
  X(invalid_handle, validation, terminal, 400, false)                   \
  X(invalid_policy_json, validation, terminal, 400, false)              \
  X(invalid_capabilities, validation, terminal, 400, false)             \
  X(invalid_tag_key, validation, terminal, 400, false)                  \
  X(invalid_offset, validation, terminal, 400, false)                   \
  X(invalid_blocking_reason, validation, terminal, 400, false)          \
  X(invalid_token, validation, terminal, 400, false)                    \
  X(missing_token, validation, terminal, 400, false)                    \
  X(token_expired, validation, terminal, 400, false)                    \
  X(invalid_waitpoint_for_execution, validation, terminal, 400, false)  \
  X(waitpoint_not_token_bound, validation, terminal, 400, false)        \
  X(invalid_budget_scope, validation, terminal, 400, false)             \
  X(invalid_quota_spec, validation, terminal, 400, false)               \
  X(invalid_kid, validation, terminal, 400, false)                      \
  X(invalid_secret_hex, validation, terminal, 400, false)               \
  X(invalid_grace_ms, validation, terminal, 400, false)                 \
  X(partition_mismatch, validation, terminal, 400, false)               \
  X(graph_too_large, validation, terminal, 400, false)                  \
  X(signal_limit_exceeded, validation, terminal, 400, false)            \
  X(retention_limit_exceeded, validation, terminal, 400, false)         \
  X(payload_too_large, validation, terminal, 413, false)                \
  X(unauthorized, validation, terminal, 401, false)                     \
  X(forbidden, validation, terminal, 403, false)                        \
  X(capability_mismatch, contention, retryable, 409, true)              \
  X(execution_not_active, contention, terminal, 409, false)             \
  X(execution_not_eligible, contention, informational, 409, true)       \
  X(stale_graph_revision, contention, retryable, 409, true)             \
  X(retry_exhausted, contention, retryable, 409, true)                  \
  X(dependency_already_exists, conflict, terminal, 409, false)          \
  X(cycle_detected, conflict, terminal, 409, false)                     \
  X(self_referencing_edge, conflict, terminal, 409, false)              \
  X(execution_already_in_flow, conflict, terminal, 409, false)          \
  X(waitpoint_already_exists, conflict, informational, 409, false)      \
  X(rotation_conflict, conflict, terminal, 409, false)                  \
  X(idempotency_conflict, conflict, terminal, 409, false)               \
  X(store_refused, state, terminal, 409, false)                         \
  X(lane_not_accepting, state, terminal, 409, false)                    \
  X(stale_lease, state, terminal, 409, false)                           \
  X(lease_expired, state, terminal, 409, false)                         \
  X(lease_revoked, state, terminal, 409, false)                         \
  X(execution_not_terminal, state, terminal, 409, false)                \
  X(max_replays_exhausted, state, terminal, 409, false)                 \
  X(execution_not_suspended, state, informational, 409, false)          \
  X(already_suspended, state, informational, 409, false)                \
  X(already_satisfied, state, informational, 409, false)                \
  X(waitpoint_closed, state, informational, 409, false)                 \
  X(waitpoint_not_pending, state, informational, 409, false)            \
  X(pending_waitpoint_expired, state, informational, 409, false)        \
  X(target_not_signalable, state, terminal, 409, false)                 \
  X(stream_closed, state, terminal, 409, false)                         \
  X(stale_owner_cannot_append, state, terminal, 409, false)             \
  X(execution_not_in_flow, state, terminal, 409, false)                 \
  X(flow_already_terminal, state, terminal, 409, false)                 \
  X(dependency_too_late, state, terminal, 409, false)                   \
  X(deps_not_satisfied, state, informational, 409, false)               \
  X(budget_exceeded, state, cooperative, 409, false)                    \
  X(rate_limit_exceeded, limit, retryable, 429, true)                   \
  X(resource_exhausted, limit, retryable, 429, true)                    \
  X(store_unavailable, transport, retryable, 503, true)                 \
  X(hmac_secret_not_initialized, unavailable, retryable, 503, true)     \
  X(draining, unavailable, retryable, 503, true)                        \
  X(stream_disconnected, unavailable, retryable, 503, true)             \
  X(cursor_expired, state, terminal, 410, false)                        \
  X(timeout, timeout, terminal, 504, false)                             \
  X(corruption, bug, terminal, 500, false)                              \
  X(invalid_secret, bug, terminal, 500, false)                          \
  X(invariant_violation, bug, bug, 500, false)
