#include "client/endpoint.h"

#include "core/errors.h"

#include <algorithm>
#include <charconv>

namespace ff::client {
namespace {

constexpr std::string_view kHttp = "http://", kHttps = "https://", kUnix = "http+unix:", kListen = "unix:";
constexpr std::size_t kSocketPathMax = 107;  ///< what the kernel takes

/// The URL itself is not shown: it may hold a password.
std::unexpected<Error> bad_url(std::string_view what) {
  return core::fail(ErrorCode::store_refused,
                    fmt::format("This is not the address of a server: {}. Write http://host:port, https://host, or "
                                "http+unix:/path/of/socket.",
                                what),
                    {{"reason", std::string("invalid_url")}});
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && port >= 1 && port <= 65'535;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Result<Endpoint> parse_socket(std::string_view path) {
  if (path.starts_with("//")) path.remove_prefix(2);
  if (!path.starts_with('/')) return bad_url("the path of a socket begins with a slash");
  if (path.size() > kSocketPathMax) return bad_url("the path of a socket has at most 107 bytes");
  Endpoint endpoint;
  endpoint.socket_path = path;
  return endpoint;
}

}  // namespace

bool is_server_url(const std::string& url) {
  return url.starts_with("http:") || url.starts_with("https:") || url.starts_with(kUnix) || url.starts_with(kListen);
}

Result<Endpoint> parse_endpoint(const std::string& url) {
  std::string_view rest = url;
  if (rest.starts_with(kUnix)) return parse_socket(rest.substr(kUnix.size()));
  if (rest.starts_with(kListen)) return parse_socket(rest.substr(kListen.size()));
  Endpoint endpoint;
  endpoint.tls = rest.starts_with(kHttps);
  if (!endpoint.tls && !rest.starts_with(kHttp)) return bad_url("it has no host");
  rest.remove_prefix(endpoint.tls ? kHttps.size() : kHttp.size());
  if (!is_plain(rest)) return bad_url("it has blanks or characters outside ASCII");
  if (rest.find_first_of("?#") != rest.npos) return bad_url("it has a query or a fragment");

  const std::size_t slash = rest.find('/');
  if (slash != rest.npos) {
    endpoint.base_path = rest.substr(slash);
    while (endpoint.base_path.ends_with('/')) endpoint.base_path.pop_back();
    rest = rest.substr(0, slash);
  }
  if (rest.find('@') != rest.npos) return bad_url("it holds a user or a password; a token is given apart from it");
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == rest.npos) return bad_url("the bracket of its address does not end");
    endpoint.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    endpoint.host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(endpoint.host.size());
  }
  if (endpoint.host.empty()) return bad_url("it has no host");
  endpoint.port = endpoint.tls ? "443" : "80";
  if (rest.empty()) return endpoint;
  if (!rest.starts_with(':') || !is_port(rest.substr(1))) return bad_url("its port is no number from 1 to 65535");
  endpoint.port = rest.substr(1);
  return endpoint;
}

std::string Endpoint::authority() const {
  if (!socket_path.empty()) return "localhost";
  const std::string shown = host.find(':') == host.npos ? host : "[" + host + "]";
  return port == (tls ? "443" : "80") ? shown : shown + ":" + port;
}

std::string Endpoint::name() const {
  if (!socket_path.empty()) return std::string(kUnix) + socket_path;
  return std::string(tls ? kHttps : kHttp) + authority() + base_path;
}

}  // namespace ff::client
