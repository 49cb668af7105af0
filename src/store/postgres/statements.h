#pragma once

// Every statement of the Postgres store.

#include "store/postgres/connection.h"

namespace ff::store::postgres::sql {

#define FF_NOW "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"

// The columns of an execution, in the order in which rows.cc reads them.
#define FF_CORE                                                                                                    \
  "execution_id, queue_id, priority, created_at_ms, candidate, due_at_ms, bucket, state, total_attempt_count, "    \
  "current_lease_epoch, lease, worker, claim_key, started_at_ms, last_mutation_at_ms, version, details, tags, "    \
  "NULL::bigint AS retain_until_ms, NULL::integer AS slot, log_places, ctid"
#define FF_DONE                                                                                                    \
  "execution_id, queue_id, priority, created_at_ms, NULL::boolean AS candidate, NULL::bigint AS due_at_ms, "       \
  "NULL::smallint AS bucket, state, total_attempt_count, current_lease_epoch, lease, worker, "                     \
  "NULL::text COLLATE \"C\" AS claim_key, started_at_ms, last_mutation_at_ms, version, details, tags, "            \
  "retain_until_ms, slot, log_places, NULL::tid AS ctid"
// Executions that have ended and whose retention is over are gone, whether or not their row still stands.
#define FF_KEPT "retain_until_ms > coalesce($2::bigint, " FF_NOW ")"
// A batch may still look at those that the trimmer is about to remove; see kRetireGraceMs.
#define FF_LOADABLE(now) "(slot = -1 OR retain_until_ms > coalesce(" now "::bigint, " FF_NOW ") - 120000)"

inline constexpr Sql kBegin{"begin", "BEGIN"};
inline constexpr Sql kBeginSnapshot{"begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"};
inline constexpr Sql kCommit{"commit", "COMMIT"};
inline constexpr Sql kRollback{"rollback", "ROLLBACK"};
/// The clock, and the number of the transaction: with it one can ask later whether it was committed.
inline constexpr Sql kClock{
    "clock", "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, pg_current_xact_id()::text"};
inline constexpr Sql kClockOnly{"clock_only",
                                "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, "
                                "pg_current_xact_id_if_assigned()::text"};
/// For a batch that was decided by a time that was not read but reckoned: it must be about right.
inline constexpr Sql kClockCheck{
    "clock_check",
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, pg_current_xact_id()::text, "
    "ff_expect(abs(extract(epoch FROM clock_timestamp()) * 1000 - $1::bigint) < $2::bigint)"};
inline constexpr Sql kXactStatus{"xact_status", "SELECT pg_xact_status($1::text::xid8)"};
/// Whether that transaction wrote one of these executions, or one of the latest events.
inline constexpr Sql kWrittenBy{
    "written_by",
    "SELECT EXISTS (SELECT FROM ff_exec_core WHERE execution_id = ANY($1::bytea[]) AND xmin::text = $2::text) OR "
    "EXISTS (SELECT FROM ff_exec_done WHERE execution_id = ANY($1::bytea[]) AND xmin::text = $2::text) OR "
    "EXISTS (SELECT FROM ff_event_log WHERE event_id > (SELECT last_value - 10485760000 FROM ff_event_block) AND "
    "xmin::text = $2::text AND execution_ids && $1::bytea[])"};
inline constexpr Sql kProcessRuns{"process_runs",
                                  "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1::text::integer)"};
inline constexpr Sql kAnyMade{
    "any_made", "SELECT EXISTS (SELECT FROM ff_exec_core WHERE execution_id = ANY($1::bytea[])) OR "
                "EXISTS (SELECT FROM ff_exec_done WHERE execution_id = ANY($1::bytea[]))"};
inline constexpr Sql kAnyAsBefore{
    "any_as_before",
    "SELECT EXISTS (SELECT FROM ff_exec_core c, unnest($1::bytea[], $2::bigint[]) AS n(execution_id, version) WHERE "
    "c.execution_id = ANY($1::bytea[]) AND c.execution_id = n.execution_id AND c.version = n.version)"};

// ---- loading ------------------------------------------------------------------------------------------------------

inline constexpr Sql kLoadCore{"load_core",
                               "SELECT " FF_CORE " FROM ff_exec_core WHERE execution_id = ANY($1::bytea[]) "
                               "ORDER BY execution_id FOR NO KEY UPDATE"};
inline constexpr Sql kLoadDone{"load_done",
                               "SELECT " FF_DONE " FROM ff_exec_done WHERE execution_id = ANY($1::bytea[]) AND "
                               FF_LOADABLE("$2") " ORDER BY execution_id FOR NO KEY UPDATE"};
inline constexpr Sql kLookAtAll{"look_at_all", "SELECT " FF_CORE
                                               " FROM ff_exec_core WHERE execution_id = ANY($1::bytea[]) UNION ALL "
                                               "SELECT " FF_DONE
                                               " FROM ff_exec_done WHERE execution_id = ANY($1::bytea[]) AND " FF_KEPT};
inline constexpr Sql kInfos{
    "infos",
    "SELECT execution_id, policy, origin, payload_content_type, octet_length(payload), NULL::bytea FROM ff_exec_core "
    "WHERE execution_id = ANY($1::bytea[]) UNION ALL "
    "SELECT execution_id, policy, origin, payload_content_type, octet_length(payload), NULL::bytea FROM ff_exec_done "
    "WHERE execution_id = ANY($1::bytea[]) AND " FF_LOADABLE("$2")};
inline constexpr Sql kPayloads{
    "payloads",
    "SELECT execution_id, policy, origin, payload_content_type, octet_length(payload), payload FROM ff_exec_core "
    "WHERE execution_id = ANY($1::bytea[]) UNION ALL "
    "SELECT execution_id, policy, origin, payload_content_type, octet_length(payload), payload FROM ff_exec_done "
    "WHERE execution_id = ANY($1::bytea[]) AND " FF_LOADABLE("$2")};
inline constexpr Sql kPastAttempts{
    "past_attempts",
    "SELECT execution_id, past_attempts FROM ff_exec_core WHERE execution_id = ANY($1::bytea[]) UNION ALL "
    "SELECT execution_id, past_attempts FROM ff_exec_done WHERE execution_id = ANY($1::bytea[]) AND " FF_LOADABLE(
        "$2")};

// ---- queues and claims --------------------------------------------------------------------------------------------

#define FF_QUEUE "queue_id, lane_id, namespace, execution_kind, required_capabilities"
inline constexpr Sql kQueueById{"queue_by_id", "SELECT " FF_QUEUE " FROM ff_queue WHERE queue_id = $1::integer"};
inline constexpr Sql kQueueFind{"queue_find",
                                "SELECT queue_id FROM ff_queue WHERE lane_id = $1::text AND namespace = $2::text AND "
                                "execution_kind = $3::text AND required_capabilities = $4::text"};
inline constexpr Sql kQueueInsert{
    "queue_insert",
    "INSERT INTO ff_queue (lane_id, namespace, execution_kind, required_capabilities, queue_class) "
    "VALUES ($1::text, $2::text, $3::text, $4::text, $5::text) ON CONFLICT DO NOTHING"};

#define FF_QUEUE_ORDER "ORDER BY priority DESC, created_at_ms, execution_id"
// One of the ranges that a search of a queue goes through, in order; see places.h.
#define FF_IN_RANGE(high, low, from)                                                                                  \
  "candidate AND priority <= (" high "::integer[])[r] AND priority >= (" low "::integer[])[r] AND "                    \
  "created_at_ms >= (" from "::bigint[])[r]"
#define FF_TAKE(columns)                                                                                              \
  "SELECT c.*, w.ord FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) WITH ORDINALITY AS "       \
  "w(queue_id, n, first, last, ord) CROSS JOIN LATERAL (SELECT x.* FROM generate_series(w.first, w.last) AS r CROSS "  \
  "JOIN LATERAL (SELECT " columns " FROM ff_exec_core WHERE queue_id = w.queue_id AND " FF_IN_RANGE(                   \
      "$5", "$6", "$7") " " FF_QUEUE_ORDER " LIMIT w.n FOR NO KEY UPDATE SKIP LOCKED) x LIMIT w.n) c"
#define FF_TASK FF_CORE ", policy, origin, payload_content_type, octet_length(payload), payload"
inline constexpr Sql kTake{"take", FF_TAKE(FF_TASK)};
/// For work that this process has submitted itself, and knows; see new_work.h.
#define FF_KEYS "execution_id, xmin, priority, created_at_ms, ctid"
inline constexpr Sql kTakeKeys{"take_keys", FF_TAKE(FF_KEYS)};
// One range of one queue, as most takes are, without what several need.
#define FF_TAKE_OF_RANGE(columns)                                                                                     \
  "SELECT " columns ", 1::bigint FROM ff_exec_core WHERE queue_id = $1::integer AND candidate AND priority <= "        \
  "$3::integer AND priority >= $4::integer AND created_at_ms >= $5::bigint " FF_QUEUE_ORDER                           \
  " LIMIT $2::bigint FOR NO KEY UPDATE SKIP LOCKED"
inline constexpr Sql kTakeOfRange{"take_of_range", FF_TAKE_OF_RANGE(FF_TASK)};
inline constexpr Sql kTakeKeysOfRange{"take_keys_of_range", FF_TAKE_OF_RANGE(FF_KEYS)};
/// The rest of rows that were taken, and are locked.
inline constexpr Sql kTaken{"taken", "SELECT " FF_TASK " FROM ff_exec_core WHERE ctid = ANY($1::tid[])"};
inline constexpr Sql kClaimedUnder{
    "claimed_under", "SELECT execution_id FROM ff_exec_core WHERE claim_key = $1::text AND claim_key IS NOT NULL"};

// ---- saving -------------------------------------------------------------------------------------------------------

// Rows that one batch writes differ in few columns. What several have in common stands once, as a shape: each row names
// the number of its shape.
#define FF_OF_ITS_SHAPE "ON s.number = r.shape"
// The events of a batch stand soon after the last block that was drawn before it was written. Where those of an execution
// stand is kept with it: added to what it has (1), or instead of that (2), which then stands beside one of its events.
#define FF_LOG_PLACE "(SELECT int8send(last_value) FROM ff_event_block)"
#define FF_LOG_PLACES(of)                                                                                             \
  "CASE n.logs WHEN 1 THEN coalesce(" of ".log_places, '') || " FF_LOG_PLACE " WHEN 2 THEN " FF_LOG_PLACE " ELSE " of    \
  ".log_places END"

inline constexpr Sql kInsertCore{
    "insert_core",
    "INSERT INTO ff_exec_core (execution_id, payload, created_at_ms, due_at_ms, started_at_ms, last_mutation_at_ms, "
    "version, current_lease_epoch, queue_id, priority, state, total_attempt_count, bucket, candidate, stray, lease, "
    "worker, claim_key, details, policy, tags, origin, payload_content_type, log_places) "
    "SELECT r.execution_id, r.payload, s.a, s.b, s.c, s.d, s.e, s.f, s.g, s.h, s.i, s.j, s.k, s.l, s.m, s.n, s.o, s.p, "
    "s.q, s.t, s.u, s.v, s.w, CASE WHEN s.x THEN " FF_LOG_PLACE " END FROM "
    "unnest($1::bytea[], $2::bytea[], $3::integer[]) AS r(execution_id, payload, shape) JOIN unnest($4::bigint[], "
    "$5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::integer[], $11::integer[], "
    "$12::integer[], $13::integer[], $14::smallint[], $15::boolean[], $16::boolean[], $17::bytea[], $18::text[], "
    "$19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::boolean[]) WITH ORDINALITY AS "
    "s(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, t, u, v, w, x, number) " FF_OF_ITS_SHAPE};

// What changes in a row, live or ended.
#define FF_CHANGED_LIVE(array, name)                                                                                  \
  "(SELECT r.*, s.* FROM unnest($1::bytea[], $2::bytea[], $3::integer[]" array ") WITH ORDINALITY AS "                 \
  "r(execution_id, lease, shape" name ", ord) JOIN unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], "    \
  "$8::bigint[], $9::bigint[], $10::integer[], $11::integer[], $12::integer[], $13::integer[], $14::smallint[], "      \
  "$15::smallint[], $16::boolean[], $17::text[], $18::text[], $19::text[]) WITH ORDINALITY AS s(due_at_ms, "           \
  "started_at_ms, last_mutation_at_ms, version, current_lease_epoch, from_version, priority, state, "                  \
  "total_attempt_count, from_slot, bucket, logs, candidate, worker, claim_key, details, number) " FF_OF_ITS_SHAPE ") n"
#define FF_CHANGED_ENDED(array, name)                                                                                 \
  "(SELECT r.*, s.* FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::integer[]" array ") AS "                    \
  "r(execution_id, lease, result, shape" name ") JOIN unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], " \
  "$9::bigint[], $10::bigint[], $11::integer[], $12::integer[], $13::integer[], $14::integer[], $15::integer[], "      \
  "$16::smallint[], $17::boolean[], $18::text[], $19::text[], $20::text[]) WITH ORDINALITY AS s(retain_until_ms, "      \
  "started_at_ms, last_mutation_at_ms, version, current_lease_epoch, from_version, priority, state, "                  \
  "total_attempt_count, slot, from_slot, logs, keeps_result, worker, details, result_content_type, number) "           \
  FF_OF_ITS_SHAPE ") n"
// The row that `n` knows by its place, if it still has that version. The place is what they are joined by: with the id, a
// planner that takes the table for empty would read the whole index of ids.
#define FF_AT_ITS_PLACE(tids)                                                                                         \
  "c.ctid = ANY(" tids "::tid[]) AND c.ctid = n.tid AND (c.execution_id = n.execution_id) IS TRUE AND "                \
  "c.version = n.from_version"
#define FF_ONCE "created_at_ms, queue_id, past_attempts, policy, tags, origin, payload_content_type, payload, stray"

/// Rows that are known by their places. Answers where they stand now.
#define FF_UPDATE_CORE                                                                                                \
  "UPDATE ff_exec_core c SET due_at_ms = n.due_at_ms, started_at_ms = n.started_at_ms, "                               \
  "last_mutation_at_ms = n.last_mutation_at_ms, version = n.version, current_lease_epoch = n.current_lease_epoch, "    \
  "priority = n.priority, state = n.state, total_attempt_count = n.total_attempt_count, bucket = n.bucket, "           \
  "candidate = n.candidate, lease = n.lease, worker = n.worker, claim_key = n.claim_key, details = n.details, "        \
  "log_places = " FF_LOG_PLACES("c") " FROM " FF_CHANGED_LIVE(", $20::tid[]", ", tid") " WHERE " FF_AT_ITS_PLACE("$20") \
  " RETURNING n.ord, c.ctid"
inline constexpr Sql kUpdateLocked{"update_locked", FF_UPDATE_CORE};
/// The same where some were only remembered: one that has changed since is a conflict.
inline constexpr Sql kUpdateCore{
    "update_core", "WITH changed AS (" FF_UPDATE_CORE ") SELECT ord, ctid FROM changed WHERE "
                   "(SELECT ff_expect(count(*) = cardinality($1::bytea[])) FROM changed) IS NOT NULL"};
/// Whether what was only remembered, and is not written, is as it was.
inline constexpr Sql kStillSame{
    "still_same",
    "SELECT ff_expect((SELECT count(*) FROM ff_exec_core c, unnest($1::bytea[], $2::bigint[], $3::tid[]) AS "
    "n(execution_id, from_version, tid) WHERE " FF_AT_ITS_PLACE("$3") ") = cardinality($1::bytea[]))"};
/// The end of executions: their rows leave the hot table.
#define FF_MOVE_TO_DONE(ended, found)                                                                                 \
  "WITH gone AS (DELETE FROM ff_exec_core c USING " ended " WHERE " found " RETURNING n.execution_id, "                \
  "n.retain_until_ms, n.started_at_ms, n.last_mutation_at_ms, n.version, "                                             \
  "n.current_lease_epoch, n.priority, n.state, n.total_attempt_count, n.slot, n.lease, n.worker, n.details, "          \
  "n.result_content_type, n.result, " FF_LOG_PLACES("c") ", c.created_at_ms, c.queue_id, c.past_attempts, c.policy, "  \
  "c.tags, c.origin, c.payload_content_type, c.payload, c.stray), added AS ("                                          \
  "INSERT INTO ff_exec_done (execution_id, retain_until_ms, started_at_ms, last_mutation_at_ms, version, "             \
  "current_lease_epoch, priority, state, total_attempt_count, slot, lease, worker, details, result_content_type, "     \
  "result, log_places, " FF_ONCE ") SELECT * FROM gone RETURNING 1) "                                                  \
  "SELECT ff_expect(count(*) = cardinality($1::bytea[])) FROM added"
inline constexpr Sql kMoveToDone{"move_to_done",
                                 FF_MOVE_TO_DONE(FF_CHANGED_ENDED(", $21::tid[]", ", tid"), FF_AT_ITS_PLACE("$21"))};
/// The same for those that this batch has made.
inline constexpr Sql kMoveNewToDone{
    "move_new_to_done",
    FF_MOVE_TO_DONE(FF_CHANGED_ENDED("", ""),
                    "c.execution_id = n.execution_id AND c.execution_id = ANY($1::bytea[])")};
/// A replay: the row comes back without its result.
inline constexpr Sql kMoveToCore{
    "move_to_core",
    "WITH gone AS (DELETE FROM ff_exec_done d USING " FF_CHANGED_LIVE("", "")
    " WHERE d.execution_id = n.execution_id AND d.slot = n.from_slot AND d.execution_id = ANY($1::bytea[]) RETURNING "
    "n.execution_id, n.due_at_ms, n.started_at_ms, n.last_mutation_at_ms, n.version, "
    "n.current_lease_epoch, n.priority, n.state, n.total_attempt_count, n.bucket, n.candidate, n.lease, n.worker, "
    "n.claim_key, n.details, " FF_LOG_PLACES("d") ", d.created_at_ms, d.queue_id, d.past_attempts, d.policy, d.tags, "
    "d.origin, d.payload_content_type, d.payload, d.stray) INSERT INTO ff_exec_core (execution_id, due_at_ms, started_at_ms, "
    "last_mutation_at_ms, version, current_lease_epoch, "
    "priority, state, total_attempt_count, bucket, candidate, lease, worker, claim_key, details, log_places, " FF_ONCE
    ") SELECT * FROM gone"};
inline constexpr Sql kUpdateDone{
    "update_done",
    "UPDATE ff_exec_done d SET retain_until_ms = n.retain_until_ms, started_at_ms = n.started_at_ms, "
    "last_mutation_at_ms = n.last_mutation_at_ms, version = n.version, current_lease_epoch = n.current_lease_epoch, "
    "priority = n.priority, state = n.state, total_attempt_count = n.total_attempt_count, slot = n.slot, lease = "
    "n.lease, worker = n.worker, details = n.details, log_places = " FF_LOG_PLACES("d") ", "
    "result_content_type = CASE WHEN n.keeps_result THEN d.result_content_type ELSE n.result_content_type END, "
    "result = CASE WHEN n.keeps_result THEN d.result ELSE n.result END "
    "FROM " FF_CHANGED_ENDED("", "")
    " WHERE d.execution_id = n.execution_id AND d.slot = n.from_slot AND "
    "d.execution_id = ANY($1::bytea[])"};

/// An id that was free when the batch looked may have been used, and its execution ended, since. What an earlier
/// execution of that id has left behind, and only waits for its partition to be dropped, goes now: it would be in the
/// way.
inline constexpr Sql kStillFree{
    "still_free",
    "WITH stale AS (DELETE FROM ff_exec_done WHERE execution_id = ANY($1::bytea[]) AND NOT " FF_LOADABLE("$2")
    " RETURNING execution_id, created_at_ms, tags), untagged AS (DELETE FROM ff_exec_tag WHERE ctid = ANY(ARRAY(SELECT "
    "x.ctid FROM stale s CROSS JOIN LATERAL json_each_text(s.tags::json) e CROSS JOIN LATERAL (SELECT t.ctid FROM "
    "ff_exec_tag t WHERE t.tag_key = e.key AND t.tag_value = e.value AND t.created_at_ms = s.created_at_ms AND "
    "t.execution_id = s.execution_id LIMIT 1) x))) "
    "SELECT ff_expect(NOT EXISTS (SELECT FROM ff_exec_done WHERE execution_id = ANY($1::bytea[]) AND "
    FF_LOADABLE("$2") "))"};
inline constexpr Sql kDeleteCore{"delete_core", "DELETE FROM ff_exec_core WHERE execution_id = ANY($1::bytea[])"};
inline constexpr Sql kDeleteDone{
    "delete_done", "DELETE FROM ff_exec_done d USING unnest($1::bytea[], $2::integer[]) AS n(execution_id, slot) "
    "WHERE d.execution_id = n.execution_id AND d.slot = n.slot AND d.execution_id = ANY($1::bytea[])"};
inline constexpr Sql kTagsCore{
    "tags_core",
    "UPDATE ff_exec_core c SET tags = n.tags FROM unnest($1::bytea[], $2::text[]) AS n(execution_id, tags) "
    "WHERE c.execution_id = n.execution_id AND c.execution_id = ANY($1::bytea[])"};
inline constexpr Sql kTagsDone{
    "tags_done", "UPDATE ff_exec_done d SET tags = n.tags FROM unnest($1::bytea[], $2::text[], $3::integer[]) AS "
    "n(execution_id, tags, slot) WHERE d.execution_id = n.execution_id AND d.slot = n.slot AND "
    "d.execution_id = ANY($1::bytea[])"};
inline constexpr Sql kAttemptsCore{
    "attempts_core",
    "UPDATE ff_exec_core c SET past_attempts = concat(c.past_attempts, n.lines) FROM unnest($1::bytea[], $2::text[]) "
    "AS n(execution_id, lines) WHERE c.execution_id = n.execution_id AND c.execution_id = ANY($1::bytea[])"};
inline constexpr Sql kAttemptsDone{
    "attempts_done",
    "UPDATE ff_exec_done d SET past_attempts = concat(d.past_attempts, n.lines) FROM unnest($1::bytea[], $2::text[], "
    "$3::integer[]) AS n(execution_id, lines, slot) WHERE d.execution_id = n.execution_id AND d.slot = n.slot AND "
    "d.execution_id = ANY($1::bytea[])"};
inline constexpr Sql kTagInsert{
    "tag_insert",
    "INSERT INTO ff_exec_tag (tag_key, tag_value, created_at_ms, execution_id) SELECT * FROM unnest($1::text[], "
    "$2::text[], $3::bigint[], $4::bytea[]) ON CONFLICT DO NOTHING"};
inline constexpr Sql kTagDelete{
    "tag_delete",
    "DELETE FROM ff_exec_tag WHERE ctid = ANY(ARRAY(SELECT t.ctid FROM unnest($1::text[], $2::text[], $3::bigint[], "
    "$4::bytea[]) AS n(tag_key, tag_value, created_at_ms, execution_id) CROSS JOIN LATERAL (SELECT x.ctid FROM "
    "ff_exec_tag x WHERE x.tag_key = n.tag_key AND x.tag_value = n.tag_value AND x.created_at_ms = n.created_at_ms "
    "AND x.execution_id = n.execution_id LIMIT 1) t))"};

// ---- lanes and keys -----------------------------------------------------------------------------------------------

#define FF_LANE                                                                                                      \
  "lane_id, lane_state, fairness, namespace_weights, budget_ids, quota_id, registered_at_ms, registered_by, "        \
  "state_changed_at_ms, state_reason, version"
inline constexpr Sql kLanes{"lanes", "SELECT " FF_LANE " FROM ff_lane_registry WHERE lane_id = ANY($1::text[])"};
inline constexpr Sql kLanesAfter{"lanes_after", "SELECT " FF_LANE
                                 " FROM ff_lane_registry WHERE lane_id > $1::text ORDER BY lane_id LIMIT $2::bigint"};
inline constexpr Sql kLaneInsert{"lane_insert", "INSERT INTO ff_lane_registry (" FF_LANE
                                                ") VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, "
                                                "$6::text, $7::bigint, $8::text, $9::bigint, $10::text, $11::bigint)"};
/// Lanes are not locked when they are loaded: a version that was taken meanwhile is a conflict.
inline constexpr Sql kLaneUpdate{
    "lane_update",
    "WITH changed AS (UPDATE ff_lane_registry SET lane_state = $2::text, fairness = $3::text, "
    "namespace_weights = $4::text, budget_ids = $5::text, quota_id = $6::text, registered_at_ms = $7::bigint, "
    "registered_by = $8::text, state_changed_at_ms = $9::bigint, state_reason = $10::text, version = $11::bigint "
    "WHERE lane_id = $1::text AND version = $12::bigint RETURNING 1) SELECT ff_expect(EXISTS (SELECT FROM changed))"};

#define FF_KEY                                                                                                       \
  "idempotency_key, namespace, operation, partition_key, execution_id, outcome, created_at_ms, expires_at_ms, version"
inline constexpr Sql kKeys{
    "keys", "SELECT k.* FROM unnest($1::text[], $2::text[], $3::text[]) AS w(idempotency_key, namespace, operation) "
    "CROSS JOIN LATERAL (SELECT " FF_KEY " FROM ff_idempotency k WHERE k.idempotency_key = w.idempotency_key AND "
    "k.namespace = w.namespace AND k.operation = w.operation FOR NO KEY UPDATE) k"};
#define FF_KEY_ARRAYS                                                                                                \
  "unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bytea[], $6::bytea[], $7::bigint[], $8::bigint[], " \
  "$9::bigint[])"
inline constexpr Sql kKeyInsert{"key_insert", "INSERT INTO ff_idempotency (" FF_KEY ") SELECT * FROM " FF_KEY_ARRAYS};
inline constexpr Sql kKeyUpdate{
    "key_update",
    "INSERT INTO ff_idempotency (" FF_KEY ") SELECT * FROM " FF_KEY_ARRAYS " ON CONFLICT (idempotency_key, namespace, "
    "operation) DO UPDATE SET partition_key = excluded.partition_key, execution_id = excluded.execution_id, "
    "outcome = excluded.outcome, created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms, "
    "version = excluded.version"};
inline constexpr Sql kKeyDelete{
    "key_delete",
    "DELETE FROM ff_idempotency WHERE ctid = ANY(ARRAY(SELECT k.ctid FROM unnest($1::text[], $2::text[], $3::text[]) "
    "AS n(a, b, c) CROSS JOIN LATERAL (SELECT x.ctid FROM ff_idempotency x WHERE x.idempotency_key = n.a AND "
    "x.namespace = n.b AND x.operation = n.c LIMIT 1) k))"};
inline constexpr Sql kKeysExpired{
    "keys_expired", "SELECT namespace, operation, idempotency_key FROM ff_idempotency WHERE expires_at_ms < $1::bigint "
    "ORDER BY expires_at_ms LIMIT $2::bigint"};

// ---- documents ----------------------------------------------------------------------------------------------------

// By the number of their kind.
#define FF_EACH_DOCUMENT(name, statement)                                                                             \
  {{name "_worker", statement("ff_worker_registry")},                                                                 \
   {name "_worker_event", statement("ff_worker_registry_event")},                                                     \
   {name "_api_token", statement("ff_api_token")}}
#define FF_DOCUMENTS(table) \
  "SELECT record_key, record, due_at_ms, version FROM " table " WHERE record_key = ANY($1::text[])"
#define FF_DOCUMENTS_AFTER(table)                                                                                     \
  "SELECT record_key, record, due_at_ms, version FROM " table                                                         \
  " WHERE record_key > $1::text ORDER BY record_key LIMIT $2::bigint"
#define FF_DOCUMENTS_DUE(table)                                                                                       \
  "SELECT record_key FROM " table                                                                                     \
  " WHERE due_at_ms <= $1::bigint AND due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT $2::bigint"
// Documents are not locked when they are loaded: a version that was taken meanwhile is a conflict.
#define FF_DOCUMENT_INSERT(table)                                                                                     \
  "INSERT INTO " table " (record_key, record, due_at_ms, version) VALUES ($1::text, $2::text, $3::bigint, $4::bigint)"
#define FF_DOCUMENT_UPDATE(table)                                                                                     \
  "WITH changed AS (UPDATE " table " SET record = $2::text, due_at_ms = $3::bigint, version = $4::bigint WHERE "       \
  "record_key = $1::text AND version = $5::bigint RETURNING 1) SELECT ff_expect(EXISTS (SELECT FROM changed))"
#define FF_DOCUMENT_DELETE(table)                                                                                     \
  "WITH gone AS (DELETE FROM " table " WHERE record_key = $1::text AND version = $2::bigint RETURNING 1) "             \
  "SELECT ff_expect(EXISTS (SELECT FROM gone))"
inline constexpr Sql kDocuments[] = FF_EACH_DOCUMENT("documents", FF_DOCUMENTS);
inline constexpr Sql kDocumentsAfter[] = FF_EACH_DOCUMENT("documents_after", FF_DOCUMENTS_AFTER);
inline constexpr Sql kDocumentsDue[] = FF_EACH_DOCUMENT("documents_due", FF_DOCUMENTS_DUE);
inline constexpr Sql kDocumentInsert[] = FF_EACH_DOCUMENT("document_insert", FF_DOCUMENT_INSERT);
inline constexpr Sql kDocumentUpdate[] = FF_EACH_DOCUMENT("document_update", FF_DOCUMENT_UPDATE);
inline constexpr Sql kDocumentDelete[] = FF_EACH_DOCUMENT("document_delete", FF_DOCUMENT_DELETE);

// ---- events -------------------------------------------------------------------------------------------------------

/// All events that a batch writes to one partition are one row.
#define FF_EVENT_INSERT(block)                                                                                        \
  "INSERT INTO ff_event_log (event_id, slot, latest_at_ms, execution_ids, leases, shards, shapes, earlier, offsets, "  \
  "occurred_at_ms, lease_epochs, queue_ids, whats, attempt_indexes, workers, reasons, extras) SELECT "                \
  block "('ff_event_block'), $1::integer, $2::bigint, $3::bytea[], $4::bytea[], $5::integer[], $6::integer[], "        \
  "$7::bytea[], $8::integer[], $9::bigint[], $10::bigint[], $11::integer[], $12::integer[], $13::integer[], "         \
  "$14::text[], $15::text[], $16::text[]"
/// The first row of a batch draws the block, after the locks of its shards. Those are held to the end of the transaction:
/// whoever draws the next id of a shard does so after this commit is visible.
inline constexpr Sql kEventInsert{
    "event_insert",
    FF_EVENT_INSERT("nextval") " FROM (SELECT count(pg_advisory_xact_lock('ff_event_log'::regclass::oid::integer, s)) AS "
    "locks FROM unnest($17::integer[]) AS s) held WHERE held.locks > 0"};
inline constexpr Sql kEventInsertMore{"event_insert_more", FF_EVENT_INSERT("currval")};
/// The ids of a block, each second of them that of an event.
inline constexpr std::int64_t kEventBlock = 1'048'576;
inline constexpr std::size_t kBatchEventsMax = kEventBlock / 2 - 1;
// The events of rows `l` of the log, one by one.
#define FF_EVENT_ID "l.event_id + 2 * coalesce(r.number, r.ord)"
#define FF_EVENT                                                                                                     \
  FF_EVENT_ID " AS event_id, r.execution_id, s.queue_id, s.occurred_at_ms, s.what, s.attempt_index, s.lease_epoch, "  \
  "r.lease, s.worker, s.reason, s.extra, r.earlier"
#define FF_EVENTS_OF                                                                                                 \
  " CROSS JOIN LATERAL unnest(l.execution_ids, l.leases, l.shards, l.shapes, l.earlier, l.offsets) WITH ORDINALITY "  \
  "AS r(execution_id, lease, shard, shape, earlier, number, ord) CROSS JOIN LATERAL (SELECT l.occurred_at_ms[r.shape] AS "       \
  "occurred_at_ms, l.lease_epochs[r.shape] AS lease_epoch, l.queue_ids[r.shape] AS queue_id, l.whats[r.shape] AS "    \
  "what, l.attempt_indexes[r.shape] AS attempt_index, l.workers[r.shape] AS worker, l.reasons[r.shape] AS reason, "   \
  "l.extras[r.shape] AS extra) s "
#define FF_KEPT_FROM(slot) \
  "(SELECT CASE WHEN " slot " < 0 THEN audit_kept_from_ms ELSE kept_from_ms END FROM ff_event_head)"
#define FF_EVENT_KEPT "s.occurred_at_ms >= " FF_KEPT_FROM("l.slot")
// The first row behind a place that has events of the execution. While a batch was on its way from the place to its own
// block others may have drawn some, as many as sessions can wait for the same shards.
#define FF_ROW_BEHIND(slots)                                                                                          \
  "(SELECT event_id, slot FROM ff_event_log WHERE slot " slots " 0 AND event_id > p.place AND event_id <= p.place + "  \
  "4294967296 AND $1::bytea = ANY(execution_ids) ORDER BY event_id LIMIT 1)"
/// The events of an execution that stand behind these places.
inline constexpr Sql kHistory{
    "history",
    "SELECT " FF_EVENT " FROM (SELECT DISTINCT f.event_id, f.slot FROM unnest($2::bigint[]) AS p(place) CROSS JOIN "
    "LATERAL (" FF_ROW_BEHIND(">=") " UNION ALL " FF_ROW_BEHIND("<") ") f) k CROSS JOIN LATERAL (SELECT * FROM "
    "ff_event_log WHERE event_id = k.event_id AND slot = k.slot OFFSET 0) l" FF_EVENTS_OF
    "WHERE r.execution_id = $1::bytea AND (s.what & 31) <> 13 AND " FF_EVENT_KEPT
    " ORDER BY 1"};
inline constexpr Sql kKeptFrom{
    "kept_from", "UPDATE ff_event_head SET kept_from_ms = $1::bigint, audit_kept_from_ms = $2::bigint WHERE "
    "kept_from_ms < $1::bigint OR audit_kept_from_ms < $2::bigint"};

}  // namespace ff::store::postgres::sql
