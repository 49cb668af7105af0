-- The logical records of the specification, for people with a psql shell.
CREATE FUNCTION ff_id(bytes bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '{fp:' || (get_byte(bytes, 16) * 256 + get_byte(bytes, 17)) || '}:' || encode(substring(bytes, 1, 16), 'hex')::uuid
$$;
CREATE FUNCTION ff_uuid(bytes bytea, first integer) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(substring(bytes, first, 16), 'hex')::uuid WHERE length(bytes) >= first + 15
$$;
CREATE FUNCTION ff_word(list text, number integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT (CASE list
    WHEN 'lifecycle_phase' THEN ARRAY['runnable', 'active', 'suspended', 'terminal']
    WHEN 'ownership_state' THEN ARRAY['unowned', 'leased', 'lease_expired_reclaimable', 'lease_revoked']
    WHEN 'eligibility_state' THEN ARRAY['eligible_now', 'not_eligible_until_time', 'blocked_by_dependencies',
      'blocked_by_budget', 'blocked_by_quota', 'blocked_by_route', 'not_applicable']
    WHEN 'blocking_reason' THEN ARRAY['none', 'waiting_for_worker', 'waiting_for_retry_backoff',
      'waiting_for_resume_delay', 'waiting_for_delay', 'waiting_for_signal', 'waiting_for_approval',
      'waiting_for_callback', 'waiting_for_tool_result', 'waiting_for_children', 'waiting_for_budget',
      'waiting_for_quota', 'waiting_for_capable_worker', 'paused_by_operator', 'paused_by_policy']
    WHEN 'terminal_outcome' THEN ARRAY['none', 'success', 'failed', 'cancelled', 'expired', 'skipped']
    WHEN 'attempt_state' THEN ARRAY['none', 'pending_first_attempt', 'running_attempt', 'attempt_interrupted',
      'pending_retry_attempt', 'pending_replay_attempt', 'attempt_terminal']
    WHEN 'public_state' THEN ARRAY['waiting', 'delayed', 'rate_limited', 'waiting_children', 'active', 'suspended',
      'resumable', 'completed', 'failed', 'cancelled', 'expired', 'skipped']
    WHEN 'event_kind' THEN ARRAY['completion', 'lease', 'signal', 'operator']
    WHEN 'lease_event' THEN ARRAY[NULL, 'acquired', 'reclaimed', 'renewed', 'expired', 'revoked', 'released']
    WHEN 'cancelled_by' THEN ARRAY[NULL, 'operator_override', 'lease_holder', 'cancel_flow', 'engine', 'system_timeout']
  END)[number + 1]
$$;

CREATE VIEW ff_execution AS
SELECT ff_id(c.execution_id) AS execution_id, q.namespace, q.lane_id, q.execution_kind, q.required_capabilities,
       q.queue_class, c.priority, c.created_at_ms,
       ff_word('lifecycle_phase', c.state & 3) AS lifecycle_phase,
       ff_word('ownership_state', (c.state >> 2) & 3) AS ownership_state,
       ff_word('eligibility_state', (c.state >> 4) & 7) AS eligibility_state,
       ff_word('blocking_reason', (c.state >> 7) & 15) AS blocking_reason,
       ff_word('terminal_outcome', (c.state >> 11) & 7) AS terminal_outcome,
       ff_word('attempt_state', (c.state >> 14) & 7) AS attempt_state,
       ff_word('public_state', (c.state >> 17) & 15) AS public_state,
       c.total_attempt_count, c.current_lease_epoch, ff_uuid(c.lease, 1) AS lease_id,
       split_part(c.worker, E'\n', 1) AS worker_id, split_part(c.worker, E'\n', 2) AS worker_instance_id,
       c.started_at_ms, c.due_at_ms, c.retain_until_ms, c.last_mutation_at_ms, c.version, c.details, c.policy, c.tags,
       c.origin, coalesce(c.payload_content_type, 'application/json') AS payload_content_type,
       octet_length(c.payload) AS payload_bytes
FROM (SELECT execution_id, queue_id, priority, created_at_ms, state, total_attempt_count, current_lease_epoch, lease,
             worker, started_at_ms, due_at_ms, NULL::bigint AS retain_until_ms, last_mutation_at_ms, version, details,
             policy, tags, origin, payload_content_type, payload FROM ff_exec_core
      UNION ALL
      SELECT execution_id, queue_id, priority, created_at_ms, state, total_attempt_count, current_lease_epoch, lease,
             worker, started_at_ms, NULL, retain_until_ms, last_mutation_at_ms, version, details, policy, tags, origin,
             payload_content_type, payload FROM ff_exec_done) c
JOIN ff_queue q USING (queue_id);

-- Every event that is kept, one by one. A lease event and the completion after it may stand together in the log.
CREATE VIEW ff_event AS
SELECT e.event_id, e.kind, ff_id(e.execution) AS execution_id,
       coalesce(q.namespace, e.extra::json ->> 'namespace') AS namespace, e.extra::json ->> 'tags' AS tags,
       e.occurred_at_ms, e.what, e.attempt_index, e.lease_epoch, ff_uuid(e.lease, 1) AS lease_id,
       ff_uuid(e.lease, 17) AS attempt_id, split_part(e.worker, E'\n', 1) AS worker_id,
       split_part(e.worker, E'\n', 2) AS worker_instance_id, e.reason, e.extra
FROM (SELECT l.event_id + 2 * coalesce(r.number, r.ord) - k.is_first AS event_id, r.execution AS execution, r.lease,
             CASE WHEN k.is_first = 1 THEN 'lease' ELSE ff_word('event_kind', l.whats[r.shape] & 3) END AS kind,
             l.occurred_at_ms[r.shape] AS occurred_at_ms, l.whats[r.shape] AS what,
             l.attempt_indexes[r.shape] AS attempt_index, l.lease_epochs[r.shape] AS lease_epoch,
             l.queue_ids[r.shape] AS queue_id, l.workers[r.shape] AS worker, l.reasons[r.shape] AS reason,
             l.extras[r.shape] AS extra
      FROM ff_event_log l
      CROSS JOIN LATERAL unnest(l.execution_ids, l.leases, l.shapes, l.offsets) WITH ORDINALITY
                         AS r(execution, lease, shape, number, ord)
      CROSS JOIN LATERAL (SELECT 0 AS is_first UNION ALL
                          SELECT 1 WHERE l.whats[r.shape] & 3 = 0 AND (l.whats[r.shape] >> 2) & 7 > 0) k
      WHERE l.whats[r.shape] >= 0 AND l.occurred_at_ms[r.shape] >=
            (SELECT CASE WHEN l.slot < 0 THEN audit_kept_from_ms ELSE kept_from_ms END FROM ff_event_head)) e
LEFT JOIN ff_queue q USING (queue_id);

CREATE VIEW ff_completion_event AS
SELECT event_id, execution_id, namespace, tags, occurred_at_ms, ff_word('terminal_outcome', (what >> 5) & 7) AS outcome,
       ff_word('cancelled_by', (what >> 8) & 7) AS cancelled_by, attempt_index
FROM ff_event WHERE kind = 'completion';

CREATE VIEW ff_lease_event AS
SELECT event_id, execution_id, namespace, tags, occurred_at_ms, ff_word('lease_event', (what >> 2) & 7) AS event_type,
       lease_id, lease_epoch, attempt_index, attempt_id, worker_id, worker_instance_id, reason
FROM ff_event WHERE kind = 'lease';

CREATE VIEW ff_operator_event AS
SELECT event_id, execution_id, namespace, tags, occurred_at_ms, extra::json ->> 'event_type' AS event_type,
       extra::json ->> 'actor' AS actor, extra::json ->> 'details' AS details
FROM ff_event WHERE kind = 'operator';
