#include "store/sqlite/rows.h"

#include "core/json.h"

namespace ff::store::sqlite {
namespace {

ExecutionId id_at(const Statement& row, int uuid_column, int partition_column) {
  return {static_cast<std::uint16_t>(row.number(partition_column)), row.uuid(uuid_column)};
}

template <class T>
std::optional<T> as(std::optional<std::int64_t> number) {
  return number ? std::optional(static_cast<T>(*number)) : std::nullopt;
}

template <class T>
Result<T> from_json(std::string_view text, std::string_view record, std::string_view field) {
  T value{};
  core::JsonReader reader;
  auto parsed = core::parse_json(text);
  if (!parsed || !reader.read(*parsed, value)) return std::unexpected(core::corruption(record, field, text));
  return value;
}

}  // namespace

ExecutionId id_of_row(const Statement& row) { return id_at(row, 1, 2); }

Result<CoreRow> read_core(const Statement& row, Queues& queues) {
  CoreRow read;
  read.meta.seq = row.number(0);
  PackedRow packed;
  packed.id = id_of_row(row);
  auto queue = queues.get(row.number(3));
  if (!queue) return std::unexpected(queue.error());
  packed.priority = static_cast<std::int32_t>(row.number(4));
  packed.created_at_ms = row.number(5);
  packed.retain_until_ms = row.number_if(8);
  packed.lifecycle_phase = row.number(9);
  packed.ownership_state = row.number(10);
  packed.eligibility_state = row.number(11);
  packed.blocking_reason = row.number(12);
  packed.terminal_outcome = row.number(13);
  packed.attempt_state = row.number(14);
  packed.public_state = row.number(15);
  packed.total_attempt_count = static_cast<std::uint32_t>(row.number(16));
  packed.current_lease_epoch = static_cast<std::uint64_t>(row.number(17));
  packed.lease_id = row.uuid_if(18);
  packed.worker_id = row.text(19);
  packed.worker_instance_id = row.text(20);
  packed.lease_ttl_ms = as<std::uint32_t>(row.number_if(21));
  packed.lease_acquired_at_ms = row.number_if(22);
  packed.lease_expires_at_ms = row.number_if(23);
  if (!row.is_null(24)) packed.claim_key = row.text(24);
  packed.attempt_id = row.uuid_if(25);
  packed.attempt_type = row.number(26);
  packed.started_at_ms = row.number_if(27);
  packed.last_mutation_at_ms = row.number(28);
  packed.version = static_cast<std::uint64_t>(row.number(29));
  read.meta.last_event_id = row.number(30);
  read.meta.has_tags = row.number(31) != 0;
  packed.details = row.text(32);
  auto record = unpack(packed, std::move(*queue));
  if (!record) return std::unexpected(record.error());
  read.record = std::move(*record);
  return read;
}

void bind_core(Statement& s, const PackedRow& packed, const RowMeta& meta, std::int64_t queue_id) {
  if (meta.seq == 0)
    s.bind_null(1);
  else
    s.bind(1, meta.seq);
  s.bind(2, packed.id.uuid).bind(3, std::int64_t{packed.id.partition}).bind(4, queue_id);
  s.bind(5, std::int64_t{packed.priority}).bind(6, packed.created_at_ms);
  if (packed.candidate)
    s.bind(7, std::int64_t{1});
  else
    s.bind_null(7);
  s.bind(8, packed.due_at_ms).bind(9, packed.retain_until_ms);
  s.bind(10, packed.lifecycle_phase).bind(11, packed.ownership_state).bind(12, packed.eligibility_state);
  s.bind(13, packed.blocking_reason).bind(14, packed.terminal_outcome).bind(15, packed.attempt_state);
  s.bind(16, packed.public_state).bind(17, std::int64_t{packed.total_attempt_count});
  s.bind(18, static_cast<std::int64_t>(packed.current_lease_epoch));
  s.bind(19, packed.lease_id).bind_or_null(20, packed.worker_id).bind_or_null(21, packed.worker_instance_id);
  s.bind(22, as<std::int64_t>(packed.lease_ttl_ms ? std::optional<std::int64_t>(*packed.lease_ttl_ms) : std::nullopt));
  s.bind(23, packed.lease_acquired_at_ms).bind(24, packed.lease_expires_at_ms).bind(25, packed.claim_key);
  s.bind(26, packed.attempt_id);
  if (packed.attempt_id)
    s.bind(27, packed.attempt_type);
  else
    s.bind_null(27);
  s.bind(28, packed.started_at_ms).bind(29, packed.last_mutation_at_ms);
  s.bind(30, static_cast<std::int64_t>(packed.version));
  if (meta.last_event_id == 0)
    s.bind_null(31);
  else
    s.bind(31, meta.last_event_id);
  s.bind(32, std::int64_t{packed.has_tags}).bind_or_null(33, packed.details).bind(34, packed.bucket);
}

Result<Lane> read_lane(const Statement& row) {
  Lane lane;
  lane.lane_id = row.text(0);
  const auto state = core::enum_from<LaneState>(row.text(1));
  const auto fairness = core::enum_from<LaneFairness>(row.text(2));
  if (!state) return std::unexpected(core::corruption("ff_lane_registry", "lane_state", row.text(1)));
  if (!fairness) return std::unexpected(core::corruption("ff_lane_registry", "fairness", row.text(2)));
  lane.lane_state = *state;
  lane.fairness = *fairness;
  auto weights = from_json<std::map<std::string, std::uint32_t>>(row.text(3), "ff_lane_registry", "namespace_weights");
  auto budgets = from_json<std::vector<Uuid>>(row.text(4), "ff_lane_registry", "budget_ids");
  if (!weights) return std::unexpected(weights.error());
  if (!budgets) return std::unexpected(budgets.error());
  lane.namespace_weights = std::move(*weights);
  lane.budget_ids = std::move(*budgets);
  if (!row.is_null(5)) lane.quota_id = Uuid::parse(row.text(5));
  lane.registered_at_ms = row.number(6);
  lane.registered_by = row.text(7);
  lane.state_changed_at_ms = row.number_if(8);
  if (!row.is_null(9)) lane.state_reason = std::string(row.text(9));
  lane.version = static_cast<std::uint64_t>(row.number(10));
  return lane;
}

Result<void> write_lane(Statement& s, const Lane& lane) {
  const std::string weights = boost::json::serialize(core::to_value(lane.namespace_weights));
  const std::string budgets = boost::json::serialize(core::to_value(lane.budget_ids));
  const std::optional<std::string> quota = lane.quota_id ? std::optional(lane.quota_id->to_string()) : std::nullopt;
  s.bind(1, lane.lane_id).bind(2, core::name_of(lane.lane_state)).bind(3, core::name_of(lane.fairness));
  s.bind(4, weights).bind(5, budgets);
  s.bind(6, quota ? std::optional<std::string_view>(*quota) : std::nullopt);
  s.bind(7, lane.registered_at_ms).bind(8, lane.registered_by).bind(9, lane.state_changed_at_ms);
  s.bind(10, lane.state_reason ? std::optional<std::string_view>(*lane.state_reason) : std::nullopt);
  s.bind(11, static_cast<std::int64_t>(lane.version));
  return s.run();
}

Result<core::IdempotencyRecord> read_key(const Statement& row, const core::IdempotencyId& id) {
  core::IdempotencyRecord record;
  record.id = id;
  record.partition = static_cast<std::uint16_t>(row.number(0));
  if (!row.is_null(1)) record.execution_id = id_at(row, 1, 2);
  record.outcome = Bytes(row.blob(3));
  record.created_at_ms = row.number(4);
  record.expires_at_ms = row.number(5);
  record.version = static_cast<std::uint64_t>(row.number(6));
  return record;
}

Result<void> write_key(Statement& s, const core::IdempotencyRecord& record) {
  s.bind(1, record.id.idempotency_key).bind(2, record.id.namespace_).bind(3, record.id.operation);
  s.bind(4, std::int64_t{record.partition});
  if (record.execution_id)
    s.bind(5, record.execution_id->uuid).bind(6, std::int64_t{record.execution_id->partition});
  else
    s.bind_null(5).bind_null(6);
  s.bind_blob(7, record.outcome).bind(8, record.created_at_ms).bind(9, record.expires_at_ms);
  s.bind(10, static_cast<std::int64_t>(record.version));
  return s.run();
}

std::vector<EventRow> event_rows(const std::vector<core::EventRecord>& events) {
  std::vector<EventRow> rows;
  rows.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool pair = events[i].kind == EventKind::lease && i + 1 < events.size() &&
                      events[i + 1].kind == EventKind::completion && events[i].execution_id == events[i + 1].execution_id;
    if (pair)
      rows.push_back({&events[i], &events[i + 1]}), ++i;
    else
      rows.push_back({nullptr, &events[i]});
  }
  return rows;
}

