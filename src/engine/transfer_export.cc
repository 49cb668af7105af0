#include "core/hash.h"
#include "engine/handles.h"
#include "engine/transfer_lines.h"
#include "store/refusal.h"
#include "version.h"

#include <unordered_map>

namespace ff::engine {
namespace {

constexpr std::uint32_t kPage = 500;
/// Of so many executions it is remembered where their history begins.
constexpr std::size_t kBeginningsMax = 100'000;

std::uint64_t print_of(const core::ExecutionRecord& record) {
  return core::fnv1a64(fmt::format("execution\n{}\n{}", record.id.to_string(), record.version));
}
std::uint64_t print_of(const Lane& lane) { return core::fnv1a64(fmt::format("lane\n{}\n{}", lane.lane_id, lane.version)); }
std::uint64_t print_of(const core::IdempotencyRecord& key) {
  return core::fnv1a64(
      fmt::format("key\n{}\n{}\n{}\n{}", key.id.namespace_, key.id.operation, key.id.idempotency_key, key.version));
}

std::uint64_t print_of(const core::Document& token) {
  return core::fnv1a64(fmt::format("token\n{}\n{}", token.id.key, token.version));
}

// Each walk calls `visit` with one record after the other and ends at the first error.

template <class Visit>
Result<void> for_each_lane(store::Reader& reader, Visit&& visit) {
  for (std::string after;;) {
    auto page = reader.lanes(after, kPage);
    if (!page) return std::unexpected(page.error());
    for (const auto& lane : *page)
      if (Result<void> done = visit(lane); !done) return done;
    if (page->size() < kPage) return {};
    after = page->back().lane_id;
  }
}

template <class Visit>
Result<void> for_each_token(store::Reader& reader, Visit&& visit) {
  for (std::string after;;) {
    auto page = reader.documents(core::DocumentKind::api_token, after, kPage);
    if (!page) return std::unexpected(page.error());
    for (const auto& token : *page)
      if (Result<void> done = visit(token); !done) return done;
    if (page->size() < kPage) return {};
    after = page->back().id.key;
  }
}

template <class Visit>
Result<void> for_each_execution(store::Reader& reader, Visit&& visit) {
  store::ListQuery query;
  query.limit = kPage;
  query.along = store::ListAlong::oldest_first;
  while (true) {
    auto page = reader.list(query);
    if (!page) return std::unexpected(page.error());
    for (const auto& record : page->records)
      if (Result<void> done = visit(record); !done) return done;
    if (!page->next) return {};
    query.after = page->next;
  }
}

template <class T, class Visit>
Result<void> for_each_of(store::Reader& reader,
                         Result<store::Walk<T>> (store::Reader::*walk)(const std::string&, std::uint32_t), Visit&& visit) {
  for (std::string after;;) {
    auto page = (reader.*walk)(after, kPage);
    if (!page) return std::unexpected(page.error());
    for (const auto& item : page->items)
      if (Result<void> done = visit(item); !done) return done;
    if (page->next.empty()) return {};
    after = page->next;
  }
}

/// Refuses when somebody works: what a worker holds would be done in the old place and, after the move, in the new one.
Result<void> expect_quiet(store::Reader& reader) {
  auto now = reader.clock();
  if (!now) return std::unexpected(now.error());
  store::LeaseQuery query;
  query.limit = kPage;
  while (true) {
    auto page = reader.leases(query);
    if (!page) return std::unexpected(page.error());
    for (const auto& lease : *page) {
      if (lease.expires_at_ms <= *now) continue;  // nobody can use it any more; the new place will notice
      Error error = store::refusal(
          "not_quiescent",
          fmt::format("Worker '{}' holds a lease on {}, and perhaps others do (`ff leases` shows them). Stop the workers "
                      "and wait until they have finished, or take the leases away with `ff revoke`; then export again.",
                      lease.worker_instance_id, lease.execution_id.to_string()));
      error.context.set("execution_id", lease.execution_id.to_string());
      return std::unexpected(std::move(error));
    }
    if (page->size() < kPage) return {};
    query.after.emplace(page->back().expires_at_ms, page->back().execution_id.to_string());
  }
}

class Exporter {
 public:
  Exporter(store::Reader& reader, const LineSink& sink) : reader_(reader), writer_(sink) {}

