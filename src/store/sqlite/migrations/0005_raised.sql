-- Lists by priority. Most executions have none, and cost nothing here.
CREATE INDEX ff_exec_core_raised ON ff_exec_core (priority DESC, created_at_ms, execution_id) WHERE priority > 0;
