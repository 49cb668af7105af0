#include "engine/transfer_lines.h"
#include "store/batch_run.h"
#include "store/refusal.h"

namespace ff::engine {
namespace {

/// A batch is written when it has so many records, or so many bytes of payloads and results.
constexpr std::size_t kBatchMax = 200;
constexpr std::size_t kBatchBytesMax = 4 << 20;
constexpr std::uint32_t kBlockedPauseMs = 1;
constexpr std::uint32_t kFaultsShown = 3;

/// Puts records into the store as they are: no rule looks at them, every index is made by the save as always.
class PutRecords final : public core::Operation {
 public:
  std::vector<Lane> lanes;
  std::vector<core::IdempotencyRecord> keys;
  std::vector<core::Document> tokens;
  std::vector<core::EventRecord> events;
  std::vector<WholeExecution> executions;

  std::string_view name() const override { return "import"; }

  void reads(const core::Records&, core::Reads& out) const override {
    for (const auto& lane : lanes) out.lane(lane.lane_id);
    for (const auto& key : keys) out.key(key.id);
    for (const auto& token : tokens) out.document(token.id);
    for (const auto& whole : executions) out.execution(whole.record.id);
  }

  void decide(core::WorkingSet& set, TimeMs now) override {
    error_.reset();
    core::Writes writes(now);
    for (const auto& lane : lanes) {
      if (set.lane(lane.lane_id)) return refuse(twice(lane.lane_id));
      writes.lanes.push_back(lane);
    }
    for (const auto& key : keys) {
      if (set.key(key.id)) return refuse(twice(key.id.idempotency_key));
      writes.key(key.id, key);
    }
    for (const auto& token : tokens) {
      if (set.document(token.id)) return refuse(twice(token.id.key));
      writes.document(token);
    }
    writes.events = events;
    for (const auto& whole : executions) {
      const ExecutionId& id = whole.record.id;
      if (set.execution(id)) return refuse(twice(id.to_string()));
      writes.executions.push_back(std::make_shared<core::ExecutionRecord>(whole.record));
      writes.info(id, whole.info);
      if (whole.payload) writes.payload(id, {whole.payload});
      if (whole.result) writes.result(id, whole.result);
      for (const auto& attempt : whole.past_attempts) writes.past_attempt(id, attempt);
      for (const auto& event : whole.events) writes.append(core::EventRecord(event));
    }
    set.apply(std::move(writes));
    // What is written counts its version up; this keeps the one it had.
    for (const auto& key : keys) set.keys().write(key.id, std::make_shared<core::IdempotencyRecord>(key));
    for (const auto& token : tokens) set.documents().write(token.id, std::make_shared<core::Document>(token));
  }

  void refuse(Error error) override { error_ = std::move(error); }
  void deliver() override {}
  const Error* error() const override { return error_ ? &*error_ : nullptr; }

 private:
  static Error twice(const std::string& name) {
    return core::invalid_input("export", "altered", fmt::format("'{}' is in the export twice. Export again.", name));
  }

  std::optional<Error> error_;
};

class NoClaims final : public store::Planner {
 public:
  std::vector<Row> plan(std::span<core::ClaimOperation* const>, bool) override { return {}; }
  void took(std::span<const Row>, std::span<const store::Taken>) override {}
  void gave_back(const core::QueueRef&, const core::OrderKey&) override {}
};

/// Collects records into batches and writes them. What commits together lies in one partition, which is what every store
/// can do.
class Importer {
 public:
  Importer(std::unique_ptr<store::Session> session, const store::StoreTraits& traits, const ImportOptions& options)
      : session_(std::move(session)), traits_(traits), options_(options) {}

  Result<void> add(Lane lane) {
    if (auto ready = take_up(Kind::lane); !ready) return ready;
    operation(0).lanes.push_back(std::move(lane));
    return count(0);
  }
  Result<void> add(core::IdempotencyRecord key) {
    if (auto ready = take_up(Kind::key); !ready) return ready;
    operation(key.partition).keys.push_back(std::move(key));
    return count(0);
  }
  Result<void> add(core::Document token) {
    if (auto ready = take_up(Kind::token); !ready) return ready;
    operation(0).tokens.push_back(std::move(token));
    return count(0);
  }
  Result<void> add(const Event& event) {
    if (auto ready = take_up(Kind::event); !ready) return ready;
    operation(event.partition).events.push_back(core::from_event(event, nullptr));
    return count(0);
  }
  Result<void> add(WholeExecution whole) {
    if (auto ready = take_up(Kind::execution); !ready) return ready;
    const std::size_t bytes = (whole.payload ? whole.payload->size() : 0) + (whole.result ? whole.result->result->size() : 0);
    auto alone = std::make_unique<PutRecords>();
    alone->executions.push_back(std::move(whole));
    batch_.push_back(std::move(alone));
    return count(bytes);
  }

