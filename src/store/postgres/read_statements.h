#pragma once

// The statements of readers; those of sessions stand in statements.h.

#include "store/postgres/statements.h"

namespace ff::store::postgres::sql {

inline constexpr Sql kNow{"now", "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"};
inline constexpr Sql kFind{
    "find",
    "SELECT " FF_CORE ", policy, origin, payload_content_type, octet_length(payload), NULL::text, NULL::integer "
    "FROM ff_exec_core WHERE execution_id = $1::bytea UNION ALL "
    "SELECT " FF_DONE ", policy, origin, payload_content_type, octet_length(payload), result_content_type, "
    "octet_length(result) FROM ff_exec_done WHERE execution_id = $1::bytea AND " FF_KEPT};
inline constexpr Sql kPayloadOf{
    "payload_of",
    "SELECT payload_content_type, payload FROM ff_exec_core WHERE execution_id = $1::bytea UNION ALL "
    "SELECT payload_content_type, payload FROM ff_exec_done WHERE execution_id = $1::bytea AND " FF_KEPT};
inline constexpr Sql kResultOf{
    "result_of",
    "SELECT NULL::text, NULL::bytea FROM ff_exec_core WHERE execution_id = $1::bytea UNION ALL "
    "SELECT result_content_type, result FROM ff_exec_done WHERE execution_id = $1::bytea AND " FF_KEPT};
inline constexpr Sql kAttemptsOf{
    "attempts_of",
    "SELECT " FF_CORE ", past_attempts FROM ff_exec_core WHERE execution_id = $1::bytea UNION ALL "
    "SELECT " FF_DONE ", past_attempts FROM ff_exec_done WHERE execution_id = $1::bytea AND " FF_KEPT};
inline constexpr Sql kLogPlacesOf{
    "log_places_of",
    "SELECT log_places FROM ff_exec_core WHERE execution_id = $1::bytea UNION ALL "
    "SELECT log_places FROM ff_exec_done WHERE execution_id = $1::bytea AND " FF_KEPT};

// ---- lists --------------------------------------------------------------------------------------------------------

// Each table gives its first rows in order; the planner merges partitions, but not tables. Strays stand in an index by
// time. The others are found by their ids, whose times (`FF_TIME_OF`) and times of creation are less than `FF_NEAR` apart:
// as many of them as are wanted, in the order of their ids from $5 on, tell how far to look for all that may belong
// among the first.
#define FF_NEAR "100"
#define FF_TIME_OF(id) "('x' || encode(substring(" id " FROM 1 FOR 6), 'hex'))::bit(48)::bigint"
#define FF_FROM_TIME(ms) "substring(int8send(greatest(0, " ms ")) FROM 3 FOR 6)"
#define FF_STRAYS(columns, table, kept, comparison, direction)                                                        \
  "(SELECT " columns " FROM " table " WHERE stray AND (created_at_ms, execution_id) " comparison                       \
  " ($3::bigint, $1::bytea) AND " kept " ORDER BY created_at_ms " direction ", execution_id " direction                \
  " LIMIT $4::bigint)"
#define FF_PROMPT(table, kept, comparison)                                                                            \
  " FROM " table " WHERE stray IS NULL AND (created_at_ms, execution_id) " comparison " ($3::bigint, $1::bytea) AND "  \
  kept " AND "
#define FF_NEWEST(columns, table, kept)                                                                               \
  FF_STRAYS(columns, table, kept, "<", "DESC")                                                                        \
  " UNION ALL (SELECT " columns FF_PROMPT(table, kept, "<") "execution_id < $5::bytea AND execution_id >= "            \
  "coalesce((SELECT " FF_FROM_TIME(FF_TIME_OF("execution_id") " - 2 * " FF_NEAR) FF_PROMPT(table, kept, "<")           \
  "execution_id < $5::bytea ORDER BY execution_id DESC OFFSET $4::bigint - 1 LIMIT 1), ''::bytea))"
#define FF_OLDEST(columns, table, kept)                                                                               \
  FF_STRAYS(columns, table, kept, ">", "ASC")                                                                         \
  " UNION ALL (SELECT " columns FF_PROMPT(table, kept, ">") "execution_id >= $5::bytea AND execution_id < "            \
  "coalesce((SELECT " FF_FROM_TIME(FF_TIME_OF("execution_id") " + 2 * " FF_NEAR) FF_PROMPT(table, kept, ">")           \
  "execution_id >= $5::bytea ORDER BY execution_id OFFSET $4::bigint - 1 LIMIT 1), '\\xffffffffffffff'::bytea))"
inline constexpr Sql kListNewest{
    "list_newest",
    "SELECT * FROM (" FF_NEWEST(FF_CORE, "ff_exec_core", "true") " UNION ALL " FF_NEWEST(
        FF_DONE, "ff_exec_done", FF_KEPT) ") x ORDER BY created_at_ms DESC, execution_id DESC LIMIT $4::bigint"};
inline constexpr Sql kListOldest{
    "list_oldest",
    "SELECT * FROM (" FF_OLDEST(FF_CORE, "ff_exec_core", "true") " UNION ALL " FF_OLDEST(
        FF_DONE, "ff_exec_done", FF_KEPT) ") x ORDER BY created_at_ms, execution_id LIMIT $4::bigint"};
#define FF_RAISED(columns, table, kept)                                                                               \
  "(SELECT " columns " FROM " table " WHERE priority > 0 AND (-priority, created_at_ms, execution_id) > (-$5::integer, "\
  "$3::bigint, $1::bytea) AND " kept " ORDER BY -priority, created_at_ms, execution_id LIMIT $4::bigint)"
inline constexpr Sql kListRaised{
    "list_raised",
    "SELECT * FROM (" FF_RAISED(FF_CORE, "ff_exec_core", "true") " UNION ALL " FF_RAISED(
        FF_DONE, "ff_exec_done", FF_KEPT) ") x ORDER BY -priority, created_at_ms, execution_id LIMIT $4::bigint"};
#define FF_TAGGED(comparison, direction)                                                                              \
  "SELECT execution_id, created_at_ms FROM ff_exec_tag WHERE tag_key = $3::text AND tag_value = $4::text AND "         \
  "(created_at_ms, execution_id) " comparison " ($2::bigint, $1::bytea) ORDER BY created_at_ms " direction             \
  ", execution_id " direction " LIMIT $5::bigint"
inline constexpr Sql kTaggedNewest{"tagged_newest", FF_TAGGED("<", "DESC")};
inline constexpr Sql kTaggedOldest{"tagged_oldest", FF_TAGGED(">", "ASC")};
inline constexpr Sql kLeases{
    "leases",
    "SELECT " FF_CORE " FROM ff_exec_core WHERE due_at_ms <= $1::bigint AND due_at_ms IS NOT NULL AND bucket = 6 AND "
    "($2::text IS NULL OR split_part(worker, E'\\n', 2) = $2::text)"};
inline constexpr Sql kAllCore{"all_core", "SELECT " FF_CORE " FROM ff_exec_core WHERE execution_id > $1::bytea "
                              "ORDER BY execution_id LIMIT $2::bigint"};
inline constexpr Sql kAllDone{
    "all_done",
    "SELECT d.*, EXISTS (SELECT FROM ff_exec_core c WHERE c.execution_id = d.execution_id) FROM (SELECT " FF_DONE
    " FROM ff_exec_done WHERE (execution_id, slot) > ($1::bytea, $3::integer) AND " FF_KEPT
    " ORDER BY execution_id, slot LIMIT $4::bigint) d"};

// ---- lanes and queues ---------------------------------------------------------------------------------------------

inline constexpr Sql kCandidateCounts{
    "candidate_counts",
    "SELECT c.bucket, sum(c.n)::bigint FROM ff_queue q CROSS JOIN LATERAL (SELECT bucket, count(*) AS n FROM (SELECT "
    "bucket FROM ff_exec_core WHERE queue_id = q.queue_id AND candidate " FF_QUEUE_ORDER
    " LIMIT $2::bigint) x GROUP BY bucket) c WHERE q.lane_id = $1::text GROUP BY c.bucket"};
inline constexpr Sql kTerminalCount{
    "terminal_count",
    "SELECT coalesce(sum(t.n), 0)::bigint FROM ff_queue q CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT 1 FROM "
    "ff_exec_done WHERE queue_id = q.queue_id AND " FF_KEPT " LIMIT $3::bigint) x) t WHERE q.lane_id = $1::text"};
inline constexpr Sql kDueCount{
    "due_count",
    "SELECT x.bucket, count(*) FILTER (WHERE q.lane_id = $1::text), count(*) FROM (SELECT queue_id, bucket FROM "
    "ff_exec_core WHERE due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT $2::bigint) x JOIN ff_queue q USING (queue_id) "
    "GROUP BY x.bucket"};
/// Walks the priorities of each queue: the oldest member may have any of them.
inline constexpr Sql kOldestCandidate{
    "oldest_candidate",
    "WITH RECURSIVE p AS (SELECT q.queue_id, h.priority, h.created_at_ms, 1 AS depth FROM ff_queue q CROSS JOIN "
    "LATERAL "
    "(SELECT priority, created_at_ms FROM ff_exec_core WHERE queue_id = q.queue_id AND candidate " FF_QUEUE_ORDER
    " LIMIT 1) h WHERE q.lane_id = $1::text UNION ALL SELECT p.queue_id, h.priority, h.created_at_ms, p.depth + 1 FROM "
    "p CROSS JOIN LATERAL (SELECT priority, created_at_ms FROM ff_exec_core WHERE queue_id = p.queue_id AND candidate "
    "AND priority < p.priority " FF_QUEUE_ORDER " LIMIT 1) h WHERE p.depth < 64) SELECT min(created_at_ms) FROM p"};
inline constexpr Sql kAhead{
    "ahead",
    "SELECT (SELECT count(*) FROM (SELECT 1 FROM ff_exec_core WHERE queue_id = $1::integer AND candidate AND "
    "priority > $2::integer LIMIT $5::bigint) a) + (SELECT count(*) FROM (SELECT 1 FROM ff_exec_core WHERE "
    "queue_id = $1::integer AND candidate AND priority = $2::integer AND (created_at_ms, execution_id) < ($3::bigint, "
    "$4::bytea) LIMIT $5::bigint) b)"};
/// The queues of a lane, also those that are empty. The first range is the whole of a queue.
inline constexpr Sql kQueueHeads{
    "queue_heads",
    "SELECT q.queue_id, h.priority, h.created_at_ms, h.execution_id, h.n, (extract(epoch FROM clock_timestamp()) * "
    "1000)::bigint FROM ff_queue q LEFT JOIN unnest($3::integer[], $4::integer[], $5::integer[]) AS k(queue_id, first, "
    "last) ON k.queue_id = q.queue_id CROSS JOIN LATERAL (SELECT count(*) AS n, (array_agg(priority))[1] AS priority, "
    "(array_agg(created_at_ms))[1] AS created_at_ms, (array_agg(execution_id))[1] AS execution_id FROM (SELECT x.* "
    "FROM generate_series(coalesce(k.first, 1), coalesce(k.last, 1)) AS r CROSS JOIN LATERAL (SELECT priority, "
    "created_at_ms, execution_id FROM ff_exec_core WHERE queue_id = q.queue_id AND " FF_IN_RANGE(
        "$6", "$7", "$8") " " FF_QUEUE_ORDER " LIMIT $2::bigint) x LIMIT $2::bigint) m) h WHERE q.lane_id = $1::text"};

// ---- clocks and retention -----------------------------------------------------------------------------------------

inline constexpr Sql kDue{
    "due",
    "SELECT " FF_CORE " FROM ff_exec_core WHERE due_at_ms <= $1::bigint AND due_at_ms IS NOT NULL AND "
    "due_at_ms >= $2::bigint AND (due_at_ms > $2::bigint OR execution_id > $3::bytea) "
    "ORDER BY due_at_ms, execution_id LIMIT $4::bigint"};
inline constexpr Sql kNextDue{
    "next_due", "SELECT due_at_ms FROM ff_exec_core WHERE due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT 1"};
/// Large partitions are left out: they are dropped as a whole.
inline constexpr Sql kRetired{
    "retired",
    "SELECT d.* FROM ff_queue q CROSS JOIN LATERAL (SELECT " FF_DONE
    " FROM ff_exec_done WHERE queue_id = q.queue_id AND slot = ANY($1::integer[]) AND retain_until_ms <= $2::bigint AND " FF_LOADABLE("$2") " AND "
    "retain_until_ms >= $4::bigint AND (retain_until_ms > $4::bigint OR execution_id > $5::bytea) "
    "ORDER BY retain_until_ms, execution_id LIMIT $3::bigint) d "
    "ORDER BY d.retain_until_ms, d.execution_id LIMIT $3::bigint"};

// ---- everything of a kind -----------------------------------------------------------------------------------------

inline constexpr Sql kKeysAfter{
    "keys_after", "SELECT " FF_KEY
                  " FROM ff_idempotency WHERE (idempotency_key, namespace, operation) > ($1::text, $2::text, $3::text) "
                  "ORDER BY idempotency_key, namespace, operation LIMIT $4::bigint"};
/// The newest operator events before the one of that id; every row but the first has at least one.
inline constexpr Sql kAuditBefore{
    "audit_before",
    "SELECT " FF_EVENT " FROM (SELECT * FROM ff_event_log WHERE slot < 0 AND event_id < $1::bigint AND latest_at_ms >= "
    FF_KEPT_FROM("slot") " ORDER BY event_id DESC LIMIT $2::bigint + 1) l" FF_EVENTS_OF "WHERE " FF_EVENT_ID
    " < $1::bigint AND s.what >= 0 AND " FF_EVENT_KEPT " ORDER BY 1 DESC LIMIT $2::bigint"};
/// Events behind the one of that id; every batch but the first has at least one.
inline constexpr Sql kLogBehind{
    "log_behind",
    "SELECT " FF_EVENT " FROM (SELECT * FROM ff_event_log WHERE event_id > $1::bigint - 1048576 AND latest_at_ms >= "
    FF_KEPT_FROM("slot") " ORDER BY event_id FETCH FIRST ($2::bigint + 1) ROWS WITH TIES) l" FF_EVENTS_OF "WHERE " FF_EVENT_ID " > $1::bigint AND s.what >= 0 AND " FF_EVENT_KEPT
    " ORDER BY 1 LIMIT $2::bigint"};

}  // namespace ff::store::postgres::sql
