#include "server/route_match.h"

#include <set>

namespace ff::server {
namespace {

bool fits(const std::vector<PatternPart>& parts, const std::vector<std::string>& segments) {
  if (parts.size() != segments.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].is_field ? segments[i].empty() : parts[i].text != segments[i]) return false;
  }
  return true;
}

/// A route with its pattern taken apart, once.
struct Place {
  const Route* route;
  std::vector<PatternPart> parts;
  std::ptrdiff_t literals;
  bool is_for_admins;
};

const std::vector<Place>& places() {
  static const std::vector<Place> all = [] {
    std::vector<Place> made;
    for (const Route& route : routes()) {
      auto parts = pattern_parts(route.pattern);
      const auto literals = std::count_if(parts.begin(), parts.end(), [](const PatternPart& p) { return !p.is_field; });
      const bool is_for_admins = route.pattern.starts_with("/v1/admin/") || route.pattern == "/metrics";
      made.push_back({&route, std::move(parts), literals, is_for_admins});
    }
    return made;
  }();
  return all;
}

/// Probes and descriptions are served at every door.
bool is_served(const Place& place, const Door& door) {
  if (place.is_for_admins) return door.admin;
  return door.api || !place.route->scope;
}

/// What is asked for besides the methods of the table.
std::string allowed(std::set<std::string> methods) {
  if (methods.contains("GET")) methods.insert("HEAD");
  return fmt::format("{}", fmt::join(methods, ", "));
}

}  // namespace

std::vector<PatternPart> pattern_parts(std::string_view pattern) {
  std::vector<PatternPart> parts;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);  // the slash
    std::string_view text = pattern.substr(0, pattern.find('/'));
    pattern.remove_prefix(text.size());
    const bool is_field = text.starts_with('{');
    parts.push_back({is_field ? text.substr(1, text.size() - 2) : text, is_field});
  }
  return parts;
}

const std::vector<Route>& routes() {
  static const std::vector<Route> table = [] {
    std::vector<Route> all;
    areas::add_executions(all);
    areas::add_operator_calls(all);
    areas::add_worker_calls(all);
    areas::add_lanes(all);
    areas::add_registry(all);
    areas::add_admin(all);
    areas::add_system(all);
    return all;
  }();
  return table;
}

Result<Match> match_route(std::string_view method, const std::vector<std::string>& segments, const Door& door) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  const Place* best = nullptr;
  std::vector<const Place*> others;
  for (const Place& place : places()) {
    if (!fits(place.parts, segments) || !is_served(place, door)) continue;
    if (place.route->method != wanted)
      others.push_back(&place);
    else if (!best || place.literals > best->literals)
      best = &place;
  }
  if (best) {
    Match match{best->route, {}};
    for (std::size_t i = 0; i < segments.size(); ++i)
      if (best->parts[i].is_field) match.fields.emplace_back(best->parts[i].text, segments[i]);
    return match;
  }
  if (others.empty())
    return core::fail(ErrorCode::route_not_found,
                      "There is nothing at this address. /openapi.json lists what there is; paths end without a slash.");
  std::set<std::string> methods;
  for (const Place* place : others) methods.insert(std::string(place->route->method));
  const std::string allow = allowed(std::move(methods));
  return core::fail(ErrorCode::method_not_allowed, fmt::format("This address takes {} only.", allow), {{"allow", allow}});
}

}  // namespace ff::server
