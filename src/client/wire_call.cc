#include "client/wire_call.h"

#include "client/blob.h"
#include "client/target_out.h"
#include "core/describe_calls.h"

#include <array>

namespace ff::client {
namespace {

struct RouteFacts {
  std::string_view path;
  bool takes_single;
};
constexpr std::array<RouteFacts, kBatchRoutes> kRoutes = {{
    {"", false},
    {"/v1/executions", true},
    {"/v1/worker/complete", true},
    {"/v1/worker/fail", true},
    {"/v1/worker/renew", true},
    {"/v1/worker/progress", true},
    {"/v1/worker/delay", true},
    {"/v1/worker/wait-children", true},
    {"/v1/worker/cancel", true},
    {"/v1/executions/cancel", false},
    {"/v1/executions/replay", false},
    {"/v1/executions/priority", false},
    {"/v1/executions/delete", false},
}};

/// An item: the members of the request, and those that `more` adds.
template <class Request, class More>
WireCall item(BatchRoute route, const Request& request, More more) {
  WireCall call;
  call.route = route;
  call.body.reserve(256);
  ObjectOut object(call.body);
  object.add_members(request);
  more(object);
  object.end();
  return call;
}
template <class Request>
WireCall item(BatchRoute route, const Request& request) {
  return item(route, request, [](ObjectOut&) {});
}
template <class Request>
WireCall keyed_item(BatchRoute route, const Request& request, const std::string& key) {
  return item(route, request, [&](ObjectOut& object) {
    if (!key.empty()) object.add("idempotency_key", key);
  });
}

WireCall get(TargetOut target, std::uint32_t wait_ms = 0) {
  return {.method = "GET", .target = target.take(), .wait_ms = wait_ms};
}

TargetOut execution(const ExecutionId& id, std::string_view rest = "") {
  TargetOut target("/v1/executions");
  target.segment(id.to_string()).path(rest);
  return target;
}

/// A request of its own about one execution. `fill` writes the members of its body.
template <class Fill>
WireCall post(TargetOut target, const std::string& key, Fill fill) {
  WireCall call{.target = target.take(), .key = key};
  ObjectOut object(call.body);
  fill(object);
  object.end();
  return call;
}

}  // namespace

std::string_view path_of(BatchRoute route) { return kRoutes[static_cast<std::size_t>(route)].path; }
bool takes_single(BatchRoute route) { return kRoutes[static_cast<std::size_t>(route)].takes_single; }

// ---- submitting and working ---------------------------------------------------------------------------------------

WireCall wire_call(const Submission& request, const std::string&) {
  WireCall call;
  call.route = BatchRoute::create;
  call.body.reserve(256 + (request.payload ? request.payload->size() * 4 / 3 : 0));
  ObjectOut object(call.body);
  core::for_each_field(request, [&](std::string_view name, const auto& member) {
    if (name == "content_type") return;  // goes with the payload
    if constexpr (requires { member.empty(); requires !std::same_as<std::remove_cvref_t<decltype(member)>, std::string>; })
      if (member.empty()) return;
    object.add(name, member);
  });
  if (request.payload)
    add_blob(object, "payload", *request.payload, request.content_type);
  else
    object.add("content_type", request.content_type);
  object.end();
  return call;
}

WireCall wire_call(const ClaimRequest& request, const std::string&) {
  WireCall call{.target = "/v1/worker/claim", .wait_ms = request.wait_ms};
  ObjectOut object(call.body);
  object.add_members(request);
  object.end();
  return call;
}
WireCall wire_call(const RenewLease& request, const std::string&) { return item(BatchRoute::renew, request); }
WireCall wire_call(const ReportProgress& request, const std::string&) { return item(BatchRoute::progress, request); }
WireCall wire_call(const DelayTask& request, const std::string&) { return item(BatchRoute::delay, request); }
WireCall wire_call(const WaitChildren& request, const std::string&) { return item(BatchRoute::wait_children, request); }
WireCall wire_call(const CancelTask& request, const std::string&) { return item(BatchRoute::cancel_task, request); }

WireCall wire_call(const CompleteTask& request, const std::string&) {
  WireCall call;
  call.route = BatchRoute::complete;
  ObjectOut object(call.body);
  object.add("handle", request.handle);
  if (request.result)
    add_blob(object, "result", *request.result, request.content_type);
  else
    object.add("content_type", request.content_type);
  object.end();
  return call;
}

WireCall wire_call(const FailTask& request, const std::string&) {
  WireCall call;
  call.route = BatchRoute::fail;
  ObjectOut object(call.body);
  object.add("handle", request.handle);
  object.add("message", request.message);
  object.add("class", request.failure_class);
  object.add("category", request.category);
  object.end();
  return call;
}

WireCall wire_call(const RegisterWorker& request, const std::string&) {
  return post(TargetOut("/v1/worker/register"), "", [&](ObjectOut& object) { object.add_members(request); });
}
WireCall wire_call(const HeartbeatWorker& request, const std::string&) {
  return post(TargetOut("/v1/worker/heartbeat"), "", [&](ObjectOut& object) { object.add_members(request); });
}
WireCall wire_call(const DeregisterWorker& request, const std::string&) {
  return post(TargetOut("/v1/worker/deregister"), "", [&](ObjectOut& object) { object.add_members(request); });
}

// ---- operating ----------------------------------------------------------------------------------------------------

WireCall wire_call(const CancelExecution& request, const std::string& key) {
  return keyed_item(BatchRoute::cancel, request, key);
}
WireCall wire_call(const ReplayExecution& request, const std::string& key) {
  return keyed_item(BatchRoute::replay, request, key);
}
WireCall wire_call(const ChangePriority& request, const std::string& key) {
  return keyed_item(BatchRoute::priority, request, key);
}
WireCall wire_call(const RemoveExecution& request, const std::string&) { return item(BatchRoute::remove, request); }

WireCall wire_call(const RevokeLease& request, const std::string& key) {
  return post(execution(request.execution_id, "/revoke"), key, [&](ObjectOut& object) {
    object.add("worker_instance_id", request.worker_instance_id);
    object.add("expected_lease_id", request.expected_lease_id);
    object.add("reason", request.reason);
  });
}
WireCall wire_call(const OperatorComplete& request, const std::string& key) {
  return post(execution(request.execution_id, "/complete"), key, [&](ObjectOut& object) {
    object.add("reason", request.reason);
    if (request.result)
      add_blob(object, "result", *request.result, request.content_type);
    else
      object.add("content_type", request.content_type);
  });
}
WireCall wire_call(const OperatorFail& request, const std::string& key) {
  return post(execution(request.execution_id, "/fail"), key, [&](ObjectOut& object) {
    object.add("message", request.message);
    object.add("category", request.category);
    object.add("reason", request.reason);
  });
}
WireCall wire_call(const SetTags& request, const std::string&) {
  WireCall call{.method = "PATCH", .target = execution(request.execution_id, "/tags").take()};
  core::write_json(call.body, request.tags);
  return call;
}
WireCall wire_call(const ConfigureLane& request, const std::string&) {
  WireCall call = post(TargetOut("/v1/lanes").segment(request.lane_id), "", [&](ObjectOut& object) {
    object.add("lane_state", request.lane_state);
    object.add("fairness", request.fairness);
    object.add("namespace_weights", request.namespace_weights);
    object.add("reason", request.reason);
  });
  call.method = "PATCH";
  return call;
}
WireCall wire_call(const MarkWorkerDead& request, const std::string& key) {
  return post(TargetOut("/v1/workers").segment(request.worker_instance_id).path("/dead"), key, [&](ObjectOut& object) {
    object.add("namespace", request.namespace_);
    object.add("reason", request.reason);
    object.add("revoke_leases", request.revoke_leases);
  });
}

// ---- reading ------------------------------------------------------------------------------------------------------

WireCall wire_call(const GetExecution& request, const std::string&) {
  if (request.wait_ms == 0) return get(execution(request.execution_id));
  TargetOut target = execution(request.execution_id, "/wait");
  target.add("wait_ms", request.wait_ms);
  return get(std::move(target), request.wait_ms);
}
WireCall wire_call(const GetPayload& request, const std::string&) { return get(execution(request.execution_id, "/payload")); }
WireCall wire_call(const GetResult& request, const std::string&) { return get(execution(request.execution_id, "/result")); }

WireCall wire_call(const ListExecutions& request, const std::string&) {
  const ExecutionFilter& filter = request.filter;
  TargetOut target("/v1/executions");
  target.add("namespace", filter.namespace_);
  target.add("lane", filter.lane);
  target.add("kind", filter.kind);
  for (PublicState state : filter.state) target.add("state", state);
  target.add("flow_id", filter.flow_id);
  for (const auto& [key, value] : filter.tags) target.add("tag." + key, std::string_view(value));
  target.add("worker", filter.worker);
  target.add("created_after_ms", filter.created_after_ms);
  target.add("created_before_ms", filter.created_before_ms);
  target.add("blocking_reason", filter.blocking_reason);
  if (request.order == ListOrder::oldest_first) target.add("sort", std::string_view("-created"));
  if (request.order == ListOrder::priority) target.add("sort", std::string_view("priority"));
  target.add_page(request.cursor, request.limit);
  return get(std::move(target));
}
WireCall wire_call(const ListAttempts& request, const std::string&) {
  TargetOut target = execution(request.execution_id, "/attempts");
  target.add("cursor", request.after_index);
  target.add("limit", request.limit);
  return get(std::move(target));
}
WireCall wire_call(const ReadHistory& request, const std::string&) {
  TargetOut target = execution(request.execution_id, "/history");
  target.add_page(request.cursor, request.limit);
  if (request.wait_ms > 0) target.add("wait_ms", request.wait_ms);
  return get(std::move(target), request.wait_ms);
}
WireCall wire_call(const ListLeases& request, const std::string&) {
  TargetOut target("/v1/leases");
  target.add("expired_before_ms", request.expired_before_ms);
  target.add("worker", request.worker);
  target.add("namespace", request.namespace_);
  target.add_page(request.cursor, request.limit);
  return get(std::move(target));
}
WireCall wire_call(const ListLanes& request, const std::string&) {
  TargetOut target("/v1/lanes");
  target.add_page(request.cursor, request.limit);
  return get(std::move(target));
}
WireCall wire_call(const GetLaneCounts& request, const std::string&) {
  return get(TargetOut("/v1/lanes").segment(request.lane_id));
}
WireCall wire_call(const ListWorkers& request, const std::string&) {
  TargetOut target("/v1/workers");
  target.add("namespace", request.namespace_);
  target.add("lane", request.lane);
  target.add_page(request.cursor, request.limit);
  return get(std::move(target));
}
WireCall wire_call(const ListAudit& request, const std::string&) {
  TargetOut target("/v1/admin/audit");
  target.add("actor", request.actor);
  target.add("event_type", request.event_type);
  target.add("execution_id", request.execution_id);
  target.add("since_ms", request.since_ms);
  target.add_page(request.cursor, request.limit);
  return get(std::move(target));
}
WireCall wire_call(const GetInfo&, const std::string&) { return get(TargetOut("/v1/info")); }

}  // namespace ff::client
