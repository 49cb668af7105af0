#include "store/postgres/rows.h"

#include "core/json.h"

namespace ff::store::postgres {
namespace {

template <class T>
Result<T> from_json(std::string_view text, std::string_view record, std::string_view field) {
  T value{};
  core::JsonReader reader;
  auto parsed = core::parse_json(text);
  if (!parsed || !reader.read(*parsed, value)) return std::unexpected(core::corruption(record, field, text));
  return value;
}

/// With which an id begins.
constexpr std::size_t kTimeBytes = 6;
constexpr std::size_t kLogPlaceBytes = 8;

Params& text_if(Params& params, const std::optional<std::string>& text) {
  return text ? params.bytes(*text) : params.null();
}

}  // namespace

std::string_view unless_default(std::string_view content_type) {
  return content_type == kDefaultContentType ? std::string_view() : content_type;
}

std::string content_type_of(const Rows& rows, int row, int column) {
  return std::string(rows.is_null(row, column) ? kDefaultContentType : rows.text(row, column));
}

bool is_stray(const ExecutionId& id, TimeMs created_at_ms) {
  TimeMs made = 0;
  for (std::size_t i = 0; i < kTimeBytes; ++i) made = (made << 8) | id.uuid.bytes[i];
  return std::abs(created_at_ms - made) >= kNearMs;
}

std::string ids_from(TimeMs time) {
  constexpr TimeMs kEnd = TimeMs{1} << (8 * kTimeBytes);
  if (time >= kEnd) return std::string(kTimeBytes + 1, '\xff');
  std::string bytes;
  for (std::size_t i = kTimeBytes; i-- > 0;) bytes.push_back(static_cast<char>(std::max<TimeMs>(time, 0) >> (8 * i)));
  return bytes;
}

ExecutionId id_of_row(const Rows& rows, int row) { return id_from(rows.text(row, 0)); }

Result<CoreRow> read_core(const Rows& rows, int row, Queues& queues) {
  CoreRow read;
  PackedRow packed;
  packed.id = id_of_row(rows, row);
  auto queue = queues.get(static_cast<std::int32_t>(rows.number(row, 1)));
  if (!queue) return std::unexpected(queue.error());
  packed.priority = static_cast<std::int32_t>(rows.number(row, 2));
  packed.created_at_ms = rows.number(row, 3);
  packed.state = rows.number(row, 7);
  packed.total_attempt_count = static_cast<std::uint32_t>(rows.number(row, 8));
  packed.current_lease_epoch = static_cast<std::uint64_t>(rows.number(row, 9));
  packed.lease = rows.text(row, 10);
  packed.worker = rows.text(row, 11);
  if (!rows.is_null(row, 12)) packed.claim_key = rows.text(row, 12);
  packed.started_at_ms = rows.number_if(row, 13);
  packed.last_mutation_at_ms = rows.number(row, 14);
  packed.version = static_cast<std::uint64_t>(rows.number(row, 15));
  packed.details = rows.text(row, 16);
  packed.retain_until_ms = rows.number_if(row, 18);
  if (auto slot = rows.number_if(row, 19)) read.meta.slot = static_cast<std::int32_t>(*slot);
  read.meta.log_places = rows.text(row, 20);
  read.meta.log_place_count = read.meta.log_places.size() / kLogPlaceBytes;
  read.meta.tid = rows.text(row, 21);
  if (auto done = unpack(packed, std::move(*queue), read.record); !done) return std::unexpected(done.error());
  if (!rows.is_null(row, 17)) {
    auto tags = unpack_tags(rows.text(row, 17));
    if (!tags) return std::unexpected(tags.error());
    read.record.tags = std::move(*tags);
  }
  return read;
}

Result<std::vector<Attempt>> read_attempts(std::string_view lines) {
  std::vector<Attempt> attempts;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    auto attempt = unpack_attempt(lines.substr(0, end));
    if (!attempt) return std::unexpected(attempt.error());
    attempts.push_back(std::move(*attempt));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return attempts;
}

Result<Lane> read_lane(const Rows& rows, int row) {
  Lane lane;
  lane.lane_id = rows.text(row, 0);
  const auto state = core::enum_from<LaneState>(rows.text(row, 1));
  const auto fairness = core::enum_from<LaneFairness>(rows.text(row, 2));
  if (!state) return std::unexpected(core::corruption("ff_lane_registry", "lane_state", rows.text(row, 1)));
  if (!fairness) return std::unexpected(core::corruption("ff_lane_registry", "fairness", rows.text(row, 2)));
  lane.lane_state = *state;
  lane.fairness = *fairness;
  auto weights =
      from_json<std::map<std::string, std::uint32_t>>(rows.text(row, 3), "ff_lane_registry", "namespace_weights");
  auto budgets = from_json<std::vector<Uuid>>(rows.text(row, 4), "ff_lane_registry", "budget_ids");
  if (!weights) return std::unexpected(weights.error());
  if (!budgets) return std::unexpected(budgets.error());
  lane.namespace_weights = std::move(*weights);
  lane.budget_ids = std::move(*budgets);
  if (!rows.is_null(row, 5)) lane.quota_id = Uuid::parse(rows.text(row, 5));
  lane.registered_at_ms = rows.number(row, 6);
  lane.registered_by = rows.text(row, 7);
  lane.state_changed_at_ms = rows.number_if(row, 8);
  if (!rows.is_null(row, 9)) lane.state_reason = std::string(rows.text(row, 9));
  lane.version = static_cast<std::uint64_t>(rows.number(row, 10));
  return lane;
}

LaneTexts::LaneTexts(const Lane& of)
    : lane(of),
      weights(boost::json::serialize(core::to_value(of.namespace_weights))),
      budgets(boost::json::serialize(core::to_value(of.budget_ids))),
      quota(of.quota_id ? of.quota_id->to_string() : std::string()) {}

Params LaneTexts::params() const {
  Params params;
  params.bytes(lane.lane_id).bytes(core::name_of(lane.lane_state)).bytes(core::name_of(lane.fairness));
  params.bytes(weights).bytes(budgets);
  lane.quota_id ? params.bytes(quota) : params.null();
  params.number(lane.registered_at_ms).bytes(lane.registered_by).number(lane.state_changed_at_ms);
  text_if(params, lane.state_reason).number(static_cast<std::int64_t>(lane.version));
  return params;
}

core::IdempotencyRecord read_key(const Rows& rows, int row) {
  core::IdempotencyRecord record;
  record.id.idempotency_key = rows.text(row, 0);
  record.id.namespace_ = rows.text(row, 1);
  record.id.operation = rows.text(row, 2);
  record.partition = static_cast<std::uint16_t>(rows.number(row, 3));
  if (!rows.is_null(row, 4)) record.execution_id = id_from(rows.text(row, 4));
  record.outcome = Bytes(rows.text(row, 5));
  record.created_at_ms = rows.number(row, 6);
  record.expires_at_ms = rows.number(row, 7);
  record.version = static_cast<std::uint64_t>(rows.number(row, 8));
  return record;
}

core::Document read_document_row(const Rows& rows, int row, core::DocumentKind kind) {
  core::Document document;
  document.id = {kind, std::string(rows.text(row, 0))};
  document.body = rows.text(row, 1);
  document.due_at_ms = rows.number_if(row, 2);
  document.version = static_cast<std::uint64_t>(rows.number(row, 3));
  return document;
}

std::vector<std::int64_t> read_log_places(std::string_view bytes) {
  std::vector<std::int64_t> places;
  for (; bytes.size() >= kLogPlaceBytes; bytes.remove_prefix(kLogPlaceBytes)) {
    std::uint64_t place = 0;
    for (char byte : bytes.substr(0, kLogPlaceBytes)) place = (place << 8) | static_cast<std::uint8_t>(byte);
    places.push_back(static_cast<std::int64_t>(place));
  }
  return places;
}

Result<std::vector<Event>> read_events(const Rows& rows, int row, Queues& queues) {
  PackedEvent packed;
  packed.event_id = rows.number(row, 0);
  if (!rows.is_null(row, 1)) packed.execution_id = id_from(rows.text(row, 1));
  if (!rows.is_null(row, 2)) {
    auto queue = queues.get(static_cast<std::int32_t>(rows.number(row, 2)));
    if (!queue) return std::unexpected(queue.error());
    packed.queue = std::move(*queue);
  }
  packed.occurred_at_ms = rows.number(row, 3);
  packed.what = rows.number(row, 4);
  if (auto index = rows.number_if(row, 5)) packed.attempt_index = static_cast<std::uint32_t>(*index);
  packed.lease_epoch = static_cast<std::uint64_t>(rows.number(row, 6));
  packed.lease = rows.text(row, 7);
  packed.worker = rows.text(row, 8);
  packed.reason = rows.text(row, 9);
  packed.extra = rows.text(row, 10);
  return unpack_events(packed);
}

}  // namespace ff::store::postgres
