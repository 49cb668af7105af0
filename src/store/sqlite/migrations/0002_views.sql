-- The logical records of the specification, for people with a sqlite3 shell. Words stand in the small tables below.
CREATE TABLE ff_word (list TEXT NOT NULL, number INTEGER NOT NULL, word TEXT NOT NULL, PRIMARY KEY (list, number)) WITHOUT ROWID;
INSERT INTO ff_word VALUES
  ('lifecycle_phase', 0, 'runnable'), ('lifecycle_phase', 1, 'active'), ('lifecycle_phase', 2, 'suspended'),
  ('lifecycle_phase', 3, 'terminal'),
  ('ownership_state', 0, 'unowned'), ('ownership_state', 1, 'leased'),
  ('ownership_state', 2, 'lease_expired_reclaimable'), ('ownership_state', 3, 'lease_revoked'),
  ('eligibility_state', 0, 'eligible_now'), ('eligibility_state', 1, 'not_eligible_until_time'),
  ('eligibility_state', 2, 'blocked_by_dependencies'), ('eligibility_state', 3, 'blocked_by_budget'),
  ('eligibility_state', 4, 'blocked_by_quota'), ('eligibility_state', 5, 'blocked_by_route'),
  ('eligibility_state', 6, 'not_applicable'),
  ('blocking_reason', 0, 'none'), ('blocking_reason', 1, 'waiting_for_worker'),
  ('blocking_reason', 2, 'waiting_for_retry_backoff'), ('blocking_reason', 3, 'waiting_for_resume_delay'),
  ('blocking_reason', 4, 'waiting_for_delay'), ('blocking_reason', 5, 'waiting_for_signal'),
  ('blocking_reason', 6, 'waiting_for_approval'), ('blocking_reason', 7, 'waiting_for_callback'),
  ('blocking_reason', 8, 'waiting_for_tool_result'), ('blocking_reason', 9, 'waiting_for_children'),
  ('blocking_reason', 10, 'waiting_for_budget'), ('blocking_reason', 11, 'waiting_for_quota'),
  ('blocking_reason', 12, 'waiting_for_capable_worker'), ('blocking_reason', 13, 'paused_by_operator'),
  ('blocking_reason', 14, 'paused_by_policy'),
  ('terminal_outcome', 0, 'none'), ('terminal_outcome', 1, 'success'), ('terminal_outcome', 2, 'failed'),
  ('terminal_outcome', 3, 'cancelled'), ('terminal_outcome', 4, 'expired'), ('terminal_outcome', 5, 'skipped'),
  ('attempt_state', 0, 'none'), ('attempt_state', 1, 'pending_first_attempt'), ('attempt_state', 2, 'running_attempt'),
  ('attempt_state', 3, 'attempt_interrupted'), ('attempt_state', 4, 'pending_retry_attempt'),
  ('attempt_state', 5, 'pending_replay_attempt'), ('attempt_state', 6, 'attempt_terminal'),
  ('public_state', 0, 'waiting'), ('public_state', 1, 'delayed'), ('public_state', 2, 'rate_limited'),
  ('public_state', 3, 'waiting_children'), ('public_state', 4, 'active'), ('public_state', 5, 'suspended'),
  ('public_state', 6, 'resumable'), ('public_state', 7, 'completed'), ('public_state', 8, 'failed'),
  ('public_state', 9, 'cancelled'), ('public_state', 10, 'expired'), ('public_state', 11, 'skipped'),
  ('attempt_type', 0, 'initial'), ('attempt_type', 1, 'retry'), ('attempt_type', 2, 'reclaim'),
  ('attempt_type', 3, 'replay'),
  ('lease_event', 1, 'acquired'), ('lease_event', 2, 'reclaimed'), ('lease_event', 3, 'renewed'),
  ('lease_event', 4, 'expired'), ('lease_event', 5, 'revoked'), ('lease_event', 6, 'released'),
  ('cancelled_by', 1, 'operator_override'), ('cancelled_by', 2, 'lease_holder'), ('cancelled_by', 3, 'cancel_flow'),
  ('cancelled_by', 4, 'engine'), ('cancelled_by', 5, 'system_timeout');