Result<void> write_event(Statement& s, const EventRow& row, std::int64_t event_id, std::int64_t queue_id,
                         std::int64_t prev_event_id) {
  const core::EventRecord& event = *row.event;
  const core::EventRecord* lease = row.lease ? row.lease : event.kind == EventKind::lease ? &event : nullptr;
  const std::string tags = event.tags ? pack_tags(*event.tags) : std::string();
  s.bind(1, event_id).bind(2, std::int64_t{event.partition}).bind(3, static_cast<std::int64_t>(event.kind));
  if (event.execution_id)
    s.bind(4, event.execution_id->uuid);
  else
    s.bind_null(4);
  if (event.queue)
    s.bind(5, queue_id);
  else
    s.bind_null(5);
  s.bind(6, event.occurred_at_ms);
  if (prev_event_id == 0)
    s.bind_null(7);
  else
    s.bind(7, prev_event_id);
  if (event.kind == EventKind::completion) {
    s.bind(8, static_cast<std::int64_t>(event.outcome));
    if (event.cancelled_by)
      s.bind(9, static_cast<std::int64_t>(*event.cancelled_by));
    else
      s.bind_null(9);
  } else {
    s.bind_null(8).bind_null(9);
  }
  if (lease) {
    s.bind(10, static_cast<std::int64_t>(lease->lease_event)).bind(11, lease->lease_id);
    s.bind(12, static_cast<std::int64_t>(lease->lease_epoch)).bind(14, lease->attempt_id);
    s.bind(15, lease->worker_id).bind(16, lease->worker_instance_id).bind_or_null(17, lease->reason);
  } else {
    s.bind_null(10).bind_null(11).bind_null(12).bind_null(14).bind_null(15).bind_null(16).bind_null(17);
  }
  s.bind(13, as<std::int64_t>(event.attempt_index ? std::optional<std::int64_t>(*event.attempt_index) : std::nullopt));
  s.bind_or_null(18, tags).bind_or_null(19, event.queue ? std::string_view() : std::string_view(event.namespace_));
  s.bind_or_null(20, event.event_type).bind_or_null(21, event.actor).bind_or_null(22, event.details);
  return s.run();
}

