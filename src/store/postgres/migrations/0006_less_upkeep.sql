-- A leaf of the index of ids has room for the leased version of each of its rows before it looks for something to
-- remove. No two entries of a queue are alike.
ALTER INDEX ff_exec_core_pkey SET (fillfactor = 40, deduplicate_items = off);
ALTER INDEX ff_exec_core_candidates SET (deduplicate_items = off);
-- Statements are pinned to their keys: statistics would only cost the time to gather them, and that to plan again.
ALTER TABLE ff_exec_core SET (autovacuum_analyze_threshold = 2000000000);
ALTER TABLE ff_exec_done_far SET (autovacuum_analyze_threshold = 2000000000);
