-- Lists by priority. Most executions have none, and cost nothing here.
CREATE INDEX ff_exec_core_raised ON ff_exec_core ((-priority), created_at_ms, execution_id) WHERE priority > 0;
CREATE INDEX ff_exec_done_raised ON ff_exec_done ((-priority), created_at_ms, execution_id) WHERE priority > 0;
