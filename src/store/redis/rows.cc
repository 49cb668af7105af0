#include "store/redis/rows.h"

#include "core/ids.h"
#include "core/json.h"
#include "core/policy.h"
#include "store/redis/layout.h"
#include "store/redis/packer.h"

#include <fmt/ranges.h>

#include <charconv>

namespace ff::store::redis {
namespace {

constexpr std::uint64_t kExecutionFormat = 1;
constexpr std::size_t kQueuesMax = 4'096;
constexpr std::string_view kDefaultContentType = "application/json";

Packer& optional_time(Packer& packer, const std::optional<TimeMs>& at) {
  packer.number(at ? 1 : 0);
  return at ? packer.signed_number(*at) : packer;
}
std::optional<TimeMs> optional_time(Unpacker& unpacker) {
  return unpacker.number() ? std::optional(unpacker.signed_number()) : std::nullopt;
}

/// Content types are stored only when they are not the usual one.
std::string_view unless_default(std::string_view content_type) {
  return content_type == kDefaultContentType ? std::string_view() : content_type;
}
std::string content_type_from(std::string_view stored) {
  return std::string(stored.empty() ? kDefaultContentType : stored);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

}  // namespace

std::string_view mark_of(std::string_view value) {
  return value.size() < kMarkBytes ? std::string_view() : value.substr(value.size() - kMarkBytes);
}

// ---- executions ---------------------------------------------------------------------------------------------------

std::string pack_execution(const core::ExecutionRecord& record, const std::optional<ResultType>& result,
                           const LastEvents& stored, const std::optional<EventEntries::Newest>& newest,
                           std::string_view mark) {
  PackBuffer buffer;
  const PackedRow row = pack(record, buffer);
  Packer packer;
  if (!newest) packer.raw(fmt::format_int(stored.any.entry).str());
  packer.raw(".").number(kExecutionFormat).number(newest ? newest->any.place : stored.any.place);
  // An operator's event of this commit stands so many entries before the last one; 0 is none, 1 an entry of the log.
  if (newest && newest->by_operator)
    packer.number(newest->any.entry - newest->by_operator->entry + 2).number(newest->by_operator->place);
  else if (stored.by_operator.entry > 0)
    packer.number(1).number(static_cast<std::uint64_t>(stored.by_operator.entry)).number(stored.by_operator.place);
  else
    packer.number(0);
  packer.number(row.version).signed_number(row.priority);
  packer.signed_number(row.created_at_ms).number(static_cast<std::uint64_t>(row.state)).number(row.total_attempt_count);
  packer.number(row.current_lease_epoch).signed_number(row.last_mutation_at_ms - row.created_at_ms);
  optional_time(packer, row.started_at_ms);
  optional_time(packer, row.retain_until_ms);
  packer.text(row.lease).text(row.worker).number(row.claim_key ? 1 : 0);
  if (row.claim_key) packer.text(*row.claim_key);
  packer.text(row.details).text(pack_queue(*record.queue));
  if (record.tags) packer.text(pack_tags(*record.tags));
  packer.number(result ? result->bytes + 1 : 0);
  if (result) packer.text(unless_default(result->content_type));
  return packer.raw(mark).take();
}

Result<std::optional<StoredExecution>> read_execution(const ExecutionId& id, const Value& value, QueueCache& queues) {
  if (value.is_nil()) return std::nullopt;
  auto bad = [] { return std::unexpected(core::corruption("ff_exec_core", "core", "unreadable")); };
  const std::string_view bytes = value.text();
  const std::size_t point = bytes.find('.');
  if (point == std::string_view::npos || bytes.size() < point + kMarkBytes) return bad();
  StoredExecution stored;
  EventPlace& last = stored.last_events.any;
  EventPlace& last_by_operator = stored.last_events.by_operator;
  std::from_chars(bytes.data(), bytes.data() + point, last.entry);
  Unpacker in(bytes.substr(point + 1, bytes.size() - point - 1 - kMarkBytes));
  if (in.number() != kExecutionFormat) return bad();
  last.place = static_cast<std::uint32_t>(in.number());
  if (const std::uint64_t named = in.number(); named > 0) {
    last_by_operator.entry =
        named == 1 ? static_cast<std::int64_t>(in.number()) : last.entry - static_cast<std::int64_t>(named - 2);
    last_by_operator.place = static_cast<std::uint32_t>(in.number());
  }
  PackedRow row;
  row.id = id;
  row.version = in.number();
  row.priority = static_cast<std::int32_t>(in.signed_number());
  row.created_at_ms = in.signed_number();
  row.state = static_cast<std::int64_t>(in.number());
  row.total_attempt_count = static_cast<std::uint32_t>(in.number());
  row.current_lease_epoch = in.number();
  row.last_mutation_at_ms = row.created_at_ms + in.signed_number();
  row.started_at_ms = optional_time(in);
  row.retain_until_ms = optional_time(in);
  row.lease = in.text();
  row.worker = in.text();
  if (in.number()) row.claim_key = in.text();
  row.details = in.text();
  const std::string_view queue_text = in.text();
  const std::string_view tags_text = get_bits(row.state, kTagsBits) ? in.text() : std::string_view();
  if (const std::uint64_t result_bytes = in.number(); result_bytes > 0)
    stored.result = ResultType{result_bytes - 1, content_type_from(in.text())};
  if (!in.complete()) return bad();
  auto queue = queues.get(queue_text);
  if (!queue) return std::unexpected(queue.error());
  if (auto done = unpack(row, std::move(*queue), stored.record); !done) return std::unexpected(done.error());
  if (get_bits(row.state, kTagsBits)) {
    auto tags = unpack_tags(tags_text);
    if (!tags) return std::unexpected(tags.error());
    stored.record.tags = std::move(*tags);
  }
  return std::optional(std::move(stored));
}

// Lanes, namespaces and kinds have no control bytes.
std::string pack_queue(const core::Queue& queue) {
  return fmt::format("{}\n{}\n{}\n{}", queue.lane_id, queue.namespace_, queue.execution_kind,
                     fmt::join(queue.required_capabilities, ","));
}

Result<core::QueueRef> unpack_queue(std::string_view text) {
  auto parts = split(text, '\n');
  if (parts.size() < 3 || parts.size() > 4) return std::unexpected(core::corruption("ff_exec_core", "queue", text));
  return core::make_queue(parts[0], parts[1], parts[2],
                          parts.size() == 4 ? split(parts[3], ',') : std::vector<std::string>());
}

Result<core::QueueRef> QueueCache::get(std::string_view text) {
  if (auto it = known_.find(text); it != known_.end()) return it->second;
  auto queue = unpack_queue(text);
  if (!queue) return queue;
  if (known_.size() >= kQueuesMax) known_.clear();
  known_.emplace(std::string(text), *queue);
  return queue;
}

std::string pack_data(const core::ExecutionInfo& info, const Bytes* payload) {
  Packer inner;
  inner.text(core::stored_policy(*info.policy)).text(pack_origin(info)).text(unless_default(info.payload_content_type));
  inner.number(info.payload_bytes ? *info.payload_bytes + 1 : 0);
  Packer packer;
  packer.text(inner.take()).number(payload ? 1 : 0);
  if (payload) packer.raw(*payload);
  return packer.take();
}

bool has_info(std::string_view data) {
  Unpacker unpacker(data);
  unpacker.text();
  return unpacker.good();
}

Result<core::ExecutionInfo> read_info(std::string_view data) {
  Unpacker outer(data);
  Unpacker unpacker(outer.text());
  const std::string_view policy = unpacker.text(), origin = unpacker.text(), content_type = unpacker.text();
  const std::uint64_t bytes = unpacker.number();
  if (!unpacker.complete()) return std::unexpected(core::corruption("ff_exec_info", "info", "unreadable"));
  auto info = unpack_info(policy, origin);
  if (!info) return info;
  info->payload_content_type = content_type_from(content_type);
  if (bytes > 0) info->payload_bytes = bytes - 1;
  return info;
}

std::optional<std::string_view> payload_of(std::string_view data) {
  Unpacker unpacker(data);
  unpacker.text();
  if (unpacker.number() == 0) return std::nullopt;
  return unpacker.rest();
}

std::string pack_result(const core::ResultPart& result) {
  return Packer().text(unless_default(result.result_content_type)).raw(*result.result).take();
}

Result<Blob> read_result(std::string_view value) {
  Unpacker unpacker(value);
  std::string content_type = content_type_from(unpacker.text());
  if (!unpacker.good()) return std::unexpected(core::corruption("ff_exec_result", "result", "unreadable"));
  return Blob{Bytes(unpacker.rest()), std::move(content_type)};
}

// ---- lanes and keys -----------------------------------------------------------------------------------------------

std::string pack_lane(const Lane& lane, std::string_view mark) { return core::to_json_text(lane).append(mark); }

Result<Lane> read_lane(std::string_view value) {
  const std::string_view text = value.substr(0, value.size() - std::min(value.size(), kMarkBytes));
  Lane lane;
  core::JsonReader reader;
  auto parsed = core::parse_json(text);
  if (!parsed || !reader.read(*parsed, lane))
    return std::unexpected(core::corruption("ff_lane_registry", "lane", text));
  return lane;
}

std::string pack_document(const core::Document& document, std::string_view mark) {
  Packer packer;
  packer.number(document.version).number(document.due_at_ms ? 1 : 0).signed_number(document.due_at_ms.value_or(0));
  return packer.text(document.body).raw(mark).take();
}

Result<std::optional<core::Document>> read_document(const core::DocumentId& id, const Value& value) {
  if (value.is_nil()) return std::nullopt;
  const std::string_view bytes = value.text();
  Unpacker unpacker(bytes.substr(0, bytes.size() - std::min(bytes.size(), kMarkBytes)));
  core::Document document;
  document.id = id;
  document.version = unpacker.number();
  const bool is_due = unpacker.number() != 0;
  const TimeMs due_at_ms = unpacker.signed_number();
  if (is_due) document.due_at_ms = due_at_ms;
  document.body = unpacker.text();
  if (!unpacker.good()) return std::unexpected(core::corruption(core::table_of(id.kind), id.key, "not readable"));
  return document;
}

std::string pack_key(const core::IdempotencyRecord& record, std::string_view mark) {
  Packer packer;
  packer.number(record.version).number(record.execution_id ? 1 : 0);
  if (record.execution_id)
    packer.number(record.execution_id->partition).raw(core::raw_bytes(record.execution_id->uuid));
  packer.text(record.outcome).signed_number(record.created_at_ms).signed_number(record.expires_at_ms);
  return packer.raw(mark).take();
}

Result<std::optional<core::IdempotencyRecord>> read_key(const core::IdempotencyId& id, std::uint16_t partition,
                                                        const Value& value) {
  if (value.is_nil()) return std::nullopt;
  const std::string_view bytes = value.text();
  Unpacker unpacker(bytes.substr(0, bytes.size() - std::min(bytes.size(), kMarkBytes)));
  core::IdempotencyRecord record;
  record.id = id;
  record.partition = partition;
  record.version = unpacker.number();
  if (unpacker.number()) {
    record.execution_id.emplace();
    record.execution_id->partition = static_cast<std::uint16_t>(unpacker.number());
    record.execution_id->uuid = uuid_from(unpacker.raw(16));
  }
  record.outcome = Bytes(unpacker.text());
  record.created_at_ms = unpacker.signed_number();
  record.expires_at_ms = unpacker.signed_number();
  if (!unpacker.complete()) return std::unexpected(core::corruption("ff_idempotency", "record", id.idempotency_key));
  return std::optional(std::move(record));
}

}  // namespace ff::store::redis
