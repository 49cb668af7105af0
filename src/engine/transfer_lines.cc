#include "engine/transfer_lines.h"

#include "core/state.h"
#include "core/text.h"
#include "engine/handles.h"
#include "version.h"

#include <openssl/evp.h>

namespace ff::engine {

// ---- records to lines ---------------------------------------------------------------------------------------------

DatasetLine line_of(const core::Dataset& dataset) {
  const core::Partitioning& counts = dataset.partitioning;
  const std::string_view key(reinterpret_cast<const char*>(dataset.handle_key.data()), dataset.handle_key.size());
  return {dataset.data_set_id,         base64url(key),     counts.num_flow_partitions, counts.num_budget_partitions,
          counts.num_quota_partitions, counts.lane_spread, dataset.event_shards,       dataset.created_at_ms,
          dataset.engine_version};
}

KeyLine line_of(const core::IdempotencyRecord& record) {
  return {record.id.namespace_,  record.id.operation,      record.id.idempotency_key, record.partition,
          record.execution_id,   base64url(record.outcome), record.created_at_ms,     record.expires_at_ms,
          record.version};
}

ExecutionLine line_of(const core::ExecutionRecord& record, const core::ExecutionInfo& info) {
  ExecutionLine line;
  line.execution_id = record.id;
  line.namespace_ = record.queue->namespace_;
  line.lane_id = record.queue->lane_id;
  line.execution_kind = record.queue->execution_kind;
  line.required_capabilities = record.queue->required_capabilities;
  line.priority = record.priority;
  line.state = record.state;
  line.counters = record.counters;
  line.times = record.times;
  line.timers = record.timers;
  line.hold = record.hold;
  line.progress = record.progress;
  line.ending = record.ending;
  line.pending = record.pending;
  line.limits = record.limits;
  line.current_attempt_id = record.current_attempt_id;
  line.lease = record.lease;
  if (record.tags) line.tags = *record.tags;
  line.version = record.version;
  line.policy = *info.policy;
  line.creator_identity = info.creator_identity;
  line.idempotency_key = info.idempotency_key;
  line.traceparent = info.traceparent;
  line.payload_content_type = info.payload_content_type;
  return line;
}

// ---- and back -----------------------------------------------------------------------------------------------------

std::optional<core::Dataset> dataset_of(const DatasetLine& line) {
  core::Dataset dataset;
  const auto key = from_base64url(line.handle_key);
  if (!key || key->size() != dataset.handle_key.size()) return std::nullopt;
  std::copy(key->begin(), key->end(), dataset.handle_key.begin());
  dataset.data_set_id = line.data_set_id;
  dataset.partitioning = {line.num_flow_partitions, line.num_budget_partitions, line.num_quota_partitions,
                          line.lane_spread};
  dataset.event_shards = line.event_shards;
  dataset.created_at_ms = line.created_at_ms;
  dataset.engine_version = line.engine_version;
  const core::Partitioning& counts = dataset.partitioning;
  if (counts.num_flow_partitions == 0 || counts.lane_spread == 0 || dataset.event_shards == 0 || !dataset.is_whole())
    return std::nullopt;
  return dataset;
}

TokenLine line_of(const core::Document& token) { return {token.id.key, token.body, token.due_at_ms, token.version}; }

std::optional<core::Document> token_of(const TokenLine& line) {
  core::Document document{{core::DocumentKind::api_token, line.key}, line.record, line.due_at_ms, line.version};
  auto token = core::read_document<core::ApiToken>(document);
  if (!token || core::token_key(token->token_id) != document.id) return std::nullopt;
  return document;
}

std::optional<core::IdempotencyRecord> key_of(const KeyLine& line) {
  auto outcome = from_base64url(line.outcome);
  if (!outcome) return std::nullopt;
  return core::IdempotencyRecord{{line.namespace_, line.operation, line.idempotency_key},
                                 line.partition,
                                 line.execution_id,
                                 std::move(*outcome),
                                 line.created_at_ms,
                                 line.expires_at_ms,
                                 line.version};
}

std::optional<WholeExecution> execution_of(ExecutionLine line) {
  WholeExecution whole;
  core::ExecutionRecord& record = whole.record;
  record.id = line.execution_id;
  record.queue = core::make_queue(std::move(line.lane_id), std::move(line.namespace_), std::move(line.execution_kind),
                                  std::move(line.required_capabilities));
  record.priority = line.priority;
  record.state = line.state;
  record.counters = line.counters;
  record.times = line.times;
  record.timers = line.timers;
  record.hold = std::move(line.hold);
  record.progress = std::move(line.progress);
  record.ending = std::move(line.ending);
  record.pending = std::move(line.pending);
  record.limits = line.limits;
  record.current_attempt_id = line.current_attempt_id;
  record.lease = std::move(line.lease);
  if (!line.tags.empty()) record.tags = std::make_shared<const Tags>(std::move(line.tags));
  record.version = line.version;
  if (!line.attempts.empty()) {
    record.attempt = std::move(line.attempts.back());
    line.attempts.pop_back();
  }
  whole.past_attempts = std::move(line.attempts);

  whole.info.policy = std::make_shared<const Policy>(std::move(line.policy));
  whole.info.creator_identity = std::move(line.creator_identity);
  whole.info.idempotency_key = std::move(line.idempotency_key);
  whole.info.traceparent = std::move(line.traceparent);
  whole.info.payload_content_type = std::move(line.payload_content_type);
  if (line.payload) {
    auto bytes = from_base64url(*line.payload);
    if (!bytes) return std::nullopt;
    whole.info.payload_bytes = bytes->size();
    whole.payload = std::make_shared<const Bytes>(std::move(*bytes));
  }
  if (line.result) {
    auto bytes = from_base64url(*line.result);
    if (!bytes) return std::nullopt;
    whole.result = core::ResultPart{std::make_shared<const Bytes>(std::move(*bytes)),
                                    line.result_content_type.value_or("application/json")};
  }
  for (const auto& event : line.events) whole.events.push_back(core::from_event(event, record.queue));
  if (!core::illegality(record).empty()) return std::nullopt;
  return whole;
}

// ---- the file -----------------------------------------------------------------------------------------------------

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest() : state_(std::make_unique<State>()) { EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr); }
Digest::~Digest() = default;

