// Calls that only read.

#include "core/fence.h"
#include "core/validate.h"
#include "core/view.h"
#include "core/why.h"
#include "engine/cursors.h"
#include "engine/engine.h"
#include "version.h"

namespace ff::engine {
namespace {

bool hidden(const core::ExecutionRecord& record, const core::Caller& caller) {
  return caller.namespace_scope && *caller.namespace_scope != record.namespace_();
}

/// Refuses what the caller may not see, as if it did not exist.
Result<void> visible(store::Reader& reader, const ExecutionId& id, const core::Caller& caller) {
  if (!caller.namespace_scope) return {};
  auto snapshot = reader.execution(id);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (!*snapshot || hidden((*snapshot)->record, caller)) return std::unexpected(core::not_found(id));
  return {};
}

}  // namespace

template <class Reply, class Read>
void Engine::read(Callback<Reply> callback, Read read) {
  reads_.push([callback = std::move(callback), read = std::move(read)](Result<store::Reader*> reader) mutable {
    if (!reader) return callback(std::unexpected(reader.error()));
    callback(read(**reader));
  });
}

Result<Execution> Engine::view(store::Reader& reader, const ExecutionId& id, const core::Caller& caller) {
  auto snapshot = reader.execution(id);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (!*snapshot || hidden((*snapshot)->record, caller)) return std::unexpected(core::not_found(id));
  const core::ExecutionRecord& record = (*snapshot)->record;
  Execution execution = core::to_view(record, (*snapshot)->info);
  execution.result_bytes = (*snapshot)->result_bytes;
  execution.result_content_type = (*snapshot)->result_content_type;

  core::QueueSituation situation;
  if (core::is_candidate(record)) {
    auto lane = reader.lane(record.lane_id());
    if (!lane) return std::unexpected(lane.error());
    if (*lane) situation.lane_state = (*lane)->lane_state;
    auto ahead = reader.ahead_of(record);
    if (!ahead) return std::unexpected(ahead.error());
    situation.ahead = *ahead;
    situation.ahead_is_bound = *ahead >= store::kAheadMax;
  }
  auto now = reader.clock();
  if (!now) return std::unexpected(now.error());
  execution.why = core::explain(record, situation, *now);
  return execution;
}

void Engine::start(GetExecution request, const Call& call, Callback<Execution> callback) {
  if (auto fault = core::check_wait(request.wait_ms)) return callback(std::unexpected(std::move(*fault)));
  if (auto fault = core::check_partition(request.execution_id, dataset_.partitioning))
    return callback(std::unexpected(std::move(*fault)));
  if (request.wait_ms == 0)
    return read<Execution>(std::move(callback), [this, request, caller = call.caller](store::Reader& reader) {
      return view(reader, request.execution_id, caller);
    });
  const SteadyUs deadline = runtime_.steady_us() + static_cast<SteadyUs>(request.wait_ms) * 1000;
  wait_for_end(request, call, deadline, std::move(callback));
}

/// Parks first, then looks: an end that comes between the two wakes the waiter.
void Engine::wait_for_end(GetExecution request, Call call, SteadyUs deadline, Callback<Execution> callback) {
  struct Waiting {
    std::mutex mutex;
    bool answered = false;
    Callback<Execution> callback;
  };
  auto waiting = std::make_shared<Waiting>();
  waiting->callback = std::move(callback);
  auto answer = [waiting](Result<Execution> result) {
    {
      std::lock_guard guard(waiting->mutex);
      if (std::exchange(waiting->answered, true)) return;
    }
    waiting->callback(std::move(result));
  };
  const ExecutionId id = request.execution_id;
  auto look = [this, id, call, answer](auto&& otherwise) {
    reads_.push([this, id, call, answer, otherwise](Result<store::Reader*> reader) mutable {
      if (!reader) return answer(std::unexpected(reader.error()));
      auto found = view(**reader, id, call.caller);
      const bool over = !found || found->state.lifecycle_phase == LifecyclePhase::terminal;
      if (over)
        answer(std::move(found));
      else
        otherwise(std::move(*found));
    });
  };
  auto parked = ends_.park(id, deadline, [this, request, call, deadline, answer, look, waiting](bool time_over) mutable {
    look([this, request, call, deadline, answer, time_over, waiting](Execution now) mutable {
      {
        std::lock_guard guard(waiting->mutex);
        if (waiting->answered) return;
      }
      if (time_over || runtime_.steady_us() >= deadline) return answer(std::move(now));
      std::unique_lock guard(waiting->mutex);
      waiting->answered = true;
      Callback<Execution> again = std::move(waiting->callback);
      guard.unlock();
      wait_for_end(request, call, deadline, std::move(again));
    });
  });
  if (!parked)
    return answer(core::fail(ErrorCode::resource_exhausted, "Too many calls are waiting. Try again without waiting.",
                             {{"pool", std::string("waiters")},
                              {"max", std::int64_t{options_.waiters_max}},
                              {"retry_after_ms", std::int64_t{1'000}}}));
  update_watchfulness();
  look([](Execution) {});
}

void Engine::read_blob(const ExecutionId& id, const Call& call, Callback<std::optional<Blob>> callback,
                       BlobOf blob_of) {
  if (auto fault = core::check_partition(id, dataset_.partitioning)) return callback(std::unexpected(std::move(*fault)));
  read<std::optional<Blob>>(
      std::move(callback), [id, blob_of, caller = call.caller](store::Reader& reader) -> Result<std::optional<Blob>> {
        if (auto shown = visible(reader, id, caller); !shown) return std::unexpected(shown.error());
        auto found = (reader.*blob_of)(id);
        if (!found) return std::unexpected(found.error());
        if (!*found) return std::unexpected(core::not_found(id));
        return std::move(**found);
      });
}

void Engine::start(GetPayload request, const Call& call, Callback<std::optional<Blob>> callback) {
  read_blob(request.execution_id, call, std::move(callback), &store::Reader::payload);
}

void Engine::start(GetResult request, const Call& call, Callback<std::optional<Blob>> callback) {
  read_blob(request.execution_id, call, std::move(callback), &store::Reader::result);
}

void Engine::start(ListExecutions request, const Call& call, Callback<Page<ExecutionSummary>> callback) {
  if (auto fault = core::check_limit(request.limit)) return callback(std::unexpected(std::move(*fault)));
  store::ListQuery query;
  query.filter = std::move(request.filter);
  if (call.caller.namespace_scope) query.filter.namespace_ = call.caller.namespace_scope;
  query.limit = request.limit;
  query.oldest_first = request.oldest_first;
  if (!request.cursor.empty()) {
    auto after = parse_list_cursor(request.cursor);
    if (!after) return callback(std::unexpected(after.error()));
    query.after = *after;
  }
  if (request.limit == 0) return callback(Page<ExecutionSummary>{});
  read<Page<ExecutionSummary>>(std::move(callback),
                               [query = std::move(query)](store::Reader& reader) -> Result<Page<ExecutionSummary>> {
                                 auto found = reader.list(query);
                                 if (!found) return std::unexpected(found.error());
                                 Page<ExecutionSummary> page;
                                 for (const auto& record : found->records) page.items.push_back(core::summarize(record));
                                 if (found->next) page.next_cursor = list_cursor(*found->next);
                                 return page;
                               });
}

void Engine::start(ListAttempts request, const Call& call, Callback<Page<Attempt>> callback) {
  if (auto fault = core::check_limit(request.limit)) return callback(std::unexpected(std::move(*fault)));
  if (auto fault = core::check_partition(request.execution_id, dataset_.partitioning))
    return callback(std::unexpected(std::move(*fault)));
  read<Page<Attempt>>(std::move(callback), [request, caller = call.caller](store::Reader& reader) -> Result<Page<Attempt>> {
    if (auto shown = visible(reader, request.execution_id, caller); !shown) return std::unexpected(shown.error());
    Page<Attempt> page;
    if (request.limit == 0) return page;
    auto found = reader.attempts(request.execution_id, request.after_index, request.limit + 1);
    if (!found) return std::unexpected(found.error());
    if (!*found) return std::unexpected(core::not_found(request.execution_id));
    page.items = std::move(**found);
    if (page.items.size() > request.limit) {
      page.items.pop_back();
      page.next_cursor = std::to_string(page.items.back().attempt_index);
    }
    return page;
  });
}

void Engine::start(ReadHistory request, const Call& call, Callback<Page<Event>> callback) {
  if (auto fault = core::check_limit(request.limit)) return callback(std::unexpected(std::move(*fault)));
  if (auto fault = core::check_partition(request.execution_id, dataset_.partitioning))
    return callback(std::unexpected(std::move(*fault)));
  std::int64_t after = 0;
  if (!request.cursor.empty()) {
    auto parsed = parse_number_cursor(request.cursor);
    if (!parsed) return callback(std::unexpected(parsed.error()));
    after = *parsed;
  }
  read<Page<Event>>(std::move(callback), [request, after, caller = call.caller](store::Reader& reader) -> Result<Page<Event>> {
    if (auto shown = visible(reader, request.execution_id, caller); !shown) return std::unexpected(shown.error());
    Page<Event> page;
    if (request.limit == 0) return page;
    auto found = reader.history(request.execution_id, after, request.limit);
    if (!found) return std::unexpected(found.error());
    if (!*found) return std::unexpected(core::not_found(request.execution_id));
    page.items = std::move((*found)->events);
    if ((*found)->more && !page.items.empty()) page.next_cursor = number_cursor(page.items.back().event_id);
    return page;
  });
}

void Engine::start(ListLeases request, const Call& call, Callback<Page<LeaseItem>> callback) {
  if (auto fault = core::check_limit(request.limit, core::kLeasePageMax)) return callback(std::unexpected(std::move(*fault)));
  store::LeaseQuery query;
  query.expired_before_ms = request.expired_before_ms;
  query.worker = request.worker;
  query.namespace_ = call.caller.namespace_scope ? call.caller.namespace_scope : request.namespace_;
  query.limit = request.limit + 1;
  if (!request.cursor.empty()) {
    auto after = parse_lease_cursor(request.cursor);
    if (!after) return callback(std::unexpected(after.error()));
    query.after = std::move(*after);
  }
  if (request.limit == 0) return callback(Page<LeaseItem>{});
  read<Page<LeaseItem>>(std::move(callback), [query = std::move(query)](store::Reader& reader) -> Result<Page<LeaseItem>> {
    auto found = reader.leases(query);
    if (!found) return std::unexpected(found.error());
    Page<LeaseItem> page;
    page.items = std::move(*found);
    if (page.items.size() == query.limit) {
      page.items.pop_back();
      page.next_cursor = lease_cursor(page.items.back().expires_at_ms, page.items.back().execution_id.to_string());
    }
    return page;
  });
}

void Engine::start(ListLanes request, const Call&, Callback<Page<LaneStatus>> callback) {
  if (auto fault = core::check_limit(request.limit)) return callback(std::unexpected(std::move(*fault)));
  std::string after;
  if (!request.cursor.empty()) {
    auto parsed = parse_text_cursor(request.cursor);
    if (!parsed) return callback(std::unexpected(parsed.error()));
    after = std::move(*parsed);
  }
  if (request.limit == 0) return callback(Page<LaneStatus>{});
  read<Page<LaneStatus>>(std::move(callback), [request, after](store::Reader& reader) -> Result<Page<LaneStatus>> {
    auto lanes = reader.lanes(after, request.limit + 1);
    if (!lanes) return std::unexpected(lanes.error());
    auto now = reader.clock();
    if (!now) return std::unexpected(now.error());
    Page<LaneStatus> page;
    for (auto& lane : *lanes) {
      if (page.items.size() == request.limit) {
        page.next_cursor = text_cursor(page.items.back().lane.lane_id);
        break;
      }
      LaneStatus& status = page.items.emplace_back();
      auto counts = reader.lane_counts(lane.lane_id);
      if (!counts) return std::unexpected(counts.error());
      auto oldest = reader.oldest_candidate(lane.lane_id);
      if (!oldest) return std::unexpected(oldest.error());
      status.depth = *counts;
      if (*oldest) status.oldest_waiting_ms = std::max<TimeMs>(0, *now - **oldest);
      status.lane = std::move(lane);
    }
    return page;
  });
}

void Engine::start(GetLaneCounts request, const Call&, Callback<LaneCounts> callback) {
  if (auto fault = core::check_lane(request.lane_id)) return callback(std::unexpected(std::move(*fault)));
  read<LaneCounts>(std::move(callback), [request](store::Reader& reader) -> Result<LaneCounts> {
    auto lane = reader.lane(request.lane_id);
    if (!lane) return std::unexpected(lane.error());
    if (!*lane)
      return core::fail(ErrorCode::lane_not_found, fmt::format("There is no lane '{}'.", request.lane_id),
                        {{"lane_id", request.lane_id}});
    return reader.lane_counts(request.lane_id);
  });
}

void Engine::start(GetInfo, const Call&, Callback<FabricInfo> callback) {
  read<FabricInfo>(std::move(callback), [this](store::Reader& reader) -> Result<FabricInfo> {
    auto now = reader.clock();
    if (!now) return std::unexpected(now.error());
    const store::StoreInfo store = store_->info();
    FabricInfo info;
    info.version = kVersion;
    info.store = store.kind;
    info.store_version = store.version;
    info.durability = store.durability;
    info.durability_detail = store.durability_detail;
    info.data_set_id = dataset_.data_set_id;
    info.flow_partitions = dataset_.partitioning.num_flow_partitions;
    info.lane_spread = dataset_.partitioning.lane_spread;
    info.payload_bytes_max = rules_.payload_bytes_max;
    info.sweeps = sweeps_->info();
    info.server_time_ms = *now;
    return info;
  });
}

}  // namespace ff::engine
