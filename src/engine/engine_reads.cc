// Calls that only read.

#include "core/fence.h"
#include "core/validate.h"
#include "core/view.h"
#include "core/why.h"
#include "engine/cursors.h"
#include "engine/list_by_priority.h"
#include "engine/engine.h"
#include "engine/engine_push.h"
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

Result<Execution> Engine::view(store::Reader& reader, const ExecutionId& id, const core::Caller& caller) {
  auto snapshot = reader.execution(id);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (!*snapshot || hidden((*snapshot)->record, caller)) return std::unexpected(core::not_found(id));
  const core::ExecutionRecord& record = (*snapshot)->record;
  Execution execution = core::to_view(record, (*snapshot)->info);
  execution.result_bytes = (*snapshot)->result_bytes;
  execution.result_content_type = (*snapshot)->result_content_type;

  auto now = reader.clock();
  if (!now) return std::unexpected(now.error());
  core::QueueSituation situation;
  if (core::is_candidate(record)) {
    auto lane = reader.lane(record.lane_id());
    if (!lane) return std::unexpected(lane.error());
    if (*lane) situation.lane_state = (*lane)->lane_state;
    auto ahead = reader.ahead_of(record);
    if (!ahead) return std::unexpected(ahead.error());
    situation.ahead = *ahead;
    situation.ahead_is_bound = *ahead >= store::kAheadMax;
    auto workers = live_workers_.get(reader, *now);
    if (!workers) return std::unexpected(workers.error());
    situation.workers = core::coverage(**workers, *record.queue);
  }
  execution.why = core::explain(record, situation, *now);
  return execution;
}

void Engine::start(GetExecution request, const Call& call, Callback<Execution> callback) {
  if (auto fault = core::check_wait(request.wait_ms)) return callback(std::unexpected(std::move(*fault)));
  if (auto fault = core::check_partition(request.execution_id, dataset_.partitioning))
    return callback(std::unexpected(std::move(*fault)));
  const ExecutionId id = request.execution_id;
  wait_for<Execution>(id, request.wait_ms, true, std::move(callback),
                      [this, id, caller = call.caller](store::Reader& reader) -> Result<std::pair<Execution, bool>> {
                        auto found = view(reader, id, caller);
                        if (!found) return std::unexpected(found.error());
                        const bool ended = found->state.lifecycle_phase == LifecyclePhase::terminal;
                        return std::pair(std::move(*found), ended);
                      });
}

namespace {

/// A reader that waits, and may be woken by several at once.
template <class Reply>
struct WaitingRead {
  ExecutionId id;
  bool only_ends = true;
  SteadyUs deadline = 0;
  std::function<Result<std::pair<Reply, bool>>(store::Reader&)> look;

  std::mutex mutex;
  bool answered = false;
  Callback<Reply> callback;

  void answer(Result<Reply> result) {
    {
      std::lock_guard guard(mutex);
      if (std::exchange(answered, true)) return;
    }
    callback(std::move(result));
  }
  bool is_over() {
    std::lock_guard guard(mutex);
    return answered;
  }
};

}  // namespace

/// Parks first, then looks: a change that comes between the two wakes the waiter.
template <class Reply>
void Engine::wait_for(const ExecutionId& id, std::uint32_t wait_ms, bool only_ends, Callback<Reply> callback,
                      std::function<Result<std::pair<Reply, bool>>(store::Reader&)> look) {
  if (wait_ms == 0)
    return read<Reply>(std::move(callback), [look = std::move(look)](store::Reader& reader) -> Result<Reply> {
      auto seen = look(reader);
      if (!seen) return std::unexpected(seen.error());
      return std::move(seen->first);
    });
  auto waiting = std::make_shared<WaitingRead<Reply>>();
  waiting->id = id;
  waiting->only_ends = only_ends;
  waiting->deadline = runtime_.steady_us() + static_cast<SteadyUs>(wait_ms) * 1000;
  waiting->look = std::move(look);
  waiting->callback = std::move(callback);
  park_read(waiting);
}

/// `last`: whatever is seen now is the answer.
template <class Waiting>
void Engine::look_once(const std::shared_ptr<Waiting>& waiting, bool park_again, bool last) {
  reads_.push([this, waiting, park_again, last](Result<store::Reader*> reader) {
    if (waiting->is_over()) return;
    if (!reader) return waiting->answer(std::unexpected(reader.error()));
    auto seen = waiting->look(**reader);
    if (!seen) return waiting->answer(std::unexpected(seen.error()));
    if (seen->second || last || runtime_.steady_us() >= waiting->deadline) return waiting->answer(std::move(seen->first));
    if (park_again) park_read(waiting);
  });
}

