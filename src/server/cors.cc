#include "server/cors.h"

#include <algorithm>

namespace ff::server {

Headers cors_headers(const std::vector<std::string>& origins, const Headers& request) {
  const std::string* origin = find_header(request, "Origin");
  if (!origin) return {};
  const bool any = std::find(origins.begin(), origins.end(), "*") != origins.end();
  if (!any && std::find(origins.begin(), origins.end(), *origin) == origins.end()) return {};
  Headers headers;
  headers.emplace_back("Access-Control-Allow-Origin", any ? "*" : *origin);
  if (!any) headers.emplace_back("Vary", "Origin");
  headers.emplace_back("Access-Control-Expose-Headers", "idempotent-replay, location, retry-after, x-request-id");
  return headers;
}

std::optional<Response> preflight(const std::vector<std::string>& origins, const Request& request) {
  if (request.method != "OPTIONS" || !find_header(request.headers, "Access-Control-Request-Method")) return std::nullopt;
  Response response;
  response.status = 204;
  response.headers = cors_headers(origins, request.headers);
  if (response.headers.empty()) return std::nullopt;
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                "authorization, content-type, idempotency-key, last-event-id, traceparent, x-request-id");
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

}  // namespace ff::server
