-- Each execution has a second version soon: the one that was leased. It is somewhat longer than the first. Room is left
-- for it in the page of the row, and in that of the index of ids, which then need neither be split nor cleaned.
ALTER TABLE ff_exec_core SET (fillfactor = 45);
ALTER INDEX ff_exec_core_pkey SET (fillfactor = 50);
