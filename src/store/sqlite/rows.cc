#include "store/sqlite/rows.h"

#include "core/ids.h"
#include "core/json.h"

namespace ff::store::sqlite {
namespace {

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

ExecutionId id_of_row(const Statement& row) { return id_from(row.blob(1)); }

Result<CoreRow> read_core(const Statement& row, Queues& queues) {
  CoreRow read;
  PackedRow packed;
  read.meta.seq = row.number(0);
  packed.id = id_of_row(row);
  auto queue = queues.get(row.number(2));
  if (!queue) return std::unexpected(queue.error());
  packed.priority = static_cast<std::int32_t>(row.number(3));
  packed.created_at_ms = row.number(4);
  packed.retain_until_ms = row.number_if(7);
  packed.state = row.number(9);
  packed.total_attempt_count = static_cast<std::uint32_t>(row.number(10));
  packed.current_lease_epoch = static_cast<std::uint64_t>(row.number(11));
  packed.lease = row.blob(12);
  packed.worker = row.text(13);
  if (!row.is_null(14)) packed.claim_key = row.text(14);
  packed.started_at_ms = row.number_if(15);
  packed.last_mutation_at_ms = row.number(16);
  packed.version = static_cast<std::uint64_t>(row.number(17));
  read.meta.last_event_id = row.number(18);
  read.meta.has_tags = get_bits(packed.state, kTagsBits) != 0;
  packed.details = row.text(19);
  if (auto done = unpack(packed, std::move(*queue), read.record); !done) return std::unexpected(done.error());
  return read;
}

std::string_view unless_default(std::string_view content_type) {
  return content_type == kDefaultContentType ? std::string_view() : content_type;
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
  if (!row.is_null(1)) record.execution_id = id_from(row.blob(1));
  record.outcome = Bytes(row.blob(2));
  record.created_at_ms = row.number(3);
  record.expires_at_ms = row.number(4);
  record.version = static_cast<std::uint64_t>(row.number(5));
  return record;
}

Result<void> write_key(Statement& s, const core::IdempotencyRecord& record) {
  const IdBytes id(record.execution_id.value_or(ExecutionId{}));
  s.bind(1, record.id.idempotency_key).bind(2, record.id.namespace_).bind(3, record.id.operation);
  s.bind(4, std::int64_t{record.partition});
  if (record.execution_id)
    s.bind_blob(5, id.view());
  else
    s.bind_null(5);
  s.bind_blob(6, record.outcome).bind(7, record.created_at_ms).bind(8, record.expires_at_ms);
  s.bind(9, static_cast<std::int64_t>(record.version));
  return s.run();
}

Result<ReadEvents> read_events(const Statement& row, Queues& queues) {
  ReadEvents read;
  read.prev_event_id = row.number(5);
  PackedEvent packed;
  packed.event_id = row.number(0);
  if (!row.is_null(1)) packed.execution_id = id_from(row.blob(1));
  if (!row.is_null(2)) {
    auto queue = queues.get(row.number(2));
    if (!queue) return std::unexpected(queue.error());
    packed.queue = std::move(*queue);
  }
  packed.occurred_at_ms = row.number(3);
  packed.what = row.number(4);
  packed.attempt_index = as<std::uint32_t>(row.number_if(6));
  packed.lease_epoch = static_cast<std::uint64_t>(row.number(7));
  packed.lease = row.blob(8);
  packed.worker = row.text(9);
  packed.reason = row.text(10);
  packed.extra = row.text(11);
  auto events = unpack_events(packed);
  if (!events) return std::unexpected(events.error());
  read.events = std::move(*events);
  return read;
}

}  // namespace ff::store::sqlite
