#pragma once

// The lines of an export. Each is a JSON object with one member, whose name says what it is: `flowfabric_export` (the
// first), `lane`, `key`, `token`, `event` (of no stored execution), `execution` (with all that belongs to it), `end` (the last).
// Bytes are base64url. A change that older programs cannot read raises `kExportFormat`.

#include "core/json.h"
#include "core/records/api_token.h"
#include "core/records/event.h"
#include "engine/transfer.h"

#include <variant>

namespace ff::engine {

inline constexpr std::uint32_t kExportFormat = 2;

struct DatasetLine {
  Uuid data_set_id;
  std::string handle_key;
  std::uint16_t num_flow_partitions = 0, num_budget_partitions = 0, num_quota_partitions = 0, lane_spread = 0;
  std::uint16_t event_shards = 0;
  TimeMs created_at_ms = 0;
  std::string engine_version;
};

struct HeaderLine {
  std::uint32_t format_version = kExportFormat;
  std::string engine_version;  ///< of the program that wrote the export
  TimeMs exported_at_ms = 0;
  DatasetLine data_set;
};

struct KeyLine {
  std::string namespace_, operation, idempotency_key;
  std::uint16_t partition = 0;
  std::optional<ExecutionId> execution_id;
  std::string outcome;
  TimeMs created_at_ms = 0, expires_at_ms = 0;
  std::uint64_t version = 0;
};

/// A token as it is stored: its secret is in no data set.
struct TokenLine {
  std::string key, record;
  std::optional<TimeMs> due_at_ms;
  std::uint64_t version = 0;
};

struct ExecutionLine {
  ExecutionId execution_id;
  std::string namespace_, lane_id, execution_kind;
  std::vector<std::string> required_capabilities;
  std::int32_t priority = 0;
  StateVector state;
  Counters counters;
  Times times;
  Timers timers;
  Hold hold;
  Progress progress;
  Ending ending;
  core::Pending pending;
  core::PolicyNumbers limits;
  std::optional<Uuid> current_attempt_id;
  std::optional<core::LeaseFields> lease;
  Tags tags;
  std::uint64_t version = 0;
  Policy policy;
  std::optional<std::string> creator_identity, idempotency_key, traceparent;
  std::string payload_content_type;
  std::optional<std::string> payload, result, result_content_type;
  std::vector<Attempt> attempts;  ///< the newest last
  std::vector<Event> events;      ///< its history; ids are those of the old store
};

struct EndLine {
  std::uint64_t lanes = 0, keys = 0, tokens = 0, events = 0, executions = 0, fingerprint = 0;
  std::string sha256;  ///< of all lines before, each with its end
};

BOOST_DESCRIBE_STRUCT(DatasetLine, (),
                      (data_set_id, handle_key, num_flow_partitions, num_budget_partitions, num_quota_partitions,
                       lane_spread, event_shards, created_at_ms, engine_version))
BOOST_DESCRIBE_STRUCT(HeaderLine, (), (format_version, engine_version, exported_at_ms, data_set))
BOOST_DESCRIBE_STRUCT(KeyLine, (),
                      (namespace_, operation, idempotency_key, partition, execution_id, outcome, created_at_ms,
                       expires_at_ms, version))
BOOST_DESCRIBE_STRUCT(ExecutionLine, (),
                      (execution_id, namespace_, lane_id, execution_kind, required_capabilities, priority, state,
                       counters, times, timers, hold, progress, ending, pending, limits, current_attempt_id, lease, tags,
                       version, policy, creator_identity, idempotency_key, traceparent, payload_content_type, payload,
                       result, result_content_type, attempts, events))
BOOST_DESCRIBE_STRUCT(TokenLine, (), (key, record, due_at_ms, version))
BOOST_DESCRIBE_STRUCT(EndLine, (), (lanes, keys, tokens, events, executions, fingerprint, sha256))

// ---- records to lines and back ----
DatasetLine line_of(const core::Dataset& dataset);
KeyLine line_of(const core::IdempotencyRecord& record);
TokenLine line_of(const core::Document& token);
/// Without payload, result, attempts and events.
ExecutionLine line_of(const core::ExecutionRecord& record, const core::ExecutionInfo& info);

/// An execution with everything that belongs to it.
struct WholeExecution {
  core::ExecutionRecord record;
  core::ExecutionInfo info;
  core::SharedBytes payload;
  std::optional<core::ResultPart> result;
  std::vector<Attempt> past_attempts;
  std::vector<core::EventRecord> events;
};

/// None where bytes are no base64url or a record would be illegal.
std::optional<core::Dataset> dataset_of(const DatasetLine& line);
std::optional<core::IdempotencyRecord> key_of(const KeyLine& line);
std::optional<core::Document> token_of(const TokenLine& line);
std::optional<WholeExecution> execution_of(ExecutionLine line);

// ---- the file ----

/// SHA-256 over text that comes in pieces.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  void add(std::string_view text);
  /// As hex digits; nothing can be added afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes lines and keeps the digest of what was written.
class ExportWriter {
 public:
  explicit ExportWriter(const LineSink& sink) : sink_(sink) {}

  template <class T>
  Result<void> write(std::string_view kind, const T& value) {
    core::json::object line;
    line.emplace(kind, core::to_value(value));
    return put(core::json::serialize(line));
  }
  /// The last line.
  Result<void> end(const Holdings& holdings);

 private:
  Result<void> put(const std::string& line);

  const LineSink& sink_;
  Digest digest_;
};

/// Reads lines one by one and judges the whole when the last has come.
class ExportReader {
 public:
  explicit ExportReader(const LineSource& source) : source_(source) {}

  using Line = std::variant<Lane, core::IdempotencyRecord, core::Document, Event, WholeExecution, Holdings>;

  Result<HeaderLine> header();
  /// `Holdings` comes last, when everything before it was as it was written.
  Result<Line> next();

 private:
  Result<std::string> text();
  Result<Line> end_of(const core::json::value& value, std::string sha256);
  Error wrong(std::string_view reason, const std::string& what) const;
  template <class T>
  Result<T> read(const core::json::value& from);

  const LineSource& source_;
  Digest digest_;
  std::uint64_t line_ = 0;
};

}  // namespace ff::engine
