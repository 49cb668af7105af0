-- The logical records of the specification, for people with a sqlite3 shell.
CREATE VIEW ff_completion_event AS
SELECT e.event_id, e.partition_key, hex(e.execution_id) AS execution_id, coalesce(q.namespace, e.namespace) AS namespace,
       e.tags, e.occurred_at_ms,
       CASE e.outcome WHEN 1 THEN 'success' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled' WHEN 4 THEN 'expired'
         WHEN 5 THEN 'skipped' END AS outcome,
       CASE e.cancelled_by WHEN 0 THEN 'operator_override' WHEN 1 THEN 'lease_holder' WHEN 2 THEN 'cancel_flow'
         WHEN 3 THEN 'engine' WHEN 4 THEN 'system_timeout' END AS cancelled_by,
       e.attempt_index
FROM ff_event e LEFT JOIN ff_queue q ON q.queue_id = e.queue_id WHERE e.kind = 0;

CREATE VIEW ff_lease_event AS
SELECT e.event_id - (e.kind = 0) AS event_id, e.partition_key, hex(e.execution_id) AS execution_id,
       coalesce(q.namespace, e.namespace) AS namespace, e.tags, e.occurred_at_ms,
       CASE e.lease_event WHEN 0 THEN 'acquired' WHEN 1 THEN 'reclaimed' WHEN 2 THEN 'renewed' WHEN 3 THEN 'expired'
         WHEN 4 THEN 'revoked' WHEN 5 THEN 'released' END AS event_type,
       hex(e.lease_id) AS lease_id, e.lease_epoch, e.attempt_index, hex(e.attempt_id) AS attempt_id, e.worker_id,
       e.worker_instance_id, e.reason
FROM ff_event e LEFT JOIN ff_queue q ON q.queue_id = e.queue_id WHERE e.lease_event IS NOT NULL;

CREATE VIEW ff_operator_event AS
SELECT e.event_id, e.partition_key, hex(e.execution_id) AS execution_id, coalesce(q.namespace, e.namespace) AS namespace,
       e.tags, e.occurred_at_ms, e.event_type, e.actor, e.details
FROM ff_event e LEFT JOIN ff_queue q ON q.queue_id = e.queue_id WHERE e.kind = 3;

CREATE VIEW ff_execution AS
SELECT c.partition_key, hex(c.execution_id) AS execution_id, q.namespace, q.lane_id, q.execution_kind,
       q.required_capabilities, c.priority, c.created_at_ms,
       CASE c.public_state WHEN 0 THEN 'waiting' WHEN 1 THEN 'delayed' WHEN 2 THEN 'rate_limited'
         WHEN 3 THEN 'waiting_children' WHEN 4 THEN 'active' WHEN 5 THEN 'suspended' WHEN 6 THEN 'resumable'
         WHEN 7 THEN 'completed' WHEN 8 THEN 'failed' WHEN 9 THEN 'cancelled' WHEN 10 THEN 'expired'
         WHEN 11 THEN 'skipped' END AS public_state,
       c.total_attempt_count, c.current_lease_epoch, hex(c.lease_id) AS lease_id, c.worker_id, c.worker_instance_id,
       c.lease_expires_at_ms, c.started_at_ms, c.retain_until_ms, c.last_mutation_at_ms, c.version, c.details,
       i.policy, i.tags, i.origin, coalesce(i.payload_content_type, 'application/json') AS payload_content_type,
       length(i.payload) AS payload_bytes
FROM ff_exec_core c JOIN ff_queue q ON q.queue_id = c.queue_id LEFT JOIN ff_exec_info i ON i.seq = c.seq;

CREATE VIEW ff_attempt AS
SELECT c.partition_key, hex(c.execution_id) AS execution_id, p.attempt_index,
       json_extract(p.attempt, '$.attempt_id') AS attempt_id, json_extract(p.attempt, '$.attempt_type') AS attempt_type,
       json_extract(p.attempt, '$.outcome') AS outcome, json_extract(p.attempt, '$.worker_instance_id') AS worker_instance_id,
       p.attempt AS record
FROM ff_attempt_past p JOIN ff_exec_core c ON c.seq = p.seq
UNION ALL
SELECT c.partition_key, hex(c.execution_id), c.total_attempt_count - 1, hex(c.attempt_id),
       CASE c.attempt_type WHEN 0 THEN 'initial' WHEN 1 THEN 'retry' WHEN 2 THEN 'reclaim' WHEN 3 THEN 'replay' END,
       json_extract(c.details, '$."attempt.outcome"'), c.worker_instance_id, c.details
FROM ff_exec_core c WHERE c.total_attempt_count > 0;
