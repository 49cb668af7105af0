#include "store/redis/server_check.h"

#include "store/redis/library.h"
#include "store/refusal.h"

#include <cstdlib>

namespace ff::store::redis {
namespace {

/// The value of a line `name:value` of INFO; empty: there is none.
std::string_view line_of(std::string_view info, std::string_view name) {
  for (std::size_t at = 0; at < info.size();) {
    const std::size_t end = std::min(info.find('\n', at), info.size());
    std::string_view line = info.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':')
      return line.substr(name.size() + 1);
  }
  return {};
}

/// Settings that matter, as one server has them. Unset: it does not say.
struct Settings {
  std::optional<std::string> appendonly, appendfsync, save, maxmemory, maxmemory_policy;
};

Result<Settings> read_settings(Connection& connection, bool& forbidden) {
  Settings settings;
  const std::pair<const char*, std::optional<std::string>*> wanted[] = {
      {"appendonly", &settings.appendonly},
      {"appendfsync", &settings.appendfsync},
      {"save", &settings.save},
      {"maxmemory", &settings.maxmemory},
      {"maxmemory-policy", &settings.maxmemory_policy}};
  for (const auto& [name, to] : wanted) {
    std::string wire;
    Command(0, "CONFIG").args("GET", name).append_to(wire);
    if (auto sent = connection.send(wire); !sent) return std::unexpected(sent.error());
    auto reply = connection.receive();
    if (!reply) return std::unexpected(reply.error());
    if (reply->value().is_error())
      forbidden = true;
    else if (reply->value().size() == 2)
      *to = std::string((*reply)[1].text());
  }
  return settings;
}

struct Verdict {
  Durability durability;
  std::string detail;
};

Verdict judge(const Settings& settings) {
  if (!settings.appendonly)
    return {Durability::relaxed, "the server does not let its settings be read; how it keeps data is unknown"};
  if (*settings.appendonly != "yes")
    return settings.save && settings.save->empty()
               ? Verdict{Durability::none, "appendonly=no and no snapshots: nothing survives a restart of the server"}
               : Verdict{Durability::relaxed,
                         "appendonly=no: a crash of the server loses everything since its last snapshot"};
  const std::string fsync = settings.appendfsync.value_or("?");
  if (fsync == "always")
    return {Durability::full, "appendonly=yes, appendfsync=always: a commit is on disk before it is answered"};
  return {Durability::relaxed, fmt::format("appendonly=yes, appendfsync={}: a crash of the server may lose the last {}",
                                           fsync, fsync == "everysec" ? "second or two" : "moments")};
}

}  // namespace

Result<ServerVersion> ServerVersion::read(std::string_view info) {
  ServerVersion version;
  const std::string_view valkey = line_of(info, "valkey_version");
  version.kind = valkey.empty() ? "redis" : "valkey";
  version.text = valkey.empty() ? line_of(info, "redis_version") : valkey;
  char* end = nullptr;
  version.major = static_cast<int>(std::strtol(version.text.c_str(), &end, 10));
  if (end && *end == '.') version.minor = static_cast<int>(std::strtol(end + 1, nullptr, 10));
  if (version.major == 0)
    return std::unexpected(
        refusal("version_unsupported", "The server does not say which version of Valkey or Redis it is."));
  return version;
}

bool ServerVersion::is_supported() const {
  return kind == "valkey" ? major > 7 || (major == 7 && minor >= 2) : major >= 7;
}

Result<void> check_servers(const Topology& topology, const StoreOptions& options, StoreInfo& info) {
  info.durability = Durability::full;
  bool forbidden = false;
  const std::vector<Address> primaries = topology.primaries();
  Settings first;
  for (const auto& address : primaries) {
    auto connection = Connection::open(address, topology.login());
    if (!connection) return std::unexpected(connection.error());
    auto server = connection->call(Command(0, "INFO").arg("server"));
    if (!server) return std::unexpected(server.error());
    auto version = ServerVersion::read(server->value().text());
    if (!version) return std::unexpected(version.error());
    if (!version->is_supported())
      return std::unexpected(
          refusal("version_unsupported",
                  fmt::format("The server {} is {} {}. Valkey 7.2 or Redis 7.0 is the oldest that works.",
                              address.to_string(), version->kind == "valkey" ? "Valkey" : "Redis", version->text)));
    if (info.kind.empty()) {
      info.kind = version->kind;
      info.version = version->text;
    }
    if (auto loaded = ensure_library(*connection); !loaded) return loaded;
    auto settings = read_settings(*connection, forbidden);
    if (!settings) return std::unexpected(settings.error());
    const bool limited = settings->maxmemory && *settings->maxmemory != "0";
    if (limited && settings->maxmemory_policy && *settings->maxmemory_policy != "noeviction") {
      const std::string what = fmt::format(
          "The server {} has maxmemory set with maxmemory-policy {}: it would drop "
          "records when it is full. Set maxmemory-policy noeviction.",
          address.to_string(), *settings->maxmemory_policy);
      if (!options.allow_unsafe) return std::unexpected(refusal("unsafe_settings", what));
      if (options.warn) options.warn(what);
    }
    const Verdict verdict = judge(*settings);
    if (verdict.durability >= info.durability) {
      info.durability = verdict.durability;
      info.durability_detail = verdict.detail;
    }
    if (address == primaries.front()) first = *settings;
  }
  if (options.warn && forbidden)
    options.warn(
        "the server's settings cannot be read (CONFIG is forbidden): whether it keeps what it acknowledges could "
        "not be checked");
  if (options.warn && info.durability != Durability::full) options.warn("weak durability: " + info.durability_detail);
  auto text = [](const std::optional<std::string>& value) { return value.value_or("?"); };
  info.settings = {
      {"servers", fmt::format("{}{}", primaries.front().to_string(),
                              primaries.size() > 1 ? fmt::format(" and {} more", primaries.size() - 1) : "")},
      {"cluster", topology.is_cluster() ? "yes" : "no"},
      {"appendonly", text(first.appendonly)},
      {"appendfsync", text(first.appendfsync)},
      {"maxmemory", text(first.maxmemory)},
      {"maxmemory-policy", text(first.maxmemory_policy)},
      {"function library", fmt::format("version {}", kLibraryVersion)}};
  return {};
}

}  // namespace ff::store::redis
