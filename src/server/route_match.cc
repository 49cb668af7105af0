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

std::size_t literals(const std::vector<PatternPart>& parts) {
  std::size_t count = 0;
  for (const auto& part : parts) count += part.is_field ? 0 : 1;
  return count;
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
    areas::add_system(all);
    return all;
  }();
  return table;
}

Result<Match> match_route(std::string_view method, const std::vector<std::string>& segments) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  Match best;
  std::size_t best_literals = 0;
  std::set<std::string> methods;
  for (const Route& route : routes()) {
    const auto parts = pattern_parts(route.pattern);
    if (!fits(parts, segments)) continue;
    methods.insert(std::string(route.method));
    if (route.method != wanted || (best.route && literals(parts) <= best_literals)) continue;
    best.route = &route;
    best_literals = literals(parts);
    best.fields.clear();
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].is_field) best.fields.emplace_back(parts[i].text, segments[i]);
  }
  if (best.route) return best;
  if (methods.empty())
    return core::fail(ErrorCode::route_not_found,
                      "There is nothing at this address. /openapi.json lists what there is; paths end without a slash.");
  const std::string allow = allowed(std::move(methods));
  return core::fail(ErrorCode::method_not_allowed, fmt::format("This address takes {} only.", allow), {{"allow", allow}});
}

}  // namespace ff::server
