-- Statements are pinned to their keys: statistics would only cost the time to gather them, and that to plan again.
-- Partitions get the same setting when they are made.
ALTER TABLE ff_exec_core SET (autovacuum_analyze_threshold = 2000000000);
ALTER TABLE ff_exec_done_far SET (autovacuum_analyze_threshold = 2000000000);