Result<ReadEvents> read_events(const Statement& row, Queues& queues) {
  ReadEvents read;
  read.prev_event_id = row.number(6);
  core::EventRecord event;
  const auto kind = core::enum_from_number<EventKind>(row.number(2));
  if (!kind) return std::unexpected(core::corruption("ff_event", "kind", row.text(2)));
  event.kind = *kind;
  event.partition = static_cast<std::uint16_t>(row.number(1));
  if (!row.is_null(3)) event.execution_id = ExecutionId{event.partition, row.uuid(3)};
  if (!row.is_null(4)) {
    auto queue = queues.get(row.number(4));
    if (!queue) return std::unexpected(queue.error());
    event.queue = std::move(*queue);
  }
  event.occurred_at_ms = row.number(5);
  event.namespace_ = row.text(18);
  auto tags = unpack_tags(row.text(17));
  if (!tags) return std::unexpected(tags.error());
  event.tags = std::move(*tags);
  event.attempt_index = as<std::uint32_t>(row.number_if(12));
  if (!row.is_null(9)) {
    core::EventRecord lease = event;
    lease.kind = EventKind::lease;
    const auto type = core::enum_from_number<LeaseEventType>(row.number(9));
    if (!type) return std::unexpected(core::corruption("ff_event", "lease_event", row.text(9)));
    lease.lease_event = *type;
    lease.lease_id = row.uuid(10);
    lease.lease_epoch = static_cast<std::uint64_t>(row.number(11));
    lease.attempt_id = row.uuid(13);
    lease.worker_id = row.text(14);
    lease.worker_instance_id = row.text(15);
    lease.reason = row.text(16);
    read.events.push_back(core::to_event(lease, row.number(0) - (event.kind == EventKind::lease ? 0 : 1)));
    if (event.kind == EventKind::lease) return read;
  }
  if (event.kind == EventKind::completion) {
    const auto outcome = core::enum_from_number<TerminalOutcome>(row.number(7));
    if (!outcome) return std::unexpected(core::corruption("ff_event", "outcome", row.text(7)));
    event.outcome = *outcome;
    if (!row.is_null(8)) event.cancelled_by = core::enum_from_number<CancelSource>(row.number(8));
  }
  event.event_type = row.text(19);
  event.actor = row.text(20);
  event.details = row.text(21);
  read.events.push_back(core::to_event(event, row.number(0)));
  return read;
}

}  // namespace ff::store::sqlite
