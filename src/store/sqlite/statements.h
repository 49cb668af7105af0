#pragma once

// Every statement of the SQLite store.

#include <string_view>

namespace ff::store::sqlite::sql {

// The columns of the hot row, in the order in which rows.cc reads and binds them.
#define FF_CORE_COLUMNS                                                                                          \
  "seq, execution_id, queue_id, priority, created_at_ms, candidate, due_at_ms, retain_until_ms, bucket, state, " \
  "total_attempt_count, current_lease_epoch, lease, worker, claim_key, started_at_ms, last_mutation_at_ms, "     \
  "version, last_event_id, details"

inline constexpr std::string_view kBegin = "BEGIN IMMEDIATE";
inline constexpr std::string_view kBeginRead = "BEGIN";
inline constexpr std::string_view kCommit = "COMMIT";
inline constexpr std::string_view kRollback = "ROLLBACK";

// ---- executions ----
inline constexpr std::string_view kCoreById = "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE execution_id = ?1";
inline constexpr std::string_view kCoreByIds =
    "SELECT " FF_CORE_COLUMNS " FROM ff_ids CROSS JOIN ff_exec_core ON execution_id = c0";
inline constexpr std::string_view kCoreInsert =
    "INSERT INTO ff_exec_core (" FF_CORE_COLUMNS ") SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, "
    "c14, c15, c16, c17, c18, c19 FROM ff_new_core";
inline constexpr std::string_view kCoreUpdate =
    "INSERT INTO ff_exec_core (" FF_CORE_COLUMNS ") SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, "
    "c14, c15, c16, c17, c18, c19 FROM ff_changed_core WHERE true ON CONFLICT (seq) DO UPDATE SET "
    "priority = excluded.priority, candidate = excluded.candidate, due_at_ms = excluded.due_at_ms, "
    "retain_until_ms = excluded.retain_until_ms, bucket = excluded.bucket, state = excluded.state, "
    "total_attempt_count = excluded.total_attempt_count, current_lease_epoch = excluded.current_lease_epoch, "
    "lease = excluded.lease, worker = excluded.worker, claim_key = excluded.claim_key, "
    "started_at_ms = excluded.started_at_ms, last_mutation_at_ms = excluded.last_mutation_at_ms, "
    "version = excluded.version, last_event_id = excluded.last_event_id, details = excluded.details";
inline constexpr std::string_view kLastSeq = "SELECT coalesce(max(seq), 0) FROM ff_exec_core";
inline constexpr std::string_view kCoreDelete = "DELETE FROM ff_exec_core WHERE seq = ?1";

inline constexpr std::string_view kInfoInsert =
    "INSERT INTO ff_exec_info (seq, policy, tags, origin, payload_content_type, payload) "
    "SELECT c0, c1, c2, c3, c4, c5 FROM ff_new_info";
inline constexpr std::string_view kInfoTags = "UPDATE ff_exec_info SET tags = ?2 WHERE seq = ?1";
inline constexpr std::string_view kTagsOf = "SELECT tags FROM ff_exec_info WHERE seq = ?1";
inline constexpr std::string_view kInfo =
    "SELECT policy, origin, payload_content_type, length(payload) FROM ff_exec_info WHERE seq = ?1";
inline constexpr std::string_view kInfoPayload =
    "SELECT policy, origin, payload_content_type, length(payload), payload FROM ff_exec_info WHERE seq = ?1";
inline constexpr std::string_view kInfoPayloads =
    "SELECT policy, origin, payload_content_type, length(payload), payload, seq FROM ff_seqs LEFT JOIN ff_exec_info ON "
    "seq = c0";
inline constexpr std::string_view kInfoDelete = "DELETE FROM ff_exec_info WHERE seq = ?1";

inline constexpr std::string_view kResultPut =
    "INSERT INTO ff_exec_result (seq, result_content_type, result) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (seq) DO UPDATE SET result_content_type = excluded.result_content_type, result = excluded.result";
inline constexpr std::string_view kResultDelete = "DELETE FROM ff_exec_result WHERE seq = ?1";
inline constexpr std::string_view kResult = "SELECT result_content_type, length(result), result FROM ff_exec_result WHERE seq = ?1";
inline constexpr std::string_view kResultSize =
    "SELECT result_content_type, length(result) FROM ff_exec_result WHERE seq = ?1";

inline constexpr std::string_view kAttemptPut =
    "INSERT INTO ff_attempt_past (seq, attempt_index, attempt) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (seq, attempt_index) DO UPDATE SET attempt = excluded.attempt";
inline constexpr std::string_view kAttempt = "SELECT attempt FROM ff_attempt_past WHERE seq = ?1 AND attempt_index = ?2";
inline constexpr std::string_view kAttemptsAfter =
    "SELECT attempt FROM ff_attempt_past WHERE seq = ?1 AND attempt_index >= ?2 ORDER BY attempt_index LIMIT ?3";
inline constexpr std::string_view kAttemptsDelete = "DELETE FROM ff_attempt_past WHERE seq = ?1";

inline constexpr std::string_view kTagInsert =
    "INSERT OR IGNORE INTO ff_exec_tag (tag_key, tag_value, created_at_ms, execution_id) VALUES (?1, ?2, ?3, ?4)";
inline constexpr std::string_view kTagDelete =
    "DELETE FROM ff_exec_tag WHERE tag_key = ?1 AND tag_value = ?2 AND created_at_ms = ?3 AND execution_id = ?4";

// ---- queues and claims ----
inline constexpr std::string_view kQueueById =
    "SELECT queue_id, lane_id, namespace, execution_kind, required_capabilities FROM ff_queue WHERE queue_id = ?1";
inline constexpr std::string_view kQueueFind =
    "SELECT queue_id FROM ff_queue WHERE lane_id = ?1 AND namespace = ?2 AND execution_kind = ?3 AND "
    "required_capabilities = ?4";
inline constexpr std::string_view kQueueInsert =
    "INSERT INTO ff_queue (lane_id, namespace, execution_kind, required_capabilities, queue_class) "
    "VALUES (?1, ?2, ?3, ?4, ?5) RETURNING queue_id";
inline constexpr std::string_view kQueuesOfLane =
    "SELECT queue_id, lane_id, namespace, execution_kind, required_capabilities FROM ff_queue WHERE lane_id = ?1";
inline constexpr std::string_view kQueueIds = "SELECT queue_id FROM ff_queue";

inline constexpr std::string_view kCandidates =
    "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE queue_id = ?1 AND candidate IS NOT NULL "
    "ORDER BY priority DESC, created_at_ms, execution_id";
inline constexpr std::string_view kCandidateHead =
    "SELECT priority, created_at_ms, execution_id FROM ff_exec_core WHERE queue_id = ?1 AND candidate IS "
    "NOT NULL ORDER BY priority DESC, created_at_ms, execution_id LIMIT 1";
inline constexpr std::string_view kCandidateCount =
    "SELECT count(*) FROM (SELECT 1 FROM ff_exec_core WHERE queue_id = ?1 AND candidate IS NOT NULL LIMIT ?2)";
inline constexpr std::string_view kCandidateOldest =
    "SELECT created_at_ms FROM ff_exec_core WHERE queue_id = ?1 AND candidate IS NOT NULL AND priority = ?2 "
    "ORDER BY created_at_ms LIMIT 1";
inline constexpr std::string_view kCandidateNextPriority =
    "SELECT priority FROM ff_exec_core WHERE queue_id = ?1 AND candidate IS NOT NULL AND priority < ?2 "
    "ORDER BY priority DESC LIMIT 1";
inline constexpr std::string_view kAheadHigher =
    "SELECT count(*) FROM (SELECT 1 FROM ff_exec_core WHERE queue_id = ?1 AND candidate IS NOT NULL AND priority > ?2 "
    "LIMIT ?3)";
inline constexpr std::string_view kAheadEqual =
    "SELECT count(*) FROM (SELECT 1 FROM ff_exec_core WHERE queue_id = ?1 AND candidate IS NOT NULL AND priority = ?2 AND "
    "(created_at_ms, execution_id) < (?3, ?4) LIMIT ?5)";
inline constexpr std::string_view kClaimedUnder =
    "SELECT execution_id FROM ff_exec_core WHERE claim_key = ?1 ORDER BY execution_id";

// ---- clocks, retention, lists ----
inline constexpr std::string_view kDue =
    "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE due_at_ms <= ?1 AND due_at_ms IS NOT NULL AND "
    "(due_at_ms, queue_id, bucket, seq) > (?2, ?3, ?4, ?5) ORDER BY due_at_ms, queue_id, bucket, seq";
inline constexpr std::string_view kNextDue =
    "SELECT due_at_ms FROM ff_exec_core WHERE due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT 1";
inline constexpr std::string_view kLeases =
    "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE due_at_ms <= ?1 AND due_at_ms IS NOT NULL AND bucket = 6";
inline constexpr std::string_view kDueCount =
    "SELECT queue_id, bucket, count(*) FROM (SELECT queue_id, bucket FROM ff_exec_core WHERE due_at_ms IS NOT NULL "
    "ORDER BY due_at_ms LIMIT ?1) GROUP BY queue_id, bucket";
inline constexpr std::string_view kRetired =
    "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE queue_id = ?1 AND retain_until_ms <= ?2 AND "
    "(retain_until_ms, seq) > (?3, ?4) ORDER BY retain_until_ms, seq";
inline constexpr std::string_view kTerminalCount =
    "SELECT count(*) FROM (SELECT 1 FROM ff_exec_core WHERE queue_id = ?1 AND retain_until_ms IS NOT NULL LIMIT ?2)";

inline constexpr std::string_view kListNewest =
    "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE (created_at_ms, execution_id) < (?1, ?2) "
    "ORDER BY created_at_ms DESC, execution_id DESC";
inline constexpr std::string_view kListOldest =
    "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE (created_at_ms, execution_id) > (?1, ?2) "
    "ORDER BY created_at_ms, execution_id";
inline constexpr std::string_view kListRaised =
    "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE priority > 0 AND priority = ?3 AND "
    "(created_at_ms, execution_id) > (?1, ?2) "
    "UNION ALL SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE priority > 0 AND priority < ?3 "
    "ORDER BY priority DESC, created_at_ms, execution_id";
inline constexpr std::string_view kTaggedNewest =
    "SELECT execution_id FROM ff_exec_tag WHERE tag_key = ?3 AND tag_value = ?4 AND "
    "(created_at_ms, execution_id) < (?1, ?2) "
    "ORDER BY created_at_ms DESC, execution_id DESC";
inline constexpr std::string_view kTaggedOldest =
    "SELECT execution_id FROM ff_exec_tag WHERE tag_key = ?3 AND tag_value = ?4 AND "
    "(created_at_ms, execution_id) > (?1, ?2) "
    "ORDER BY created_at_ms, execution_id";
inline constexpr std::string_view kAllCore = "SELECT " FF_CORE_COLUMNS " FROM ff_exec_core WHERE seq > ?1 ORDER BY seq LIMIT ?2";

// ---- lanes and keys ----
inline constexpr std::string_view kLane =
    "SELECT lane_id, lane_state, fairness, namespace_weights, budget_ids, quota_id, registered_at_ms, registered_by, "
    "state_changed_at_ms, state_reason, version FROM ff_lane_registry WHERE lane_id = ?1";
inline constexpr std::string_view kLanesAfter =
    "SELECT lane_id, lane_state, fairness, namespace_weights, budget_ids, quota_id, registered_at_ms, registered_by, "
    "state_changed_at_ms, state_reason, version FROM ff_lane_registry WHERE lane_id > ?1 ORDER BY lane_id LIMIT ?2";
inline constexpr std::string_view kLanePut =
    "INSERT INTO ff_lane_registry (lane_id, lane_state, fairness, namespace_weights, budget_ids, quota_id, "
    "registered_at_ms, registered_by, state_changed_at_ms, state_reason, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
    "?8, ?9, ?10, ?11) ON CONFLICT (lane_id) DO UPDATE SET lane_state = ?2, fairness = ?3, namespace_weights = ?4, "
    "budget_ids = ?5, quota_id = ?6, state_changed_at_ms = ?9, state_reason = ?10, version = ?11";
inline constexpr std::string_view kKey =
    "SELECT partition_key, execution_id, outcome, created_at_ms, expires_at_ms, version FROM "
    "ff_idempotency WHERE idempotency_key = ?1 AND namespace = ?2 AND operation = ?3";
inline constexpr std::string_view kKeyPut =
    "INSERT INTO ff_idempotency (idempotency_key, namespace, operation, partition_key, execution_id, outcome, "
    "created_at_ms, expires_at_ms, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
    "ON CONFLICT (idempotency_key, namespace, operation) DO UPDATE SET partition_key = ?4, execution_id = ?5, "
    "outcome = ?6, created_at_ms = ?7, expires_at_ms = ?8, version = ?9";
inline constexpr std::string_view kKeyDelete =
    "DELETE FROM ff_idempotency WHERE idempotency_key = ?1 AND namespace = ?2 AND operation = ?3";
inline constexpr std::string_view kKeysExpired =
    "SELECT namespace, operation, idempotency_key FROM ff_idempotency WHERE expires_at_ms < ?1 "
    "ORDER BY expires_at_ms LIMIT ?2";
inline constexpr std::string_view kKeysAfter =
    "SELECT partition_key, execution_id, outcome, created_at_ms, expires_at_ms, version, namespace, operation, "
    "idempotency_key FROM ff_idempotency WHERE (idempotency_key, namespace, operation) > (?1, ?2, ?3) "
    "ORDER BY idempotency_key, namespace, operation LIMIT ?4";

// ---- documents ----
// By the number of their kind.
#define FF_EACH_DOCUMENT(statement) \
  { statement("ff_worker_registry"), statement("ff_worker_registry_event"), statement("ff_api_token") }
#define FF_DOCUMENT(table) "SELECT record_key, record, due_at_ms, version FROM " table " WHERE record_key = ?1"
#define FF_DOCUMENTS(table)                                                                                   \
  "SELECT record_key, record, due_at_ms, version FROM " table " WHERE record_key > ?1 ORDER BY record_key LIMIT ?2"
#define FF_DOCUMENTS_DUE(table)                                                                               \
  "SELECT record_key FROM " table " WHERE due_at_ms <= ?1 AND due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT ?2"
#define FF_DOCUMENT_PUT(table)                                                                                \
  "INSERT INTO " table " (record_key, record, due_at_ms, version) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (record_key) " \
  "DO UPDATE SET record = ?2, due_at_ms = ?3, version = ?4"
#define FF_DOCUMENT_DELETE(table) "DELETE FROM " table " WHERE record_key = ?1"
inline constexpr std::string_view kDocument[] = FF_EACH_DOCUMENT(FF_DOCUMENT);
inline constexpr std::string_view kDocumentsAfter[] = FF_EACH_DOCUMENT(FF_DOCUMENTS);
inline constexpr std::string_view kDocumentsDue[] = FF_EACH_DOCUMENT(FF_DOCUMENTS_DUE);
inline constexpr std::string_view kDocumentPut[] = FF_EACH_DOCUMENT(FF_DOCUMENT_PUT);
inline constexpr std::string_view kDocumentDelete[] = FF_EACH_DOCUMENT(FF_DOCUMENT_DELETE);

// ---- events ----
#define FF_EVENT_COLUMNS                                                                                       \
  "event_id, execution_id, queue_id, occurred_at_ms, what, prev_event_id, attempt_index, lease_epoch, lease, " \
  "worker, reason, extra"
inline constexpr std::string_view kEventHead =
    "SELECT first_event_id, last_event_id, audit_event_id FROM ff_event_head WHERE shard = 0";
inline constexpr std::string_view kEventHeadSet = "UPDATE ff_event_head SET last_event_id = ?1 WHERE shard = 0";
inline constexpr std::string_view kEventFirstSet =
    "UPDATE ff_event_head SET first_event_id = ?1, audit_event_id = ?2 WHERE shard = 0";
inline constexpr std::string_view kEventInsert =
    "INSERT INTO ff_event (" FF_EVENT_COLUMNS ") SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11 FROM "
    "ff_new_events";
inline constexpr std::string_view kEvent = "SELECT " FF_EVENT_COLUMNS " FROM ff_event WHERE event_id = ?1";
inline constexpr std::string_view kOperatorEventsBefore =
    "SELECT " FF_EVENT_COLUMNS " FROM ff_event WHERE execution_id = ?1 AND what & 3 = 3 AND event_id < ?2 "
    "ORDER BY event_id DESC";
inline constexpr std::string_view kAuditBefore =
    "SELECT " FF_EVENT_COLUMNS " FROM ff_event WHERE what & 3 = 3 AND event_id < ?1 ORDER BY event_id DESC";
inline constexpr std::string_view kEventsFrom =
    "SELECT event_id, what & 3, occurred_at_ms FROM ff_event WHERE event_id >= ?1 ORDER BY event_id LIMIT ?2";
inline constexpr std::string_view kEventsAfter =
    "SELECT " FF_EVENT_COLUMNS " FROM ff_event WHERE event_id > ?1 ORDER BY event_id LIMIT ?2";
inline constexpr std::string_view kEventDelete = "DELETE FROM ff_event WHERE event_id = ?1";

// ---- verification ----
inline constexpr std::string_view kTagEntry =
    "SELECT 1 FROM ff_exec_tag WHERE tag_key = ?1 AND tag_value = ?2 AND created_at_ms = ?3 AND execution_id = ?4";
inline constexpr std::string_view kStrayTags =
    "SELECT t.execution_id, t.tag_key FROM ff_exec_tag t LEFT JOIN ff_exec_core c ON c.execution_id = t.execution_id "
    "AND c.created_at_ms = t.created_at_ms LEFT JOIN ff_exec_info i ON i.seq = c.seq WHERE i.tags IS NULL OR "
    "(json_valid(i.tags) AND json_extract(i.tags, '$.\"' || t.tag_key || '\"') IS NOT t.tag_value) LIMIT ?1";
inline constexpr std::string_view kStrayInfo =
    "SELECT seq FROM ff_exec_info p WHERE NOT EXISTS (SELECT 1 FROM ff_exec_core c WHERE c.seq = p.seq) LIMIT ?1";
inline constexpr std::string_view kStrayResults =
    "SELECT seq FROM ff_exec_result p WHERE NOT EXISTS (SELECT 1 FROM ff_exec_core c WHERE c.seq = p.seq) LIMIT ?1";
inline constexpr std::string_view kStrayAttempts =
    "SELECT seq FROM ff_attempt_past p WHERE NOT EXISTS (SELECT 1 FROM ff_exec_core c WHERE c.seq = p.seq) LIMIT ?1";

}  // namespace ff::store::sqlite::sql