template <class Waiting>
void Engine::park_read(const std::shared_ptr<Waiting>& waiting) {
  const bool parked = changes_.park(waiting->id, waiting->only_ends, waiting->deadline,
                                    [this, waiting](bool time_over) { look_once(waiting, true, time_over); });
  if (!parked) {
    if (closed_.load()) return look_once(waiting, false, true);
    return waiting->answer(
        core::fail(ErrorCode::resource_exhausted, "Too many calls are waiting. Try again without waiting.",
                   {{"pool", std::string("waiters")},
                    {"max", std::int64_t{options_.waiters_max}},
                    {"retry_after_ms", std::int64_t{1'000}}}));
  }
  update_watchfulness();
  look_once(waiting, false, false);
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
  const bool by_priority = request.order == ListOrder::priority;
  if (request.order == ListOrder::oldest_first) query.along = store::ListAlong::oldest_first;
  if (!request.cursor.empty()) {
    auto after = by_priority ? parse_priority_cursor(request.cursor) : parse_list_cursor(request.cursor);
    if (!after) return callback(std::unexpected(after.error()));
    query.after = *after;
  }
  if (request.limit == 0) return callback(Page<ExecutionSummary>{});
  read<Page<ExecutionSummary>>(std::move(callback),
                               [by_priority, query = std::move(query)](store::Reader& reader) -> Result<Page<ExecutionSummary>> {
                                 auto found = by_priority ? list_by_priority(reader, query) : reader.list(query);
                                 if (!found) return std::unexpected(found.error());
                                 Page<ExecutionSummary> page;
                                 for (const auto& record : found->records) page.items.push_back(core::summarize(record));
                                 if (found->next)
                                   page.next_cursor =
                                       by_priority ? priority_cursor(*found->next) : list_cursor(*found->next);
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

Result<std::pair<Page<Event>, bool>> Engine::look_at_history(store::Reader& reader, const ReadHistory& request,
                                                             std::int64_t after, const core::Caller& caller) {
  auto snapshot = reader.execution(request.execution_id);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (!*snapshot || hidden((*snapshot)->record, caller)) return std::unexpected(core::not_found(request.execution_id));
  Page<Event> page;
  if (request.limit == 0) return std::pair(std::move(page), true);
  auto found = reader.history(request.execution_id, after, request.limit);
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::unexpected(core::not_found(request.execution_id));
  page.items = std::move((*found)->events);
  // Whoever waits for more is told where to go on, also when nothing more is there yet.
  const bool ended = (*snapshot)->record.is_terminal();
  if (!page.items.empty() && ((*found)->more || (request.wait_ms > 0 && !ended)))
    page.next_cursor = number_cursor(page.items.back().event_id);
  else if (page.items.empty() && request.wait_ms > 0 && !ended)
    page.next_cursor = request.cursor.empty() ? number_cursor(0) : request.cursor;
  const bool enough = !page.items.empty() || ended;
  return std::pair(std::move(page), enough);
}

void Engine::start(ReadHistory request, const Call& call, Callback<Page<Event>> callback) {
  if (auto fault = core::check_limit(request.limit)) return callback(std::unexpected(std::move(*fault)));
  if (auto fault = core::check_wait(request.wait_ms)) return callback(std::unexpected(std::move(*fault)));
  if (auto fault = core::check_partition(request.execution_id, dataset_.partitioning))
    return callback(std::unexpected(std::move(*fault)));
  std::int64_t after = 0;
  if (!request.cursor.empty()) {
    auto parsed = parse_number_cursor(request.cursor);
    if (!parsed) return callback(std::unexpected(parsed.error()));
    after = *parsed;
  }
  wait_for<Page<Event>>(request.execution_id, request.wait_ms, false, std::move(callback),
                        [this, request, after, caller = call.caller](store::Reader& reader) {
                          return look_at_history(reader, request, after, caller);
                        });
}

void Engine::start(ListAudit request, const Call& call, Callback<Page<Event>> callback) {
  if (auto fault = core::check_limit(request.limit)) return callback(std::unexpected(std::move(*fault)));
  store::AuditQuery query;
  query.namespace_ = call.caller.namespace_scope;
  query.actor = std::move(request.actor);
  query.event_type = std::move(request.event_type);
  query.execution_id = request.execution_id;
  query.since_ms = request.since_ms;
  query.limit = request.limit;
  if (!request.cursor.empty()) {
    auto after = parse_text_cursor(request.cursor);
    if (!after) return callback(std::unexpected(after.error()));
    query.after = std::move(*after);
  }
  if (request.limit == 0) return callback(Page<Event>{});
  read<Page<Event>>(std::move(callback), [query = std::move(query)](store::Reader& reader) -> Result<Page<Event>> {
    auto found = reader.audit(query);
    if (!found) return std::unexpected(found.error());
    Page<Event> page{std::move(found->items), std::nullopt};
    if (!found->next.empty()) page.next_cursor = text_cursor(found->next);
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
  read<Page<LaneStatus>>(std::move(callback), [this, request, after](store::Reader& reader) -> Result<Page<LaneStatus>> {
    auto lanes = reader.lanes(after, request.limit + 1);
    if (!lanes) return std::unexpected(lanes.error());
    auto now = reader.clock();
    if (!now) return std::unexpected(now.error());
    auto workers = live_workers_.get(reader, *now);
    if (!workers) return std::unexpected(workers.error());
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
      const LaneRates::Rates rates = lane_rates_.of(lane.lane_id, runtime_.steady_us());
      status.claims_per_s = rates.claims_per_s;
      status.completions_per_s = rates.completions_per_s;
      status.workers = static_cast<std::uint32_t>(
          std::count_if((*workers)->begin(), (*workers)->end(), [&](const core::WorkerRecord& worker) {
            return std::find(worker.lanes.begin(), worker.lanes.end(), lane.lane_id) != worker.lanes.end();
          }));
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
