#pragma once

// The request line's target: its path in decoded segments, and its query.

#include "core/errors.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ff::server {

struct Target {
  std::vector<std::string> segments;  ///< of `/a/b`: `a`, `b`; of `/`: none
  std::vector<std::pair<std::string, std::string>> query;
};

/// Decodes the percent signs once. `invalid_input` for a broken one, for text that is not UTF-8, and for what is not a
/// path. An empty segment, as a trailing slash makes it, stays one and so matches no route.
Result<Target> parse_target(std::string_view target);

/// For paths: everything but letters, digits and `-._~` is encoded.
std::string percent_encoded(std::string_view text);

}  // namespace ff::server
