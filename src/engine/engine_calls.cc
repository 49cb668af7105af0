// Calls that write: submitting, operating, and working on a lease.

#include "core/ops/cancel.h"
#include "core/ops/change.h"
#include "core/ops/complete.h"
#include "core/ops/deletion.h"
#include "core/ops/fail.h"
#include "core/ops/hold_lease.h"
#include "core/ops/lanes.h"
#include "core/ops/operator_finish.h"
#include "core/ops/pause.h"
#include "core/ops/revoke.h"
#include "core/submission.h"
#include "core/text.h"
#include "engine/engine.h"
#include "engine/engine_push.h"

namespace ff::engine {
namespace {

core::SharedBytes share(std::optional<Bytes> bytes) {
  return bytes ? std::make_shared<const Bytes>(std::move(*bytes)) : nullptr;
}

std::string content_type_of(const std::optional<std::string>& given) {
  return given && !given->empty() ? *given : "application/json";
}

/// Answers with the first fault of a list of checks; true when there was one.
template <class Reply>
bool refused(Callback<Reply>& callback, std::initializer_list<core::Fault> faults) {
  for (const auto& fault : faults)
    if (fault) {
      callback(std::unexpected(*fault));
      return true;
    }
  return false;
}

}  // namespace

// ---- submitting ---------------------------------------------------------------------------------------------------

Result<core::Create> Engine::prepare(Submission&& request, const Call& call, const core::QueueRef& earlier) {
  if (call.caller.namespace_scope) {
    if (request.namespace_ && *request.namespace_ != *call.caller.namespace_scope)
      return core::fail(ErrorCode::forbidden, "This caller may submit to its own namespace only.",
                        {{"namespace", *call.caller.namespace_scope}});
    request.namespace_ = call.caller.namespace_scope;
  }
  auto checked =
      core::check_submission(std::move(request), rules_, dataset_.partitioning, {default_policy_, earlier});
  if (!checked) return std::unexpected(checked.error());
  core::place_submission(*checked, mint(), dataset_.partitioning);
  core::Create& create = checked->create;
  if (create.queue != earlier) create.queue = intern(std::move(create.queue));
  if (create.key) {
    const auto digest = sha256(checked->content);
    create.content_digest.assign(digest.begin(), digest.end());
  }
  create.known_lane_state = directory_.lane_state(create.queue->lane_id);
  return std::move(create);
}

void Engine::start(Submission request, const Call& call, Callback<Submitted> callback) {
  auto create = prepare(std::move(request), call);
  if (!create) return callback(std::unexpected(create.error()));
  Executor& executor = executor_for(create->id);
  if (create->known_lane_state || traits_.commit_spans_partitions)
    return push(executor, std::move(*create), call, std::move(callback));
  // The lane's record lives in another partition: it is registered in a step of its own, before.
  const std::string lane_id = create->queue->lane_id;
  push(executor_for_lane(lane_id), core::RegisterLane{lane_id, "create_execution"}, Call{call.caller, true},
       [this, &executor, call, create = std::move(*create), callback = std::move(callback)](Result<Lane> lane) mutable {
         if (!lane) return callback(std::unexpected(lane.error()));
         create.known_lane_state = lane->lane_state;
         push(executor, std::move(create), call, std::move(callback));
       });
}

void Engine::start(std::vector<Submission> requests, const Call& call,
                   std::function<void(std::size_t, Result<Submitted>)> callback) {
  if (requests.empty()) return;
  std::map<Executor*, store::BatchRun::Operations> batches;
  Executor* together = nullptr;  // new ids may go anywhere: what is submitted in one call is best written by one commit
  core::QueueRef queue;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto answer = [callback, i](Result<Submitted> result) { callback(i, std::move(result)); };
    if (!traits_.commit_spans_partitions && !directory_.lane_state(requests[i].lane_id)) {
      start(std::move(requests[i]), call, std::move(answer));
      continue;
    }
    auto create = prepare(std::move(requests[i]), call, queue);
    if (!create) {
      answer(std::unexpected(create.error()));
      continue;
    }
    queue = create->queue;
    const bool is_new = !create->own_id && !create->key;
    if (is_new && !together) together = &idlest(executor_for(create->id));
    Executor& executor = is_new ? *together : executor_for(create->id);
    auto operation = std::make_unique<core::TypedOperation<core::Create>>(std::move(*create), std::move(answer));
    operation->deliver_inline = call.inline_delivery;
    batches[&executor].push_back(std::move(operation));
  }
  for (auto& [executor, operations] : batches) executor->push(std::move(operations));
}

// ---- operating ----------------------------------------------------------------------------------------------------

void Engine::start(CancelExecution request, const Call& call, Callback<Changed> callback) {
  if (refused(callback, {core::check_label("reason", request.reason)})) return;
  push_for(request.execution_id, core::CancelByOperator{call.caller, request.execution_id, std::move(request.reason)},
           call, std::move(callback));
}

void Engine::start(ReplayExecution request, const Call& call, Callback<Changed> callback) {
  if (refused(callback, {core::check_label("reason", request.reason),
                         core::check_label("requested_by", request.requested_by)}))
    return;
  push_for(request.execution_id,
           core::Replay{call.caller, request.execution_id, std::move(request.reason), std::move(request.requested_by)},
           call, std::move(callback));
}

void Engine::start(ChangePriority request, const Call& call, Callback<PriorityChanged> callback) {
  push_for(request.execution_id, core::ChangePriorityOp{call.caller, request.execution_id, request.priority}, call,
           std::move(callback));
}

void Engine::start(RevokeLease request, const Call& call, Callback<Revoked> callback) {
  if (refused(callback, {core::check_label("reason", request.reason)})) return;
  const ExecutionId id = request.execution_id;
  push_for(id, core::Revoke{call.caller, std::move(request)}, call, std::move(callback));
}

