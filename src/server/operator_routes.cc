// What operators do to executions. Each answers with the execution as it stands afterwards.

#include "server/execution_reply.h"

namespace ff::server {
namespace {

/// The callback of a call that changed an execution; `unchanged` tells a repeat.
template <class T, class Unchanged>
Callback<T> then_execution(const Ctx& context, const ExecutionId& id, Answer answer, Unchanged unchanged) {
  return [context, id, answer = std::move(answer), unchanged](Result<T> changed) mutable {
    if (!changed) return answer(std::unexpected(std::move(changed.error())));
    answer_changed(context, id, *changed, 200, unchanged(*changed), std::move(answer));
  };
}

template <class Request>
void change_execution(const Ctx& context, Request request, Answer answer) {
  auto done = then_execution<Changed>(context, request.execution_id, std::move(answer),
                                      [](const Changed& changed) { return changed.unchanged; });
  context->backend->start(std::move(request), false, std::move(done));
}

void replay_execution(const Ctx& context, ReplayExecution request, Answer answer) {
  request.requested_by = context->principal.name.value_or(context->principal.actor);
  change_execution(context, std::move(request), std::move(answer));
}

void change_priority(const Ctx& context, ChangePriority request, Answer answer) {
  auto done = then_execution<PriorityChanged>(
      context, request.execution_id, std::move(answer),
      [](const PriorityChanged& changed) { return changed.old_priority == changed.new_priority; });
  context->backend->start(request, false, std::move(done));
}

void revoke_lease(const Ctx& context, RevokeLease request, Answer answer) {
  auto done = then_execution<Revoked>(context, request.execution_id, std::move(answer),
                                      [](const Revoked& revoked) { return !revoked.lease_id; });
  context->backend->start(std::move(request), false, std::move(done));
}

void remove_execution(const Ctx& context, RemoveExecution request, Answer answer) {
  auto gone = [](const Done&) {
    Reply reply;
    reply.status = 204;
    reply.content_type.clear();
    return reply;
  };
  context->backend->start(request, false, answering<Done>(std::move(answer), gone));
}

template <class T, class Outcome, void (*Handler)(const Ctx&, T, Answer)>
void add_operator_call(std::vector<Route>& table, std::string_view pattern, std::string_view name,
                       std::string_view summary, Batch batch = Batch::none) {
  Route route = make_route<T, Handler>({"POST", pattern, name, summary, Scope::operator_, batch, Body::object});
  route.reply = execution_schema;
  route.minimal = schema_of<Outcome>;
  table.push_back(route);
}

}  // namespace

void areas::add_operator_calls(std::vector<Route>& table) {
  add_operator_call<CancelExecution, Changed, change_execution>(table, "/v1/executions/{execution_id}/cancel",
                                                       "cancel_execution", "Cancel an execution that has not ended.");
  add_operator_call<ReplayExecution, Changed, replay_execution>(table, "/v1/executions/{execution_id}/replay",
                                                       "replay_execution", "Run an execution again that has ended.");
  add_operator_call<ChangePriority, PriorityChanged, change_priority>(table, "/v1/executions/{execution_id}/priority", "change_priority",
                                                     "Change the priority of an execution that has not ended.");
  add_operator_call<RevokeLease, Revoked, revoke_lease>(table, "/v1/executions/{execution_id}/revoke", "revoke_lease",
                                               "Take the lease away from the worker that holds it.");
  add_operator_call<OperatorComplete, Changed, change_execution>(table, "/v1/executions/{execution_id}/complete",
                                                        "operator_complete",
                                                        "End an execution as a success, without its worker.");
  add_operator_call<OperatorFail, Changed, change_execution>(table, "/v1/executions/{execution_id}/fail", "operator_fail",
                                                    "End an execution as failed, without a retry.");
  Route tags = make_route<SetTags, change_execution>({"PATCH", "/v1/executions/{execution_id}/tags", "set_tags",
                                                      "Set tags; null removes one. All or nothing.", Scope::submit,
                                                      Batch::none, Body::tags});
  tags.reply = execution_schema;
  tags.minimal = schema_of<Changed>;
  table.push_back(tags);
  table.push_back(make_route<RemoveExecution, remove_execution>(
      {"DELETE", "/v1/executions/{execution_id}", "delete_execution", "Remove an execution that has ended.",
       Scope::operator_, Batch::none, Body::none, false, false, 204}));

  add_operator_call<CancelExecution, Changed, change_execution>(table, "/v1/executions/cancel", "cancel_executions",
                                                       "Cancel many.", Batch::only);
  add_operator_call<ReplayExecution, Changed, replay_execution>(table, "/v1/executions/replay", "replay_executions",
                                                       "Replay many.", Batch::only);
  add_operator_call<ChangePriority, PriorityChanged, change_priority>(table, "/v1/executions/priority", "change_priorities",
                                                     "Change the priorities of many.", Batch::only);
  table.push_back(make_route<RemoveExecution, remove_execution>({"POST", "/v1/executions/delete", "delete_executions",
                                                                 "Remove many.", Scope::operator_, Batch::only,
                                                                 Body::object, false, false, 204}));
}

}  // namespace ff::server
