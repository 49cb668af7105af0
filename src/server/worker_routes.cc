// The worker protocol: claim, then everything else by handle.

#include "server/route.h"

namespace ff::server {

/// A failure as it is sent: the class has its short name.
struct FailBody {
  std::string handle;
  std::string message;
  FailureClass class_ = FailureClass::transient;
  std::optional<std::string> category;
};
BOOST_DESCRIBE_STRUCT(FailBody, (), (handle, message, class_, category))

struct Completed {
  ExecutionId execution_id;
  PublicState public_state = PublicState::waiting;
};
BOOST_DESCRIBE_STRUCT(Completed, (), (execution_id, public_state))

struct StateOnly {
  PublicState public_state = PublicState::waiting;
};
BOOST_DESCRIBE_STRUCT(StateOnly, (), (public_state))

struct Renewed {
  TimeMs lease_expires_at_ms = 0;
};
BOOST_DESCRIBE_STRUCT(Renewed, (), (lease_expires_at_ms))

}  // namespace ff::server

template <>
inline constexpr std::array<std::string_view, 2> ff::core::required_members<ff::server::FailBody>{"handle", "message"};

namespace ff::server {
namespace {

/// Gives tasks back that nobody will work on: they are claimable again at once.
void hand_back(api::Backend& backend, const std::vector<std::string>& handles) {
  for (const auto& handle : handles)
    backend.start(DelayTask{.handle = handle, .delay_ms = 0}, false, [](const Result<TaskDelayed>&) {
      // A lease that is not given back runs out: the task is only later.
    });
}

Reply claim_reply(const Ctx& context, const std::vector<ClaimedTask>& tasks, bool has_key) {
  std::string body = "{\"tasks\":[";
  std::vector<std::string> handles;
  for (const auto& task : tasks) {
    ObjectText text;
    text.add_all(task);
    // Whole, whatever its size: a worker may have no right to fetch it by itself.
    if (task.payload) text.add_text("payload", blob_text(*task.payload, task.payload_content_type));
    if (!handles.empty()) body += ',';
    body += std::move(text).take();
    handles.push_back(task.handle);
  }
  Reply reply;
  reply.body = body + "]}";
  // With a key the caller can ask for the same tasks again.
  if (!has_key && !handles.empty())
    reply.undelivered = [context, handles] { hand_back(*context->backend, handles); };
  return reply;
}

void claim_tasks(const Ctx& context, ClaimRequest request, Answer answer) {
  const bool has_key = request.idempotency_key && !request.idempotency_key->empty();
  auto make = [context, has_key](const std::vector<ClaimedTask>& tasks) { return claim_reply(context, tasks, has_key); };
  auto call =
      context->backend->claim(std::move(request), false, answering<std::vector<ClaimedTask>>(std::move(answer), make));
  auto cancel = [call = std::move(call)] { call.cancel(); };
  context->waiting({cancel, cancel});
}

/// The bare outcome for a caller that prefers it.
template <class Outcome, class Shown>
Reply outcome_or(const Ctx& context, const Outcome& outcome, const Shown& shown) {
  return context->minimal ? reply_of(outcome) : reply_of(shown);
}

void renew_lease(const Ctx& context, RenewLease request, Answer answer) {
  auto done = std::make_shared<Answer>(std::move(answer));
  std::vector<RenewLease> one;
  one.push_back(std::move(request));
  context->backend->start(std::move(one), false, [done, context](std::size_t, Result<LeaseRenewed> renewed) {
    if (!renewed) return (*done)(std::unexpected(std::move(renewed.error())));
    (*done)(outcome_or(context, *renewed, Renewed{renewed->lease_expires_at_ms}));
  });
}

void report_progress(const Ctx& context, ReportProgress request, Answer answer) {
  auto make = [](const Done&) {
    Reply reply;
    reply.body = "{}";
    return reply;
  };
  context->backend->start(std::move(request), false, answering<Done>(std::move(answer), make));
}

void complete_task(const Ctx& context, CompleteTask request, Answer answer) {
  auto make = [context](const Changed& changed) {
    return outcome_or(context, changed, Completed{changed.execution_id, changed.public_state});
  };
  context->backend->start(std::move(request), false, answering<Changed>(std::move(answer), make));
}

void fail_task(const Ctx& context, FailBody body, Answer answer) {
  FailTask request{std::move(body.handle), std::move(body.message), body.class_, std::move(body.category)};
  auto make = [](const TaskFailed& failed) { return reply_of(failed); };
  context->backend->start(std::move(request), false, answering<TaskFailed>(std::move(answer), make));
}

void delay_task(const Ctx& context, DelayTask request, Answer answer) {
  auto make = [](const TaskDelayed& delayed) { return reply_of(delayed); };
  context->backend->start(std::move(request), false, answering<TaskDelayed>(std::move(answer), make));
}

template <class Request>
void change_state(const Ctx& context, Request request, Answer answer) {
  auto make = [context](const Changed& changed) { return outcome_or(context, changed, StateOnly{changed.public_state}); };
  context->backend->start(std::move(request), false, answering<Changed>(std::move(answer), make));
}

core::json::value empty_schema(Schemas&) { return object_schema({}); }

core::json::value claim_schema(Schemas& schemas) {
  core::json::object task;
  core::json::object any{{"description", "A JSON value, or {\"base64\": ...} for bytes that are none."}};
  task["allOf"] = {schemas.of<ClaimedTask>(), object_schema({{"payload", any, false}})};
  return object_schema({{"tasks", list_schema(task), true}});
}

template <class T, void (*Handler)(const Ctx&, T, Answer)>
void add_task_call(std::vector<Route>& table, std::string_view pattern, std::string_view name, std::string_view summary,
              core::json::value (*reply)(Schemas&), core::json::value (*minimal)(Schemas&) = nullptr) {
  Route route = make_route<T, Handler>({"POST", pattern, name, summary, Scope::worker, Batch::also, Body::object, true});
  route.reply = reply;
  route.minimal = minimal;
  table.push_back(route);
}

}  // namespace

void areas::add_worker_calls(std::vector<Route>& table) {
  Route claims = make_route<ClaimRequest, claim_tasks>({"POST", "/v1/worker/claim", "claim",
                                                  "Ask for work; waits when there is none.", Scope::worker, Batch::none,
                                                  Body::object, false, true});
  claims.reply = claim_schema;
  table.push_back(claims);
  add_task_call<RenewLease, renew_lease>(table, "/v1/worker/renew", "renew", "Keep a lease.", schema_of<Renewed>,
                                         schema_of<LeaseRenewed>);
  add_task_call<ReportProgress, report_progress>(table, "/v1/worker/progress", "progress", "Say how far a task is.", empty_schema);
  add_task_call<CompleteTask, complete_task>(table, "/v1/worker/complete", "complete", "End a task with success.",
                                   schema_of<Completed>, schema_of<Changed>);
  add_task_call<FailBody, fail_task>(table, "/v1/worker/fail", "fail", "End an attempt as failed; it may be tried again.",
                           schema_of<TaskFailed>);
  add_task_call<DelayTask, delay_task>(table, "/v1/worker/delay", "delay", "Give a task back until later.",
                             schema_of<TaskDelayed>);
  add_task_call<WaitChildren, change_state<WaitChildren>>(table, "/v1/worker/wait-children", "wait_children",
                                                     "Give a task back until its children have ended.",
                                                     schema_of<StateOnly>, schema_of<Changed>);
  add_task_call<CancelTask, change_state<CancelTask>>(table, "/v1/worker/cancel", "cancel_task",
                                                 "End a task as cancelled.", schema_of<StateOnly>, schema_of<Changed>);
}

}  // namespace ff::server