void Engine::start(OperatorComplete request, const Call& call, Callback<Changed> callback) {
  if (refused(callback, {core::check_payload("result", request.result, rules_.payload_bytes_max),
                         core::check_label("content_type", request.content_type),
                         core::check_label("reason", request.reason)}))
    return;
  push_for(request.execution_id,
           core::CompleteByOperator{call.caller, request.execution_id, share(std::move(request.result)),
                                    content_type_of(request.content_type), std::move(request.reason)},
           call, std::move(callback));
}

void Engine::start(OperatorFail request, const Call& call, Callback<Changed> callback) {
  if (refused(callback,
              {core::check_label("category", request.category), core::check_label("reason", request.reason)}))
    return;
  push_for(request.execution_id,
           core::FailByOperator{call.caller, request.execution_id,
                                core::clean_text(std::move(request.message), core::kMessageBytesMax),
                                request.category.value_or("operator"), std::move(request.reason)},
           call, std::move(callback));
}

void Engine::start(SetTags request, const Call& call, Callback<Changed> callback) {
  if (request.tags.empty())
    return callback(std::unexpected(core::invalid_input("tags", "empty", "Give at least one tag to set or remove.")));
  for (const auto& [key, value] : request.tags)
    if (refused(callback, {core::check_tag_key(key)})) return;
  Tags set;
  for (const auto& [key, value] : request.tags)
    if (value) set.emplace(key, *value);
  if (refused(callback, {core::check_tags(set)})) return;
  push_for(request.execution_id, core::SetTagsOp{call.caller, request.execution_id, std::move(request.tags)}, call,
           std::move(callback));
}

void Engine::start(RemoveExecution request, const Call& call, Callback<Done> callback) {
  push_for(request.execution_id, core::DeleteExecution{call.caller, request.execution_id}, call, std::move(callback));
}

void Engine::start(ConfigureLane request, const Call& call, Callback<Lane> callback) {
  if (refused(callback, {core::check_lane_settings(request)})) return;
  const std::string lane_id = request.lane_id;
  push_keyed(executor_for_lane(lane_id), std::string_view(lane_id),
             core::ConfigureLaneOp{call.caller, std::move(request)}, call, std::move(callback));
}

// ---- working ------------------------------------------------------------------------------------------------------

void Engine::start(RenewLease request, const Call& call, Callback<LeaseRenewed> callback) {
  if (request.lease_ttl_ms && refused(callback, {core::check_ttl(*request.lease_ttl_ms)})) return;
  push_by_handle(request.handle, call, std::move(callback), [&](core::TaskHandle handle) {
    return core::Renew{std::move(handle), request.lease_ttl_ms, rules_.renewal_events};
  });
}

void Engine::start(ReportProgress request, const Call& call, Callback<Done> callback) {
  if (request.progress_pct && *request.progress_pct > 100)
    return callback(std::unexpected(core::invalid_input(
        "progress_pct", "out_of_range", fmt::format("progress_pct is {}; it may be 0 to 100.", *request.progress_pct))));
  if (request.progress_message)
    request.progress_message = core::clean_text(std::move(*request.progress_message), core::kMessageBytesMax);
  push_by_handle(request.handle, call, std::move(callback), [&](core::TaskHandle handle) {
    return core::ReportProgressOp{std::move(handle), request.progress_pct, std::move(request.progress_message)};
  });
}

void Engine::start(CompleteTask request, const Call& call, Callback<Changed> callback) {
  if (refused(callback, {core::check_payload("result", request.result, rules_.payload_bytes_max),
                         core::check_label("content_type", request.content_type)}))
    return;
  push_by_handle(request.handle, call, std::move(callback), [&](core::TaskHandle handle) {
    return core::Complete{std::move(handle), share(std::move(request.result)), content_type_of(request.content_type)};
  });
}

void Engine::start(FailTask request, const Call& call, Callback<TaskFailed> callback) {
  if (refused(callback, {core::check_label("category", request.category)})) return;
  push_by_handle(request.handle, call, std::move(callback), [&](core::TaskHandle handle) {
    core::Fail op;
    op.handle = std::move(handle);
    op.message = core::clean_text(std::move(request.message), core::kMessageBytesMax);
    op.failure_class = request.failure_class;
    op.category = request.category && !request.category->empty() ? *request.category
                                                                 : std::string(core::name_of(request.failure_class));
    op.jitter_draw = runtime_.random_unit();
    return op;
  });
}

void Engine::start(DelayTask request, const Call& call, Callback<TaskDelayed> callback) {
  if (request.delay_until_ms.has_value() == request.delay_ms.has_value())
    return callback(std::unexpected(
        core::invalid_input("delay_until_ms", "one_of", "Give delay_until_ms or delay_ms, one of the two.")));
  push_by_handle(request.handle, call, std::move(callback), [&](core::TaskHandle handle) {
    return core::Delay{std::move(handle), request.delay_until_ms, request.delay_ms};
  });
}

void Engine::start(WaitChildren request, const Call& call, Callback<Changed> callback) {
  push_by_handle(request.handle, call, std::move(callback), [&](core::TaskHandle handle) {
    return core::WaitForChildren{std::move(handle), !request.children.empty()};
  });
}

void Engine::start(CancelTask request, const Call& call, Callback<Changed> callback) {
  if (refused(callback, {core::check_label("reason", request.reason)})) return;
  push_by_handle(request.handle, call, std::move(callback), [&](core::TaskHandle handle) {
    return core::CancelByHolder{std::move(handle), std::move(request.reason)};
  });
}

}  // namespace ff::engine
