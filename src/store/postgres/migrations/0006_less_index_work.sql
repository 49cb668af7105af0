-- A leaf of the index of ids has room for the leased version of each of its rows before it looks for something to
-- remove. No two entries of a queue are alike.
ALTER INDEX ff_exec_core_pkey SET (fillfactor = 40, deduplicate_items = off);
ALTER INDEX ff_exec_core_candidates SET (deduplicate_items = off);
