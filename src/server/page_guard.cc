#include "server/page_guard.h"

#include "server/address.h"

#include <fmt/format.h>

#include <algorithm>

namespace ff::server {
namespace {

constexpr std::size_t kShownBytesMax = 200;

std::string shown(const std::string& text) {
  return is_printable(text, kShownBytesMax) ? text : "that header";
}

/// `host[:port]` of `scheme://host[:port]`.
std::string_view authority(std::string_view origin) {
  const std::size_t slashes = origin.find("://");
  return slashes == origin.npos ? std::string_view() : origin.substr(slashes + 3);
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  const bool has_port = !host.ends_with(']') && host.rfind(':') != host.npos;
  if (has_port) host = host.substr(0, host.rfind(':'));
  constexpr std::string_view kBelow = ".localhost";
  if (host.size() > kBelow.size() && same_word(host.substr(host.size() - kBelow.size()), kBelow)) return true;
  return is_local_address(std::string(host) + ":0");
}

std::optional<Error> check_page(const Request& request, const std::vector<std::string>& cors_origins) {
  if (request.door.reach == Reach::anywhere) return std::nullopt;
  const std::string* host = find_header(request.headers, "Host");
  // A browser cannot open a socket file, so no name can lead it there.
  if (host && request.door.reach == Reach::loopback && !is_loopback_host(*host))
    return Error{ErrorCode::forbidden,
                 fmt::format("This server has no tokens and answers only to its own names, not to '{}'. Call it as "
                             "localhost or 127.0.0.1, or configure api_token.",
                             shown(*host)),
                 {}};
  const std::string* origin = find_header(request.headers, "Origin");
  if (!origin || (host && same_word(authority(*origin), *host))) return std::nullopt;
  const bool is_allowed = std::any_of(cors_origins.begin(), cors_origins.end(),
                                      [&](const std::string& known) { return known == "*" || known == *origin; });
  if (is_allowed) return std::nullopt;
  return Error{ErrorCode::forbidden,
               fmt::format("This server has no tokens and lets no pages of other origins in, and this request comes from "
                           "'{}'. Add it to cors_origins, or configure api_token.",
                           shown(*origin)),
               {}};
}

}  // namespace ff::server