  Result<Holdings> run(const core::Dataset& dataset) {
    if (auto quiet = expect_quiet(reader_); !quiet) return std::unexpected(quiet.error());
    auto faults = reader_.verify(1);
    if (!faults) return std::unexpected(faults.error());
    if (!faults->empty())
      return core::fail(ErrorCode::corruption,
                        fmt::format("The store has damaged records ({}); `ff check` lists them. Nothing was exported.",
                                    faults->front()));
    if (auto done = write_all(dataset); !done) return std::unexpected(done.error());
    // Somebody who came meanwhile was seen in part: that shows in what is there now.
    if (auto quiet = expect_quiet(reader_); !quiet) return std::unexpected(quiet.error());
    auto now = take_stock(reader_);
    if (!now) return now;
    if (*now != written_)
      return std::unexpected(store::refusal(
          "not_quiescent", "The data set changed while it was being exported, and the file is worth nothing. Stop every "
                           "program that submits, works or sweeps, then export again."));
    if (auto done = writer_.end(written_); !done) return std::unexpected(done.error());
    return written_;
  }

 private:
  Result<void> write_all(const core::Dataset& dataset) {
    auto now = reader_.clock();
    if (!now) return std::unexpected(now.error());
    const HeaderLine header{kExportFormat, kVersion, *now, line_of(dataset)};
    if (auto done = writer_.write("flowfabric_export", header); !done) return done;
    auto lanes = for_each_lane(reader_, [&](const Lane& lane) {
      ++written_.lanes;
      written_.fingerprint += print_of(lane);
      return writer_.write("lane", lane);
    });
    if (!lanes) return lanes;
    auto keys = for_each_of(reader_, &store::Reader::keys, [&](const core::IdempotencyRecord& key) {
      ++written_.keys;
      written_.fingerprint += print_of(key);
      return writer_.write("key", line_of(key));
    });
    if (!keys) return keys;
    auto tokens = for_each_token(reader_, [&](const core::Document& token) {
      ++written_.tokens;
      written_.fingerprint += print_of(token);
      return writer_.write("token", line_of(token));
    });
    if (!tokens) return tokens;
    // Before the executions: a store that chains events to executions must not find these for them.
    if (auto done = for_each_of(reader_, &store::Reader::log, [&](const Event& event) { return write_loose(event); }); !done)
      return done;
    return for_each_execution(reader_, [&](const core::ExecutionRecord& record) { return write_execution(record); });
  }

  /// Writes the event unless the history of its execution has it.
  Result<void> write_loose(const Event& event) {
    const bool renewed = event.kind == EventKind::lease && event.event_type == core::name_of(LeaseEventType::renewed);
    if (event.execution_id && !renewed) {
      auto first = first_event_of(*event.execution_id);
      if (!first) return std::unexpected(first.error());
      if (event.event_id >= *first) return {};
    }
    ++written_.events;
    return writer_.write("event", event);
  }

  /// Where the history of an execution begins; what is older belongs to one that had its id before.
  Result<std::int64_t> first_event_of(const ExecutionId& id) {
    if (auto known = beginnings_.find(id); known != beginnings_.end()) return known->second;
    auto history = reader_.history(id, 0, 1);
    if (!history) return std::unexpected(history.error());
    const bool has_some = *history && !(*history)->events.empty();
    const std::int64_t first = has_some ? (*history)->events.front().event_id : std::numeric_limits<std::int64_t>::max();
    if (beginnings_.size() == kBeginningsMax) beginnings_.clear();
    beginnings_.emplace(id, first);
    return first;
  }

