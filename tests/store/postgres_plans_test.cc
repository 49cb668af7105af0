// Every statement is served by its keys, on an empty store and on a large one.

#include "store/postgres_fixture.h"

#include "store/postgres/read_statements.h"

#include <regex>

namespace ff::test {
namespace {

namespace sql = store::postgres::sql;
using store::postgres::Sql;

constexpr const Sql* kAll[] = {
    &sql::kClock, &sql::kClockOnly, &sql::kClockCheck, &sql::kXactStatus, &sql::kWrittenBy,
    &sql::kProcessRuns, &sql::kAnyMade, &sql::kAnyAsBefore, &sql::kLoadCore, &sql::kLoadDone,
    &sql::kLookAtAll, &sql::kInfos, &sql::kPayloads, &sql::kPastAttempts, &sql::kQueueById, &sql::kQueueFind,
    &sql::kQueueInsert, &sql::kTake, &sql::kTakeOfRange, &sql::kTakeKeys, &sql::kTakeKeysOfRange, &sql::kTaken,
    &sql::kClaimedUnder, &sql::kInsertCore, &sql::kUpdateLocked, &sql::kUpdateCore, &sql::kMoveToDone,
    &sql::kMoveNewToDone, &sql::kStillSame, &sql::kMoveToCore, &sql::kUpdateDone, &sql::kStillFree, &sql::kDeleteCore,
    &sql::kDeleteDone, &sql::kTagsCore,
    &sql::kTagsDone, &sql::kAttemptsCore, &sql::kAttemptsDone, &sql::kTagInsert, &sql::kTagDelete, &sql::kLanes,
    &sql::kLanesAfter, &sql::kLaneInsert, &sql::kLaneUpdate, &sql::kKeys, &sql::kKeyInsert, &sql::kKeyUpdate,
    &sql::kKeyDelete, &sql::kKeysExpired, &sql::kEventInsert, &sql::kEventInsertMore, &sql::kHistory, &sql::kKeptFrom,
    &sql::kNow, &sql::kFind, &sql::kPayloadOf, &sql::kResultOf, &sql::kAttemptsOf, &sql::kLogPlacesOf,
    &sql::kListNewest, &sql::kListOldest, &sql::kListRaised, &sql::kTaggedNewest, &sql::kTaggedOldest, &sql::kLeases, &sql::kAllCore,
    &sql::kAllDone, &sql::kCandidateCounts, &sql::kTerminalCount, &sql::kDueCount, &sql::kOldestCandidate,
    &sql::kAhead, &sql::kQueueHeads, &sql::kDue, &sql::kNextDue, &sql::kRetired, &sql::kKeysAfter, &sql::kLogBehind,
};

class PostgresPlans : public OnPostgres {
 protected:
  /// Tables that some statement reads from end to end, as `statement: table`.
  std::vector<std::string> full_scans() {
    std::vector<std::string> found;
    for (const Sql* statement : kAll) {
      int parameters = 0;
      const std::string text = statement->text;
      const std::regex number("\\$([0-9]+)");
      for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
        parameters = std::max(parameters, std::stoi((*it)[1]));
      std::string values;
      for (int i = 0; i < parameters; ++i) values += i == 0 ? "(NULL" : ", NULL";
      if (parameters > 0) values += ")";
      // The settings are those that the store gives its sessions.
      const auto lines = server.run("SET search_path = " + schema +
                                    "; SET jit = off; SET plan_cache_mode = force_generic_plan; "
                                    "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_nestloop = off; "
                                    "SET enable_mergejoin = off; SET enable_sort = off; " +
                                    "PREPARE s AS " + text + "; EXPLAIN (COSTS OFF) EXECUTE s" + values);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::size_t scan = lines[i].find("Scan ");
        const std::size_t at = lines[i].find(" on ff_");
        if (scan == std::string::npos || at == std::string::npos) continue;
        std::string table = lines[i].substr(at + 4);
        table = table.substr(0, table.find(' '));
        if (table == "ff_event_head" || table == "ff_event_block" || table == "ff_queue") continue;  // few rows
        // An index without a condition is read from its beginning: right only where the first rows are wanted.
        const bool keyed = i + 1 < lines.size() && lines[i + 1].find(" Cond: ") != std::string::npos;
        const bool first_rows = statement == &sql::kNextDue || statement == &sql::kDueCount;
        // A condition on a later column than the first finds its rows only by reading the whole index.
        const bool by_time = lines[i].find("_created") != std::string::npos;
        const bool wrong_key = keyed && by_time && lines[i + 1].find("created_at_ms") == std::string::npos;
        if (lines[i].find("Seq Scan") != std::string::npos || wrong_key || (!keyed && !first_rows))
          found.push_back(std::string(statement->name) + ": " + table);
      }
    }
    return found;
  }
};

TEST_F(PostgresPlans, every_statement_uses_its_keys_on_an_empty_store) {
  open();
  EXPECT_THAT(full_scans(), ::testing::IsEmpty());
}

/// A vacuum that finds nobody at home tells the planner that the table is empty, however many entries of the dead its
/// indexes still hold: then every index looks as good as the other.
TEST_F(PostgresPlans, every_statement_uses_its_keys_on_a_store_that_was_vacuumed_while_it_was_empty) {
  Opened opened = open({.sweeps = false});
  for (int i = 0; i < 3; ++i)
    must(opened.fabric.cancel(must(opened.fabric.submit({.execution_kind = "k"})).execution_id));
  opened.fabric.close();
  value("DELETE FROM ff_exec_done; DELETE FROM ff_event_log");
  store::postgres::Connection connection(*store::postgres::parse_url(url()), {});
  ASSERT_TRUE(connection.open(std::chrono::seconds(10)));
  for (const char* table : {"ff_exec_core", "ff_exec_done", "ff_event_log", "ff_exec_tag", "ff_idempotency"})
    must(connection.execute(std::string("VACUUM ANALYZE ") + table));
  ASSERT_EQ(value("SELECT reltuples::integer FROM pg_class WHERE oid = 'ff_exec_core'::regclass"), "0");
  EXPECT_THAT(full_scans(), ::testing::IsEmpty());
}

TEST_F(PostgresPlans, every_statement_uses_its_keys_on_a_million_rows) {
  Opened opened = open({.sweeps = false});
  const auto id = must(opened.fabric.submit({.execution_kind = "k", .tags = {{"a", "b"}}})).execution_id;
  must(opened.fabric.cancel(id));
  must(opened.fabric.submit({.execution_kind = "k", .tags = {{"a", "b"}}}));
  value(
      "INSERT INTO ff_exec_core SELECT created_at_ms + n, due_at_ms, started_at_ms, last_mutation_at_ms, version, "
      "current_lease_epoch, queue_id, priority, state, total_attempt_count, bucket, candidate, "
      "decode(lpad(to_hex(n), 32, '0') || '0000', 'hex'), lease, worker, claim_key, details, log_places, past_attempts, policy, "
      "tags, origin, payload_content_type, payload, stray FROM ff_exec_core, generate_series(1, 1000000) n");
  value(
      "INSERT INTO ff_exec_done SELECT created_at_ms + n, retain_until_ms, started_at_ms, last_mutation_at_ms, "
      "version, current_lease_epoch, queue_id, priority, state, total_attempt_count, slot, "
      "decode(lpad(to_hex(n), 32, '0') || '0001', 'hex'), lease, worker, details, log_places, past_attempts, policy, tags, origin, "
      "payload_content_type, payload, result_content_type, result, stray FROM ff_exec_done, generate_series(1, 100000) "
      "n; "
      "INSERT INTO ff_event_log SELECT event_id + n * 1048576::bigint, latest_at_ms, slot, ARRAY[decode(lpad(to_hex(n), 32, '0') "
      "|| '0001', 'hex')], leases[1:1], shards[1:1], shapes[1:1], NULL, NULL, occurred_at_ms, lease_epochs, queue_ids, whats, "
      "attempt_indexes, workers, reasons, extras FROM ff_event_log, generate_series(1, 100000) n WHERE slot > 0; "
      "INSERT INTO ff_exec_tag SELECT created_at_ms + n, tag_key, tag_value, execution_id FROM ff_exec_tag, "
      "generate_series(1, 100000) n; INSERT INTO ff_idempotency SELECT n::text, 'default', 'create', 0, NULL, '', n, "
      "n, 1 FROM generate_series(1, 100000) n; "
      "ANALYZE");
  EXPECT_THAT(full_scans(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace ff::test
