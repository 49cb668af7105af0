#include "server/address.h"

#include "server/http.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace ff::server {
namespace {

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return port;
}

bool is_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']') && host.size() > 2)
    return host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdefABCDEF:.") == host.npos;
  return !host.empty() && host.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-") ==
                              host.npos;
}

}  // namespace

bool is_address(const std::string& text) {
  constexpr std::string_view kSocket = "unix:/";
  if (text.starts_with("unix:")) return text.starts_with(kSocket) && text.size() > kSocket.size();
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  return is_host(std::string_view(text).substr(0, colon)) && port_of(std::string_view(text).substr(colon + 1));
}

bool is_local_address(const std::string& text) {
  if (text.starts_with("unix:")) return true;
  const std::string host = text.substr(0, text.rfind(':'));
  if (same_word(host, "localhost") || host == "[::1]") return true;
  // A name that begins with digits may lead anywhere; only four numbers are an address.
  int dots = 0;
  for (char c : host) {
    if (c == '.')
      ++dots;
    else if (c < '0' || c > '9')
      return false;
  }
  return dots == 3 && host.starts_with("127.");
}

bool is_origin(const std::string& text) {
  if (text == "*") return true;
  std::string_view rest = text;
  for (std::string_view scheme : {"https://", "http://"}) {
    if (!rest.starts_with(scheme)) continue;
    rest.remove_prefix(scheme.size());
    const std::size_t colon = rest.rfind(':');
    const bool has_port = colon != rest.npos && !rest.ends_with(']');
    if (!has_port) return is_host(rest);
    return is_host(rest.substr(0, colon)) && port_of(rest.substr(colon + 1));
  }
  return false;
}

bool is_token(const std::string& text) { return is_printable(text, 512) && text.find(' ') == std::string::npos; }

}  // namespace ff::server
