// Lanes, and the leases that are held.

#include "engine/cursors.h"
#include "server/raw_reply.h"

namespace ff::server {

struct OneLane {
  std::string lane_id;
};
BOOST_DESCRIBE_STRUCT(OneLane, (), (lane_id))

struct LaneReason {
  std::string lane_id;
  std::optional<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(LaneReason, (), (lane_id, reason))

namespace {

void list_lanes(const Ctx& context, ListLanes query, Answer answer) {
  context->backend->start(std::move(query), false,
                          answering<Page<LaneStatus>>(std::move(answer), page_reply<LaneStatus>));
}

/// A text right before the lane's name in the order of lanes: no lane's name stands between the two, because names have
/// at most 64 printable characters.
std::string just_before(std::string lane_id) {
  const char last = lane_id.back();
  lane_id.pop_back();
  if (last == ' ') return lane_id;
  lane_id += static_cast<char>(last - 1);
  lane_id.resize(core::kLaneBytesMax, '~');
  return lane_id;
}

void get_lane(const Ctx& context, OneLane request, Answer answer) {
  if (auto fault = core::check_lane(request.lane_id)) return answer(std::unexpected(std::move(*fault)));
  ListLanes query{engine::text_cursor(just_before(request.lane_id)), 1};
  context->backend->start(std::move(query), false,
                          [lane_id = request.lane_id, answer = std::move(answer)](Result<Page<LaneStatus>> page) mutable {
                            if (!page) return answer(std::unexpected(std::move(page.error())));
                            if (page->items.empty() || page->items[0].lane.lane_id != lane_id)
                              return answer(core::fail(ErrorCode::lane_not_found,
                                                       fmt::format("There is no lane '{}'.", lane_id),
                                                       {{"lane_id", lane_id}}));
                            answer(reply_of(page->items[0]));
                          });
}

void configure_lane(const Ctx& context, ConfigureLane request, Answer answer) {
  // Lanes are shared: who is bound to a namespace may look at them only.
  if (context->principal.namespace_)
    return answer(core::fail(ErrorCode::forbidden,
                             "Lanes belong to all namespaces; changing one needs a token without a namespace.",
                             {{"namespace", *context->principal.namespace_}}));
  context->backend->start(std::move(request), false,
                          answering<Lane>(std::move(answer), [](const Lane& lane) { return reply_of(lane); }));
}

template <LaneState State>
void set_state(const Ctx& context, LaneReason request, Answer answer) {
  ConfigureLane change{.lane_id = std::move(request.lane_id), .lane_state = State, .reason = std::move(request.reason)};
  configure_lane(context, std::move(change), std::move(answer));
}

void list_leases(const Ctx& context, ListLeases query, Answer answer) {
  // In process a page may be larger than over HTTP.
  if (auto fault = core::check_limit(query.limit)) return answer(std::unexpected(std::move(*fault)));
  if (asks_elsewhere(*context, query.namespace_)) return answer(page_reply(Page<LeaseItem>{}));
  context->backend->start(std::move(query), false, answering<Page<LeaseItem>>(std::move(answer), page_reply<LeaseItem>));
}

template <LaneState State>
void add_lane_state(std::vector<Route>& table, std::string_view pattern, std::string_view name, std::string_view summary) {
  Route route = make_route<LaneReason, set_state<State>>(
      {"POST", pattern, name, summary, Scope::operator_, Batch::none, Body::object});
  route.reply = schema_of<Lane>;
  table.push_back(route);
}

}  // namespace

void areas::add_lanes(std::vector<Route>& table) {
  auto add = [&](Route route, core::json::value (*reply)(Schemas&)) {
    route.reply = reply;
    table.push_back(route);
  };
  add(make_route<ListLanes, list_lanes>({"GET", "/v1/lanes", "list_lanes", "Lanes by name, with what waits in them.",
                                   Scope::read}),
      page_schema<LaneStatus>);
  add(make_route<OneLane, get_lane>({"GET", "/v1/lanes/{lane_id}", "get_lane", "One lane, with what waits in it.",
                                Scope::read}),
      schema_of<LaneStatus>);
  add(make_route<ConfigureLane, configure_lane>({"PATCH", "/v1/lanes/{lane_id}", "configure_lane",
                                            "Change a lane's settings; it is made when there is none.",
                                            Scope::operator_, Batch::none, Body::object}),
      schema_of<Lane>);
  add_lane_state<LaneState::paused>(table, "/v1/lanes/{lane_id}/pause", "pause_lane",
                               "Hand out nothing of this lane; work is still accepted.");
  add_lane_state<LaneState::active>(table, "/v1/lanes/{lane_id}/resume", "resume_lane", "Hand out and accept work again.");
  add_lane_state<LaneState::draining>(table, "/v1/lanes/{lane_id}/drain", "drain_lane",
                                 "Accept no new work; what is there is still handed out.");
  add(make_route<ListLeases, list_leases>({"GET", "/v1/leases", "list_leases", "Leases that are held, soonest expiry first.",
                                      Scope::read}),
      page_schema<LeaseItem>);
}

}  // namespace ff::server
