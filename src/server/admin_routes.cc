// What those who run the server do with it.

#include "server/raw_reply.h"

namespace ff::server {

struct DrainRequest {
  std::optional<std::uint32_t> grace_ms;
  bool exit = true;
};
BOOST_DESCRIBE_STRUCT(DrainRequest, (), (grace_ms, exit))

struct Draining {
  bool draining = true;
};
BOOST_DESCRIBE_STRUCT(Draining, (), (draining))

namespace {

constexpr std::uint32_t kGraceMsMax = 3'600'000;

/// Answered before it begins: a shutdown waits for this answer too.
void ask_to_drain(const Ctx& context, DrainRequest request, Answer answer) {
  if (!context->drain)
    return answer(core::fail(ErrorCode::route_not_found, "This server cannot be shut down by a call; end its process."));
  if (request.grace_ms.value_or(0) > kGraceMsMax)
    return answer(std::unexpected(core::invalid_input("grace_ms", "out_of_range",
                                                      fmt::format("'grace_ms' has to be at most {}.", kGraceMsMax))));
  answer(reply_of(Draining{}, 202));
  context->drain(request.grace_ms, request.exit);
}

void list_audit(const Ctx& context, ListAudit query, Answer answer) {
  context->backend->start(std::move(query), false, answering<Page<Event>>(std::move(answer), page_reply<Event>));
}

}  // namespace

void areas::add_admin(std::vector<Route>& table) {
  Route audit = make_route<ListAudit, list_audit>(
      {"GET", "/v1/admin/audit", "list_audit", "What operators did, newest first.", Scope::admin});
  audit.reply = page_schema<Event>;
  table.push_back(audit);
  Route drain = make_route<DrainRequest, ask_to_drain>(
      {"POST", "/v1/admin/drain", "drain", "Shut down in order: answer whoever waits, let tasks finish, take nothing new.",
       Scope::admin, Batch::none, Body::object, true, false, 202});
  drain.reply = schema_of<Draining>;
  table.push_back(drain);
}

}  // namespace ff::server
