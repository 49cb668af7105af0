-- Small records that are few: each is one JSON object. due_at_ms is when a sweep has to look at it.
CREATE TABLE ff_worker_registry (
  record_key TEXT PRIMARY KEY,
  record TEXT NOT NULL,
  due_at_ms INTEGER,
  version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX ff_worker_registry_due ON ff_worker_registry (due_at_ms) WHERE due_at_ms IS NOT NULL;

CREATE TABLE ff_worker_registry_event (
  record_key TEXT PRIMARY KEY,
  record TEXT NOT NULL,
  due_at_ms INTEGER,
  version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX ff_worker_registry_event_due ON ff_worker_registry_event (due_at_ms) WHERE due_at_ms IS NOT NULL;

CREATE TABLE ff_api_token (
  record_key TEXT PRIMARY KEY,
  record TEXT NOT NULL,
  due_at_ms INTEGER,
  version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX ff_api_token_due ON ff_api_token (due_at_ms) WHERE due_at_ms IS NOT NULL;

-- The audit log is the operator events, newest first.
CREATE INDEX ff_event_audit ON ff_event (event_id) WHERE what & 3 = 3;