  Result<void> write_execution(const core::ExecutionRecord& listed) {
    const ExecutionId& id = listed.id;
    auto gone = [&] {
      return std::unexpected(store::refusal("not_quiescent", fmt::format("{} was deleted while it was being exported. Stop "
                                                                         "every program that works on the data set, then "
                                                                         "export again.",
                                                                         id.to_string())));
    };
    auto found = reader_.execution(id);
    if (!found) return std::unexpected(found.error());
    if (!*found) return gone();
    ExecutionLine line = line_of((*found)->record, (*found)->info);
    if ((*found)->info.payload_bytes) {
      auto payload = reader_.payload(id);
      if (!payload) return std::unexpected(payload.error());
      if (!*payload || !**payload) return gone();
      line.payload = base64url((**payload)->bytes);
    }
    if ((*found)->result_bytes) {
      auto result = reader_.result(id);
      if (!result) return std::unexpected(result.error());
      if (!*result || !**result) return gone();
      line.result = base64url((**result)->bytes);
      line.result_content_type = (**result)->content_type;
    }
    if (auto done = add_attempts(line); !done) return done;
    if (auto done = add_events(line); !done) return done;
    ++written_.executions;
    written_.events += line.events.size();
    written_.fingerprint += print_of((*found)->record);
    return writer_.write("execution", line);
  }

  Result<void> add_attempts(ExecutionLine& line) {
    for (std::optional<std::uint32_t> after;;) {
      auto page = reader_.attempts(line.execution_id, after, kPage);
      if (!page) return std::unexpected(page.error());
      if (!*page) return {};
      line.attempts.insert(line.attempts.end(), (*page)->begin(), (*page)->end());
      if ((*page)->size() < kPage) return {};
      after = (*page)->back().attempt_index;
    }
  }

  Result<void> add_events(ExecutionLine& line) {
    for (std::int64_t after = 0;;) {
      auto page = reader_.history(line.execution_id, after, kPage);
      if (!page) return std::unexpected(page.error());
      if (!*page) return {};
      line.events.insert(line.events.end(), (*page)->events.begin(), (*page)->events.end());
      if (!(*page)->more || (*page)->events.empty()) return {};
      after = (*page)->events.back().event_id;
    }
  }

  store::Reader& reader_;
  ExportWriter writer_;
  Holdings written_;
  std::unordered_map<ExecutionId, std::int64_t> beginnings_;
};

}  // namespace

Result<Holdings> take_stock(store::Reader& reader) {
  Holdings found;
  auto count = [&found](std::uint64_t& counter, const auto& item) -> Result<void> {
    ++counter;
    found.fingerprint += print_of(item);
    return {};
  };
  if (auto done = for_each_lane(reader, [&](const Lane& lane) { return count(found.lanes, lane); }); !done)
    return std::unexpected(done.error());
  if (auto done = for_each_of(reader, &store::Reader::keys, [&](const auto& key) { return count(found.keys, key); }); !done)
    return std::unexpected(done.error());
  if (auto done = for_each_token(reader, [&](const auto& token) { return count(found.tokens, token); }); !done)
    return std::unexpected(done.error());
  auto executions =
      for_each_execution(reader, [&](const core::ExecutionRecord& record) { return count(found.executions, record); });
  if (!executions) return std::unexpected(executions.error());
  auto events = for_each_of(reader, &store::Reader::log, [&](const Event&) -> Result<void> {
    ++found.events;
    return {};
  });
  if (!events) return std::unexpected(events.error());
  return found;
}

Result<Holdings> export_data_set(store::Store& store, const core::Dataset& dataset, const LineSink& sink) {
  if (!dataset.is_whole()) return std::unexpected(store::import_unfinished(dataset));
  auto reader = store.open_reader();
  if (!reader) return std::unexpected(reader.error());
  return Exporter(**reader, sink).run(dataset);
}

}  // namespace ff::engine
