// The registry of workers.

#include "core/capabilities.h"
#include "core/ops/workers.h"
#include "engine/cursors.h"
#include "engine/engine.h"
#include "engine/engine_push.h"

namespace ff::engine {
namespace {

/// A worker that is known by its claims alone lives for twice its leases, and for a minute at least.
constexpr std::uint64_t kClaimerTtlMsMin = 60'000;

core::Fault check_reason(std::string_view reason) {
  if (reason.size() > core::kNameBytesMax)
    return core::invalid_input("reason", "too_long",
                               fmt::format("reason: it has {} bytes; {} are the most.", reason.size(), core::kNameBytesMax));
  for (unsigned char byte : reason)
    if (byte < 0x20 || byte == 0x7f)
      return core::invalid_input("reason", "control_byte", "reason: it may not contain control bytes.");
  return std::nullopt;
}

Result<core::WorkerRecord> checked(const RegisterWorker& request) {
  auto refuse = [](core::Fault fault) { return std::unexpected(std::move(*fault)); };
  if (auto fault = core::check_name("worker_id", request.worker_id)) return refuse(std::move(fault));
  if (auto fault = core::check_name("worker_instance_id", request.worker_instance_id)) return refuse(std::move(fault));
  if (request.namespace_)
    if (auto fault = core::check_name("namespace", *request.namespace_)) return refuse(std::move(fault));
  if (request.lanes.empty() || request.lanes.size() > core::kClaimLanesMax)
    return refuse(core::invalid_input("lanes", "out_of_range",
                                      fmt::format("A worker serves 1 to {} lanes; this one names {}.",
                                                  core::kClaimLanesMax, request.lanes.size())));
  for (const auto& lane : request.lanes)
    if (auto fault = core::check_lane(lane)) return refuse(std::move(fault));
  auto capabilities = core::normalize_capabilities("worker", request.capabilities);
  if (!capabilities) return std::unexpected(capabilities.error());
  if (request.kinds.size() > core::kClaimKindsMax)
    return refuse(core::invalid_input("kinds", "too_many",
                                      fmt::format("A worker names at most {} kinds.", core::kClaimKindsMax)));
  for (const auto& kind : request.kinds)
    if (auto fault = core::check_kind("kinds", kind)) return refuse(std::move(fault));
  if (auto fault = core::check_liveness_ttl(request.liveness_ttl_ms)) return refuse(std::move(fault));
  if (auto fault = core::check_label("client_version", request.client_version)) return refuse(std::move(fault));

  core::WorkerRecord worker;
  worker.worker_id = request.worker_id;
  worker.worker_instance_id = request.worker_instance_id;
  worker.namespace_ = request.namespace_.value_or("");
  worker.boot_id = request.boot_id;
  for (const auto& lane : request.lanes)
    if (std::find(worker.lanes.begin(), worker.lanes.end(), lane) == worker.lanes.end()) worker.lanes.push_back(lane);
  worker.capabilities.assign(capabilities->begin(), capabilities->end());
  worker.kinds = request.kinds;
  worker.max_concurrent_tasks = request.max_concurrent_tasks;
  worker.client_version = request.client_version;
  worker.liveness_ttl_ms = request.liveness_ttl_ms;
  return worker;
}

/// The namespace of a call about a worker: a caller that is bound to one has no choice.
std::string namespace_of(const std::optional<std::string>& given, const core::Caller& caller) {
  return caller.namespace_scope ? *caller.namespace_scope : given.value_or("");
}

}  // namespace

core::WorkerEvents Engine::worker_events() { return {mint(), options_.event_retention_ms}; }

void Engine::start(RegisterWorker request, const Call& call, Callback<WorkerRegistered> callback) {
  if (call.caller.namespace_scope) {
    if (request.namespace_ && *request.namespace_ != *call.caller.namespace_scope)
      return callback(core::fail(ErrorCode::forbidden, "This caller may work for its own namespace only.",
                                 {{"namespace", *call.caller.namespace_scope}}));
    request.namespace_ = call.caller.namespace_scope;
  }
  auto worker = checked(request);
  if (!worker) return callback(std::unexpected(worker.error()));
  (void)noted_claimers_.due(worker->namespace_, worker->worker_instance_id, 0, clock_ms());
  const std::string instance = worker->worker_instance_id;
  push_keyed(executor_for_name(instance), std::string_view(instance),
             core::RegisterWorkerOp{std::move(*worker), worker_events()}, call,
             [this, callback = std::move(callback)](Result<WorkerRegistered> result) mutable {
               live_workers_.forget();
               callback(std::move(result));
             });
}

void Engine::start(HeartbeatWorker request, const Call& call, Callback<WorkerAlive> callback) {
  if (auto fault = core::check_name("worker_instance_id", request.worker_instance_id))
    return callback(std::unexpected(std::move(*fault)));
  push_keyed(executor_for_name(request.worker_instance_id), std::string_view(request.worker_instance_id),
             core::HeartbeatWorkerOp{namespace_of(request.namespace_, call.caller), request.worker_instance_id,
                                     worker_events()},
             call, std::move(callback));
}

void Engine::start(DeregisterWorker request, const Call& call, Callback<Done> callback) {
  if (auto fault = core::check_name("worker_instance_id", request.worker_instance_id))
    return callback(std::unexpected(std::move(*fault)));
  push_keyed(executor_for_name(request.worker_instance_id), std::string_view(request.worker_instance_id),
             core::DeregisterWorkerOp{namespace_of(request.namespace_, call.caller), request.worker_instance_id,
                                      worker_events()},
             call, [this, callback = std::move(callback)](Result<Done> result) mutable {
               live_workers_.forget();
               callback(std::move(result));
             });
}

void Engine::note_claimer(const ClaimRequest& request, const core::Claim& claim) {
  if (request.lanes.empty()) return;  // a claim by name says nothing of where the worker works
  const std::string namespace_ = request.namespace_.value_or("");
  const std::uint64_t ttl_ms = std::max<std::uint64_t>(2ULL * claim.lease_ttl_ms, kClaimerTtlMsMin);
  if (!noted_claimers_.due(namespace_, request.worker_instance_id, ttl_ms / core::kHeartbeatPart, clock_ms())) return;
  core::WorkerRecord worker;
  worker.worker_id = request.worker_id;
  worker.worker_instance_id = request.worker_instance_id;
  worker.namespace_ = namespace_;
  worker.lanes = claim.worker.lanes;
  worker.capabilities.assign(claim.worker.capabilities.begin(), claim.worker.capabilities.end());
  worker.kinds.assign(claim.worker.kinds.begin(), claim.worker.kinds.end());
  worker.liveness_ttl_ms = ttl_ms;
  push(executor_for_name(request.worker_instance_id), core::NoteClaimer{std::move(worker), worker_events()}, Call{},
       [this](const Result<bool>& noted) {
         if (noted && *noted) live_workers_.forget();
       });
}

void Engine::start(MarkWorkerDead request, const Call& call, Callback<WorkerMarkedDead> callback) {
  if (auto fault = check_reason(request.reason)) return callback(std::unexpected(std::move(*fault)));
  if (auto fault = core::check_name("worker_instance_id", request.worker_instance_id))
    return callback(std::unexpected(std::move(*fault)));
  core::MarkWorkerDeadOp op{call.caller, namespace_of(request.namespace_, call.caller), request.worker_instance_id,
                            request.reason, worker_events()};
  const std::string instance = request.worker_instance_id;
  push_keyed(executor_for_name(instance), std::string_view(instance), std::move(op), call,
             [this, request = std::move(request), call,
              callback = std::move(callback)](Result<WorkerMarkedDead> result) mutable {
               live_workers_.forget();
               if (!result || !request.revoke_leases) return callback(std::move(result));
               revoke_leases_of(std::move(request), call, std::move(callback));
             });
}

void Engine::revoke_leases_of(MarkWorkerDead request, const Call& call, Callback<WorkerMarkedDead> callback) {
  struct Revoking {
    std::atomic<std::size_t> left = 1;
    std::atomic<std::uint32_t> revoked = 0;
    Callback<WorkerMarkedDead> callback;
    void one_less() {
      if (left.fetch_sub(1) == 1) callback(WorkerMarkedDead{revoked.load()});
    }
  };
  auto revoking = std::make_shared<Revoking>();
  revoking->callback = std::move(callback);
  ListLeases held;
  held.worker = request.worker_instance_id;
  held.namespace_ = call.caller.namespace_scope ? call.caller.namespace_scope : request.namespace_;
  held.limit = core::kLeasePageMax;
  Call each = call;
  each.caller.key.reset();
  start(std::move(held), call, [this, revoking, each, request = std::move(request)](Result<Page<LeaseItem>> leases) {
    if (!leases) return revoking->callback(std::unexpected(leases.error()));
    for (const auto& lease : leases->items) {
      ++revoking->left;
      RevokeLease revoke{lease.execution_id, lease.worker_instance_id, lease.lease_id, request.reason};
      start(std::move(revoke), each, [revoking](const Result<Revoked>& revoked) {
        // One that is gone, or was taken over, has nothing left to be revoked.
        if (revoked && revoked->lease_id) ++revoking->revoked;
        revoking->one_less();
      });
    }
    revoking->one_less();
  });
}

void Engine::start(ListWorkers request, const Call& call, Callback<Page<WorkerInfo>> callback) {
  if (auto fault = core::check_limit(request.limit)) return callback(std::unexpected(std::move(*fault)));
  if (request.lane)
    if (auto fault = core::check_lane(*request.lane)) return callback(std::unexpected(std::move(*fault)));
  std::string after;
  if (!request.cursor.empty()) {
    auto parsed = parse_text_cursor(request.cursor);
    if (!parsed) return callback(std::unexpected(parsed.error()));
    after = std::move(*parsed);
  }
  if (request.limit == 0) return callback(Page<WorkerInfo>{});
  const auto scope = call.caller.namespace_scope ? call.caller.namespace_scope : request.namespace_;
  read<Page<WorkerInfo>>(std::move(callback), [request = std::move(request), after = std::move(after),
                                               scope](store::Reader& reader) mutable -> Result<Page<WorkerInfo>> {
    auto now = reader.clock();
    if (!now) return std::unexpected(now.error());
    Page<WorkerInfo> page;
    std::string last;
    for (std::uint32_t walked = 0; walked < store::kListWalkMax && !page.next_cursor;) {
      auto documents = reader.documents(core::DocumentKind::worker, after, core::kPageMax);
      if (!documents) return std::unexpected(documents.error());
      for (const auto& document : *documents) {
        ++walked;
        auto worker = core::read_document<core::WorkerRecord>(document);
        const bool listed = worker && core::is_live(*worker, *now) && (!scope || worker->namespace_ == *scope) &&
                            (!request.lane || core::serves(*worker, *request.lane, worker->namespace_));
        if (listed && page.items.size() == request.limit) {
          page.next_cursor = text_cursor(last);
          break;
        }
        last = document.id.key;
        if (listed) page.items.push_back(core::to_view(*worker));
      }
      if (documents->size() < core::kPageMax) break;
      after = documents->back().id.key;
      if (walked >= store::kListWalkMax && !page.next_cursor) page.next_cursor = text_cursor(after);
    }
    store::LeaseQuery held;
    held.limit = core::kLeasePageMax;
    if (page.items.size() == 1) held.worker = page.items.front().worker_instance_id;
    auto leases = page.items.empty() ? Result<std::vector<LeaseItem>>() : reader.leases(held);
    if (!leases) return std::unexpected(leases.error());
    std::map<std::string, std::uint64_t> counts;
    for (const auto& lease : *leases) ++counts[lease.worker_instance_id];
    for (auto& item : page.items) item.leases_held = counts[item.worker_instance_id];
    return page;
  });
}

}  // namespace ff::engine
