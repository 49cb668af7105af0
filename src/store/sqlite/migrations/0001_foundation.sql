-- The data set itself.
CREATE TABLE ff_dataset (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  data_set_id BLOB NOT NULL,
  handle_key BLOB NOT NULL,
  num_flow_partitions INTEGER NOT NULL,
  num_budget_partitions INTEGER NOT NULL,
  num_quota_partitions INTEGER NOT NULL,
  lane_spread INTEGER NOT NULL,
  event_shards INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  engine_version TEXT NOT NULL
);

CREATE TABLE ff_lane_registry (
  lane_id TEXT PRIMARY KEY,
  lane_state TEXT NOT NULL,
  fairness TEXT NOT NULL,
  namespace_weights TEXT NOT NULL,
  budget_ids TEXT NOT NULL,
  quota_id TEXT,
  registered_at_ms INTEGER NOT NULL,
  registered_by TEXT NOT NULL,
  state_changed_at_ms INTEGER,
  state_reason TEXT,
  version INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE ff_idempotency (
  idempotency_key TEXT NOT NULL,
  namespace TEXT NOT NULL,
  operation TEXT NOT NULL,
  partition_key INTEGER NOT NULL,
  execution_id BLOB,
  outcome BLOB NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (idempotency_key, namespace, operation)
) WITHOUT ROWID;
CREATE INDEX ff_idempotency_expiry ON ff_idempotency (expires_at_ms);

-- What all executions of one queue share. Rows are added once and stay: executions and events point to them.
CREATE TABLE ff_queue (
  queue_id INTEGER PRIMARY KEY,
  lane_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  execution_kind TEXT NOT NULL,
  required_capabilities TEXT NOT NULL,
  queue_class TEXT NOT NULL,
  UNIQUE (lane_id, namespace, execution_kind, required_capabilities)
);

-- The hot row, kept narrow. execution_id is the uuid followed by the partition (two bytes); state holds the state
-- vector in its bits; lease is lease id, attempt id and, while the execution is owned, ttl, acquired and expiry; worker
-- is worker id and instance id on two lines; details is a JSON object of what is not as expected. The view ff_execution
-- shows all of it in words.
CREATE TABLE ff_exec_core (
  seq INTEGER PRIMARY KEY,
  execution_id BLOB NOT NULL,
  queue_id INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  candidate INTEGER,
  due_at_ms INTEGER,
  retain_until_ms INTEGER,
  bucket INTEGER NOT NULL,
  state INTEGER NOT NULL,
  total_attempt_count INTEGER NOT NULL,
  current_lease_epoch INTEGER NOT NULL,
  lease BLOB,
  worker TEXT,
  claim_key TEXT,
  started_at_ms INTEGER,
  last_mutation_at_ms INTEGER NOT NULL,
  version INTEGER NOT NULL,
  last_event_id INTEGER,
  details TEXT
);
CREATE UNIQUE INDEX ff_exec_core_id ON ff_exec_core (execution_id);
CREATE INDEX ff_exec_core_created ON ff_exec_core (created_at_ms, execution_id);
CREATE INDEX ff_exec_core_candidates ON ff_exec_core (queue_id, priority DESC, created_at_ms, execution_id)
  WHERE candidate IS NOT NULL;
CREATE INDEX ff_exec_core_due ON ff_exec_core (due_at_ms, queue_id, bucket) WHERE due_at_ms IS NOT NULL;
CREATE INDEX ff_exec_core_retention ON ff_exec_core (queue_id, retain_until_ms) WHERE retain_until_ms IS NOT NULL;
CREATE INDEX ff_exec_core_claim_key ON ff_exec_core (claim_key) WHERE claim_key IS NOT NULL;

-- What is written once.
CREATE TABLE ff_exec_info (
  seq INTEGER PRIMARY KEY,
  policy TEXT,
  tags TEXT,
  origin TEXT,
  payload_content_type TEXT,
  payload BLOB
);

CREATE TABLE ff_exec_result (
  seq INTEGER PRIMARY KEY,
  result_content_type TEXT,
  result BLOB NOT NULL
);

CREATE TABLE ff_exec_tag (
  tag_key TEXT NOT NULL,
  tag_value TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  execution_id BLOB NOT NULL,
  PRIMARY KEY (tag_key, tag_value, created_at_ms, execution_id)
) WITHOUT ROWID;

-- Attempts that are no longer the newest of their execution; the newest stands in the hot row.
CREATE TABLE ff_attempt_past (
  seq INTEGER NOT NULL,
  attempt_index INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  PRIMARY KEY (seq, attempt_index)
) WITHOUT ROWID;

-- The event log. what holds kind, lease event, outcome and source of a cancel in its bits. A row with both a lease
-- event and an outcome is two events: the lease event has the id below the row's. lease is lease id and attempt id.
-- prev_event_id leads to the execution's event before this one; extra is a JSON object with what few events have.
CREATE TABLE ff_event (
  event_id INTEGER PRIMARY KEY,
  execution_id BLOB,
  queue_id INTEGER,
  occurred_at_ms INTEGER NOT NULL,
  what INTEGER NOT NULL,
  prev_event_id INTEGER,
  attempt_index INTEGER,
  lease_epoch INTEGER,
  lease BLOB,
  worker TEXT,
  reason TEXT,
  extra TEXT
);

CREATE TABLE ff_event_head (
  shard INTEGER PRIMARY KEY,
  first_event_id INTEGER NOT NULL,
  last_event_id INTEGER NOT NULL,
  audit_event_id INTEGER NOT NULL
);
INSERT INTO ff_event_head VALUES (0, 1, 0, 1);
