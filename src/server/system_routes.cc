// Probes, facts about the server, and the description of its API.

#include "server/docs_page.h"
#include "server/health.h"
#include "server/openapi.h"
#include "server/route.h"

namespace ff::server {

struct Nothing {};
BOOST_DESCRIBE_STRUCT(Nothing, (), ())

struct Readiness {
  bool ready = false;
  std::vector<std::string> reasons;
};
BOOST_DESCRIBE_STRUCT(Readiness, (), (ready, reasons))

struct Liveness {
  bool live = true;
};
BOOST_DESCRIBE_STRUCT(Liveness, (), (live))

namespace {

void answer_livez(const Ctx&, Nothing, Answer answer) { answer(reply_of(Liveness{})); }

void answer_readyz(const Ctx& context, Nothing, Answer answer) {
  Readiness readiness;
  readiness.reasons = context->health->reasons();
  readiness.ready = readiness.reasons.empty();
  answer(reply_of(readiness, readiness.ready ? 200 : 503));
}

void answer_info(const Ctx& context, Nothing, Answer answer) {
  auto make = [context](const FabricInfo& fabric) {
    ObjectText text;
    text.add_all(fabric);
    text.add("limits", core::to_value(context->limits));
    text.add("draining", context->health->draining());
    Reply reply;
    reply.body = std::move(text).take();
    return reply;
  };
  context->backend->start(GetInfo{}, false, answering<FabricInfo>(std::move(answer), make));
}

void answer_openapi(const Ctx&, Nothing, Answer answer) {
  Reply reply;
  reply.body = openapi_text();
  answer(std::move(reply));
}

void answer_metrics(const Ctx& context, Nothing, Answer answer) {
  if (!context->metrics)
    return answer(core::fail(ErrorCode::route_not_found, "This server tells no metrics; the setting `metrics` turns them on."));
  Reply reply;
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  reply.body = context->metrics();
  answer(std::move(reply));
}

void answer_docs(const Ctx&, Nothing, Answer answer) {
  Reply reply;
  reply.content_type = "text/html; charset=utf-8";
  reply.headers = {{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"}};
  reply.body = docs_page();
  answer(std::move(reply));
}

core::json::value info_schema(Schemas& schemas) {
  core::json::object schema;
  schema["allOf"] = {schemas.of<FabricInfo>(), object_schema({{"limits", schemas.of<Limits>(), true},
                                                              {"draining", schemas.of<bool>(), true}})};
  return schema;
}

core::json::value any_object(Schemas&) { return {{"type", "object"}}; }

}  // namespace

void areas::add_system(std::vector<Route>& table) {
  auto add = [&](Route route, core::json::value (*reply)(Schemas&)) {
    route.reply = reply;
    route.while_draining = true;
    table.push_back(route);
  };
  add(make_route<Nothing, answer_livez>({"GET", "/livez", "livez", "200 while the process serves.", std::nullopt}),
      schema_of<Liveness>);
  add(make_route<Nothing, answer_readyz>({"GET", "/readyz", "readyz", "200 while new work may come here, else 503.",
                                   std::nullopt}),
      schema_of<Readiness>);
  add(make_route<Nothing, answer_readyz>({"GET", "/healthz", "healthz", "The same as /readyz.", std::nullopt}),
      schema_of<Readiness>);
  add(make_route<Nothing, answer_info>({"GET", "/v1/info", "info", "Version, store, data set, limits and sweeps.", Scope::read}),
      info_schema);
  add(make_route<Nothing, answer_openapi>({"GET", "/openapi.json", "openapi", "This description.", std::nullopt}), any_object);
  add(make_route<Nothing, answer_metrics>({"GET", "/metrics", "metrics", "Figures for Prometheus.", std::nullopt, Batch::none,
                                           Body::none, true}),
      nullptr);
  add(make_route<Nothing, answer_docs>({"GET", "/docs", "docs", "A page that lists every call, for people.", std::nullopt}),
      nullptr);
}

}  // namespace ff::server