  Result<void> flush() {
    if (batch_.empty()) return {};
    by_partition_.clear();
    records_ = bytes_ = 0;
    store::BatchRun run(*session_, planner_, traits_, std::exchange(batch_, {}));
    while (true) {
      switch (run.step()) {
        case store::BatchRun::State::working: break;
        case store::BatchRun::State::blocked: options_.pause(kBlockedPauseMs); break;
        case store::BatchRun::State::backing_off: options_.pause(run.back_off_ms()); break;
        case store::BatchRun::State::finished:
          for (const auto& operation : run.take_answered())
            if (const Error* error = operation->error()) return std::unexpected(*error);
          return {};
      }
    }
  }

 private:
  enum class Kind { lane, key, token, event, execution };

  /// Kinds are never mixed: a loose event that is written beside an execution could be taken for one of its own.
  Result<void> take_up(Kind kind) {
    if (std::exchange(kind_, kind) == kind) return {};
    return flush();
  }
  PutRecords& operation(std::uint16_t partition) {
    PutRecords*& found = by_partition_[partition];
    if (!found) {
      auto made = std::make_unique<PutRecords>();
      found = made.get();
      batch_.push_back(std::move(made));
    }
    return *found;
  }
  Result<void> count(std::size_t bytes) {
    bytes_ += bytes;
    return ++records_ >= kBatchMax || bytes_ >= kBatchBytesMax ? flush() : Result<void>();
  }

  std::unique_ptr<store::Session> session_;
  store::StoreTraits traits_;
  const ImportOptions& options_;
  NoClaims planner_;
  Kind kind_ = Kind::lane;
  store::BatchRun::Operations batch_;
  std::map<std::uint16_t, PutRecords*> by_partition_;
  std::size_t records_ = 0, bytes_ = 0;
};

/// Makes the data set, marked as unfinished, in a store that has none.
Result<void> occupy(store::Store& store, core::Dataset dataset, const ImportOptions& options) {
  dataset.engine_version = fmt::format("{}{}", core::kImporting, options.mark);
  auto there = store.adopt_dataset(dataset);
  if (!there) return std::unexpected(there.error());
  if (*there == dataset) return {};
  if (!there->is_whole()) return std::unexpected(store::import_unfinished(*there));
  return std::unexpected(store::refusal(
      "dataset_mismatch",
      fmt::format("The store holds a data set already ({}). An import needs a store without one: give the path of a new "
                  "file or the address of an empty database. Nothing was written.",
                  there->data_set_id.to_string())));
}

/// Looks whether everything has arrived and every index is right.
Result<void> inspect(store::Store& store, const Holdings& wanted) {
  auto reader = store.open_reader();
  if (!reader) return std::unexpected(reader.error());
  auto found = take_stock(**reader);
  if (!found) return std::unexpected(found.error());
  if (*found != wanted)
    return core::fail(ErrorCode::corruption,
                      fmt::format("The store holds {} executions, {} lanes, {} keys, {} tokens and {} events, the export {}, "
                                  "{}, {}, {} and {}{}. The store stays closed; empty it and import again.",
                                  found->executions, found->lanes, found->keys, found->tokens, found->events,
                                  wanted.executions, wanted.lanes, wanted.keys, wanted.tokens, wanted.events,
                                  found->fingerprint == wanted.fingerprint ? "" : ", or others"));
  auto faults = (*reader)->verify(kFaultsShown);
  if (!faults) return std::unexpected(faults.error());
  if (faults->empty()) return {};
  return core::fail(ErrorCode::corruption, fmt::format("The imported records are not right ({}). The store stays closed; "
                                                       "please report this.",
                                                       fmt::join(*faults, "; ")));
}

}  // namespace

Result<Holdings> check_export(const LineSource& source) {
  ExportReader reader(source);
  if (auto header = reader.header(); !header) return std::unexpected(header.error());
  while (true) {
    auto line = reader.next();
    if (!line) return std::unexpected(line.error());
    if (const auto* end = std::get_if<Holdings>(&*line)) return *end;
  }
}

Result<Holdings> import_data_set(store::Store& store, const LineSource& source, const ImportOptions& options) {
  ExportReader reader(source);
  auto header = reader.header();
  if (!header) return std::unexpected(header.error());
  const core::Dataset dataset = *dataset_of(header->data_set);
  if (auto done = occupy(store, dataset, options); !done) return std::unexpected(done.error());
  auto session = store.open_session();
  if (!session) return std::unexpected(session.error());
  Importer importer(std::move(*session), store.traits(), options);
  std::optional<Holdings> wanted;
  while (!wanted) {
    auto line = reader.next();
    if (!line) return std::unexpected(line.error());
    auto done = std::visit(
        [&]<class T>(T& record) -> Result<void> {
          if constexpr (std::is_same_v<T, Holdings>) {
            wanted = record;
            return importer.flush();
          } else {
            return importer.add(std::move(record));
          }
        },
        *line);
    if (!done) return std::unexpected(done.error());
  }
  if (auto done = inspect(store, *wanted); !done) return std::unexpected(done.error());
  if (auto done = store.set_engine_version(dataset.engine_version); !done) return std::unexpected(done.error());
  return *wanted;
}

}  // namespace ff::engine
