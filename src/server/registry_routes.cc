// The registry of workers: who works, and how a worker makes itself known.

#include "server/raw_reply.h"

namespace ff::server {
namespace {

void list_workers(const Ctx& context, ListWorkers query, Answer answer) {
  if (asks_elsewhere(*context, query.namespace_)) return answer(page_reply(Page<WorkerInfo>{}));
  context->backend->start(std::move(query), false,
                          answering<Page<WorkerInfo>>(std::move(answer), page_reply<WorkerInfo>));
}

template <class Request, class Given>
void ask(const Ctx& context, Request request, Answer answer) {
  auto make = [](const Given& given) { return reply_of(given); };
  context->backend->start(std::move(request), false, answering<Given>(std::move(answer), make));
}

template <class Request, class Given>
void add_sign(std::vector<Route>& table, std::string_view pattern, std::string_view name, std::string_view summary,
              bool while_draining) {
  Route route = make_route<Request, ask<Request, Given>>(
      {"POST", pattern, name, summary, Scope::worker, Batch::also, Body::object, while_draining});
  route.reply = schema_of<Given>;
  table.push_back(route);
}

}  // namespace

void areas::add_registry(std::vector<Route>& table) {
  Route workers = make_route<ListWorkers, list_workers>(
      {"GET", "/v1/workers", "list_workers", "Workers that are alive, with the leases they hold.", Scope::read});
  workers.reply = page_schema<WorkerInfo>;
  table.push_back(workers);
  Route dead = make_route<MarkWorkerDead, ask<MarkWorkerDead, WorkerMarkedDead>>(
      {"POST", "/v1/workers/{worker_instance_id}/dead", "mark_worker_dead",
       "Strike a worker off the list; its leases run out, or are revoked.", Scope::operator_, Batch::none,
       Body::object});
  dead.reply = schema_of<WorkerMarkedDead>;
  table.push_back(dead);

  add_sign<RegisterWorker, WorkerRegistered>(table, "/v1/worker/register", "register_worker",
                                             "Make a worker known: where it works and what it can do.", false);
  // Who finishes its tasks on a server that ends has to be able to say that it is there, and that it goes.
  add_sign<HeartbeatWorker, WorkerAlive>(table, "/v1/worker/heartbeat", "heartbeat_worker",
                                         "A sign of life; 404 says: register again.", true);
  add_sign<DeregisterWorker, Done>(table, "/v1/worker/deregister", "deregister_worker",
                                   "The worker ends in order; nobody need wait for it.", true);
}

}  // namespace ff::server