CREATE VIEW ff_execution AS
SELECT c.seq, '{fp:' || (instr('0123456789ABCDEF', substr(hex(c.execution_id), 33, 1)) * 4096
         + instr('0123456789ABCDEF', substr(hex(c.execution_id), 34, 1)) * 256
         + instr('0123456789ABCDEF', substr(hex(c.execution_id), 35, 1)) * 16
         + instr('0123456789ABCDEF', substr(hex(c.execution_id), 36, 1)) - 4369) || '}:'
         || lower(substr(hex(substr(c.execution_id, 1, 16)), 1, 8) || '-' || substr(hex(substr(c.execution_id, 1, 16)), 9, 4) || '-' || substr(hex(substr(c.execution_id, 1, 16)), 13, 4) || '-' ||
         substr(hex(substr(c.execution_id, 1, 16)), 17, 4) || '-' || substr(hex(substr(c.execution_id, 1, 16)), 21, 12)) AS execution_id,
       q.namespace, q.lane_id, q.execution_kind, q.required_capabilities, q.queue_class, c.priority, c.created_at_ms,
       (SELECT word FROM ff_word WHERE list = 'lifecycle_phase' AND number = c.state & 3) AS lifecycle_phase,
       (SELECT word FROM ff_word WHERE list = 'ownership_state' AND number = (c.state >> 2) & 3) AS ownership_state,
       (SELECT word FROM ff_word WHERE list = 'eligibility_state' AND number = (c.state >> 4) & 7) AS eligibility_state,
       (SELECT word FROM ff_word WHERE list = 'blocking_reason' AND number = (c.state >> 7) & 15) AS blocking_reason,
       (SELECT word FROM ff_word WHERE list = 'terminal_outcome' AND number = (c.state >> 11) & 7) AS terminal_outcome,
       (SELECT word FROM ff_word WHERE list = 'attempt_state' AND number = (c.state >> 14) & 7) AS attempt_state,
       (SELECT word FROM ff_word WHERE list = 'public_state' AND number = (c.state >> 17) & 15) AS public_state,
       c.total_attempt_count, c.current_lease_epoch, lower(substr(hex(substr(c.lease, 1, 16)), 1, 8) || '-' || substr(hex(substr(c.lease, 1, 16)), 9, 4) || '-' || substr(hex(substr(c.lease, 1, 16)), 13, 4) || '-' ||
         substr(hex(substr(c.lease, 1, 16)), 17, 4) || '-' || substr(hex(substr(c.lease, 1, 16)), 21, 12)) AS lease_id,
       substr(c.worker, 1, instr(c.worker, char(10)) - 1) AS worker_id,
       substr(c.worker, instr(c.worker, char(10)) + 1) AS worker_instance_id,
       c.started_at_ms, c.due_at_ms, c.retain_until_ms, c.last_mutation_at_ms, c.version, c.details,
       i.policy, i.tags, i.origin, coalesce(i.payload_content_type, 'application/json') AS payload_content_type,
       length(i.payload) AS payload_bytes
FROM ff_exec_core c JOIN ff_queue q ON q.queue_id = c.queue_id LEFT JOIN ff_exec_info i ON i.seq = c.seq;

CREATE VIEW ff_attempt AS
SELECT x.execution_id, p.attempt_index, json_extract(p.attempt, '$.attempt_id') AS attempt_id,
       json_extract(p.attempt, '$.attempt_type') AS attempt_type,
       json_extract(p.attempt, '$.worker_instance_id') AS worker_instance_id, p.attempt AS record
