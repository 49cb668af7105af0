#pragma once

// From method and path to a route.

#include "server/route.h"

namespace ff::server {

/// The parts of a pattern: literal, or the name of a field.
struct PatternPart {
  std::string_view text;
  bool is_field = false;
};
std::vector<PatternPart> pattern_parts(std::string_view pattern);

struct Match {
  const Route* route = nullptr;
  std::vector<std::pair<std::string_view, std::string>> fields;  ///< of the path, by name
};

/// The route, or `route_not_found`, or `method_not_allowed` with `allow` in its context. HEAD is served as GET. A literal
/// goes before a field: `/v1/executions/cancel` is not the execution `cancel`. What is not served at this door is not
/// there.
Result<Match> match_route(std::string_view method, const std::vector<std::string>& segments, const Door& door = {});

}  // namespace ff::server
