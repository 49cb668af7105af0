#include "store/redis/url.h"

#include "store/refusal.h"

#include <fmt/format.h>

#include <charconv>

namespace ff::store::redis {
namespace {

std::optional<int> number(std::string_view text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most) return std::nullopt;
  return value;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    int byte = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    if (error != std::errc() || end != text.data() + i + 3) return std::nullopt;
    out.push_back(static_cast<char>(byte));
    i += 2;
  }
  return out;
}

std::optional<Address> address(std::string_view text) {
  Address found;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    found.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  } else {
    const auto colon = text.find(':');
    found.host = text.substr(0, colon);
    text = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (found.host.empty()) return std::nullopt;
  if (text.empty()) return found;
  const auto port = text.starts_with(':') ? number(text.substr(1), 65'535) : std::nullopt;
  if (!port || *port == 0) return std::nullopt;
  found.port = static_cast<std::uint16_t>(*port);
  return found;
}

}  // namespace

std::string Address::to_string() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<Url> Url::parse(std::string_view text) {
  auto refuse = [](std::string_view what) {
    return std::unexpected(
        refusal("invalid_url", fmt::format("The store URL is not usable: {}. Write "
                                           "valkey://[user:password@]host[:port][,host2[:port]][/db] "
                                           "(redis:// means the same).",
                                           what)));
  };
  if (text.starts_with("rediss:") || text.starts_with("valkeys:"))
    return refuse("connections with TLS are not supported; put a TLS tunnel before the server");
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return refuse("'://' is missing");
  text.remove_prefix(scheme_end + 3);

  Url url;
  if (const auto question = text.find('?'); question != std::string_view::npos) {
    std::string_view settings = text.substr(question + 1);
    text = text.substr(0, question);
    while (!settings.empty()) {
      const auto end = settings.find('&');
      const std::string_view setting = settings.substr(0, end);
      settings = end == std::string_view::npos ? std::string_view() : settings.substr(end + 1);
      if (setting == "cluster=yes" || setting == "cluster=true" || setting == "cluster=1")
        url.cluster = true;
      else if (setting == "cluster=no" || setting == "cluster=false" || setting == "cluster=0")
        url.cluster = false;
      else if (const auto replicas = setting.starts_with("replicas=") ? number(setting.substr(9), 16) : std::nullopt)
        url.replicas = *replicas;
      else
        return refuse(fmt::format("'{:.40}' is not a setting (there are cluster=yes|no and replicas=N)", setting));
    }
  }
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = text.substr(0, at);
    text.remove_prefix(at + 1);
    const auto colon = login.find(':');
    auto user = decoded(login.substr(0, colon));
    auto password = decoded(colon == std::string_view::npos ? std::string_view() : login.substr(colon + 1));
    if (!user || !password) return refuse("user or password has a broken %-escape");
    url.user = std::move(*user);
    url.password = std::move(*password);
  }
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view path = text.substr(slash + 1);
    text = text.substr(0, slash);
    const auto database = path.empty() ? std::optional(0) : number(path, 1'000'000);
    if (!database) return refuse(fmt::format("'{:.40}' is not the number of a database", path));
    url.database = *database;
  }
  while (true) {
    const auto comma = text.find(',');
    auto found = address(text.substr(0, comma));
    if (!found) return refuse(fmt::format("'{:.80}' is not a host with a port", text.substr(0, comma)));
    url.addresses.push_back(std::move(*found));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return url;
}

}  // namespace ff::store::redis
