#include "server/boot/store_opening.h"

#include "server/target.h"

namespace ff::server {
namespace {

/// `scheme://[user]@rest` with the password behind the user.
std::string with_login(const std::string& url, const std::string& password) {
  const std::size_t start = url.find("://") + 3;
  const std::size_t end = std::min(url.find_first_of("/?", start), url.size());
  const std::size_t at = url.substr(start, end - start).rfind('@');
  const std::string user = at == std::string::npos ? "" : url.substr(start, at);
  const std::string rest = at == std::string::npos ? url.substr(start) : url.substr(start + at + 1);
  return url.substr(0, start) + user + ":" + percent_encoded(password) + "@" + rest;
}

}  // namespace

std::string store_url(const Settings& settings) {
  const std::string& url = settings.store;
  if (!settings.store_password) return url;
  // Postgres takes it as a parameter, which needs no user before it.
  if (url.starts_with("postgres"))
    return url + (url.find('?') == url.npos ? "?" : "&") + "password=" + percent_encoded(*settings.store_password);
  return url.find("://") == url.npos ? url : with_login(url, *settings.store_password);
}

Result<Fabric> open_patiently(const std::function<Result<Fabric>()>& open, const Patience& patience,
                              const OpeningTools& tools) {
  const std::int64_t end_ms = tools.steady_ms() + patience.at_most_ms;
  std::int64_t pause_ms = patience.first_pause_ms;
  while (true) {
    auto fabric = open();
    if (fabric || !fabric.error().retryable()) return fabric;
    if (tools.steady_ms() + pause_ms > end_ms) return fabric;
    tools.failed(fabric.error(), pause_ms);
    if (!tools.pause(pause_ms)) return fabric;
    pause_ms = std::min(2 * pause_ms, patience.longest_pause_ms);
  }
}

}  // namespace ff::server
