-- Operator events outlive the others, and with them the chain that leads from one event of an execution to the one before.
CREATE INDEX ff_event_operator ON ff_event (execution_id, event_id) WHERE what & 3 = 3;
