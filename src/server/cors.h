#pragma once

// Calls from pages of other origins: off unless origins are configured.

#include "server/http.h"

#include <optional>

namespace ff::server {

/// The headers that let the page at the request's `Origin` read the answer; none when it may not.
Headers cors_headers(const std::vector<std::string>& origins, const Headers& request);

/// The answer to a browser's question whether it may ask; none when the request is no such question, or none is answered.
std::optional<Response> preflight(const std::vector<std::string>& origins, const Request& request);

}  // namespace ff::server