void Digest::add(std::string_view text) { EVP_DigestUpdate(state_->context, text.data(), text.size()); }

std::string Digest::finish() {
  std::array<std::uint8_t, 32> digest{};
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  std::string text;
  for (std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

Result<void> ExportWriter::put(const std::string& line) {
  // JSON is UTF-8: what is not could not be read back.
  if (!core::is_utf8(line)) return std::unexpected(core::corruption("export", "line", line.substr(0, 200)));
  digest_.add(line);
  digest_.add("\n");
  return sink_(line);
}

Result<void> ExportWriter::end(const Holdings& holdings) {
  core::json::object line;
  line.emplace("end", core::to_value(EndLine{holdings.lanes, holdings.keys, holdings.tokens, holdings.events,
                                             holdings.executions, holdings.fingerprint, digest_.finish()}));
  return sink_(core::json::serialize(line));
}

Error ExportReader::wrong(std::string_view reason, const std::string& what) const {
  Error error = core::invalid_input("export", reason, fmt::format("Line {} of the export: {}", line_, what));
  error.context.set("line", static_cast<std::int64_t>(line_));
  return error;
}

Result<std::string> ExportReader::text() {
  auto line = source_();
  if (!line) return std::unexpected(line.error());
  ++line_;
  if (!*line)
    return std::unexpected(wrong("cut", "it is missing, the export was cut off. Export again, or copy the whole file."));
  return std::move(**line);
}

template <class T>
Result<T> ExportReader::read(const core::json::value& from) {
  T value{};
  core::JsonReader reader;
  if (reader.read(from, value)) return value;
  return std::unexpected(wrong("malformed", fmt::format("'{}' cannot be read. The file was damaged or altered; export "
                                                        "again.",
                                                        reader.problem().path)));
}

Result<HeaderLine> ExportReader::header() {
  auto line = text();
  if (!line) return std::unexpected(line.error());
  auto parsed = core::parse_json(*line);
  const core::json::value* body =
      parsed && parsed->is_object() ? parsed->get_object().if_contains("flowfabric_export") : nullptr;
  if (!body || !body->is_object())
    return std::unexpected(wrong("not_an_export", "this is no export of a data set. Give a file that `ff export` wrote."));
  // Looked at first: a newer format may have members that this program does not know.
  const core::json::value* version = body->get_object().if_contains("format_version");
  if (version && version->is_int64() && version->get_int64() > kExportFormat)
    return std::unexpected(wrong("newer_format", fmt::format("it has format {}, this program (version {}) knows up to {}. "
                                                             "Import with the version that wrote it.",
                                                             version->get_int64(), kVersion, kExportFormat)));
  auto header = read<HeaderLine>(*body);
  if (!header) return header;
  if (header->format_version < 1 || !dataset_of(header->data_set))
    return std::unexpected(wrong("malformed", "'data_set' cannot be read. The file was damaged or altered; export again."));
  digest_.add(*line);
  digest_.add("\n");
  return header;
}

Result<ExportReader::Line> ExportReader::next() {
  auto line = text();
  if (!line) return std::unexpected(line.error());
  auto parsed = core::parse_json(*line);
  if (!parsed || !parsed->is_object() || parsed->get_object().size() != 1)
    return std::unexpected(wrong("malformed", "it is no JSON object, the export was cut off or damaged. Export again."));
  const std::string_view kind(parsed->get_object().begin()->key());
  const core::json::value& value = parsed->get_object().begin()->value();
  if (kind == "end") return end_of(value, digest_.finish());
  digest_.add(*line);
  digest_.add("\n");
  auto as_line = [](auto read) -> Result<Line> {
    if (!read) return std::unexpected(read.error());
    return Line(std::move(*read));
  };
  auto converted = [&](auto read, auto convert) -> Result<Line> {
    if (!read) return std::unexpected(read.error());
    auto record = convert(std::move(*read));
    if (!record) return std::unexpected(wrong("malformed", "its record is not possible. The file was altered; export again."));
    return Line(std::move(*record));
  };
  if (kind == "lane") return as_line(read<Lane>(value));
  if (kind == "event") return as_line(read<Event>(value));
  if (kind == "key") return converted(read<KeyLine>(value), [](const KeyLine& item) { return key_of(item); });
  if (kind == "token") return converted(read<TokenLine>(value), [](const TokenLine& item) { return token_of(item); });
  if (kind == "execution")
    return converted(read<ExecutionLine>(value), [](ExecutionLine item) { return execution_of(std::move(item)); });
  return std::unexpected(wrong("malformed", "nothing of its kind is known. The file was damaged or altered; export again."));
}

Result<ExportReader::Line> ExportReader::end_of(const core::json::value& value, std::string sha256) {
  auto end = read<EndLine>(value);
  if (!end) return std::unexpected(end.error());
  if (end->sha256 != sha256)
    return std::unexpected(wrong("altered", "the checksum is not that of the lines before. The file was damaged or "
                                            "altered; export again."));
  auto behind = source_();
  if (!behind) return std::unexpected(behind.error());
  if (*behind) return std::unexpected(wrong("altered", "more lines follow the last. Give one export at a time."));
  return Line(Holdings{end->lanes, end->keys, end->tokens, end->events, end->executions, end->fingerprint});
}

}  // namespace ff::engine