FROM ff_attempt_past p JOIN ff_execution x ON x.seq = p.seq
UNION ALL
SELECT x.execution_id, x.total_attempt_count - 1, lower(substr(hex(substr(c.lease, 17, 16)), 1, 8) || '-' || substr(hex(substr(c.lease, 17, 16)), 9, 4) || '-' || substr(hex(substr(c.lease, 17, 16)), 13, 4) || '-' ||
         substr(hex(substr(c.lease, 17, 16)), 17, 4) || '-' || substr(hex(substr(c.lease, 17, 16)), 21, 12)),
       (SELECT word FROM ff_word WHERE list = 'attempt_type' AND number = (c.state >> 21) & 3), x.worker_instance_id,
       c.details
FROM ff_execution x JOIN ff_exec_core c ON c.seq = x.seq WHERE x.total_attempt_count > 0;

CREATE VIEW ff_completion_event AS
SELECT e.event_id, lower(substr(hex(substr(e.execution_id, 1, 16)), 1, 8) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 9, 4) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 13, 4) || '-' ||
         substr(hex(substr(e.execution_id, 1, 16)), 17, 4) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 21, 12)) AS execution_id, q.namespace, json_extract(e.extra, '$.tags') AS tags, e.occurred_at_ms,
       (SELECT word FROM ff_word WHERE list = 'terminal_outcome' AND number = (e.what >> 5) & 7) AS outcome,
       (SELECT word FROM ff_word WHERE list = 'cancelled_by' AND number = (e.what >> 8) & 7) AS cancelled_by,
       e.attempt_index
FROM ff_event e JOIN ff_queue q ON q.queue_id = e.queue_id WHERE e.what & 3 = 0;

CREATE VIEW ff_lease_event AS
SELECT e.event_id - (e.what & 3 = 0) AS event_id, lower(substr(hex(substr(e.execution_id, 1, 16)), 1, 8) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 9, 4) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 13, 4) || '-' ||
         substr(hex(substr(e.execution_id, 1, 16)), 17, 4) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 21, 12)) AS execution_id, q.namespace,
       json_extract(e.extra, '$.tags') AS tags, e.occurred_at_ms,
       (SELECT word FROM ff_word WHERE list = 'lease_event' AND number = (e.what >> 2) & 7) AS event_type,
       lower(substr(hex(substr(e.lease, 1, 16)), 1, 8) || '-' || substr(hex(substr(e.lease, 1, 16)), 9, 4) || '-' || substr(hex(substr(e.lease, 1, 16)), 13, 4) || '-' ||
         substr(hex(substr(e.lease, 1, 16)), 17, 4) || '-' || substr(hex(substr(e.lease, 1, 16)), 21, 12)) AS lease_id, e.lease_epoch, e.attempt_index, lower(substr(hex(substr(e.lease, 17, 16)), 1, 8) || '-' || substr(hex(substr(e.lease, 17, 16)), 9, 4) || '-' || substr(hex(substr(e.lease, 17, 16)), 13, 4) || '-' ||
         substr(hex(substr(e.lease, 17, 16)), 17, 4) || '-' || substr(hex(substr(e.lease, 17, 16)), 21, 12)) AS attempt_id,
       substr(e.worker, 1, instr(e.worker, char(10)) - 1) AS worker_id,
       substr(e.worker, instr(e.worker, char(10)) + 1) AS worker_instance_id, e.reason
FROM ff_event e JOIN ff_queue q ON q.queue_id = e.queue_id WHERE (e.what >> 2) & 7 > 0;

CREATE VIEW ff_operator_event AS
SELECT e.event_id, lower(substr(hex(substr(e.execution_id, 1, 16)), 1, 8) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 9, 4) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 13, 4) || '-' ||
         substr(hex(substr(e.execution_id, 1, 16)), 17, 4) || '-' || substr(hex(substr(e.execution_id, 1, 16)), 21, 12)) AS execution_id, coalesce(q.namespace, json_extract(e.extra, '$.namespace')) AS namespace,
       json_extract(e.extra, '$.tags') AS tags, e.occurred_at_ms, json_extract(e.extra, '$.event_type') AS event_type,
       json_extract(e.extra, '$.actor') AS actor, json_extract(e.extra, '$.details') AS details
FROM ff_event e LEFT JOIN ff_queue q ON q.queue_id = e.queue_id WHERE e.what & 3 = 3;
