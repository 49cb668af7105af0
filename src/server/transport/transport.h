#pragma once

// HTTP over TCP and over socket files, with or without TLS, in front of a Server.

#include <flowfabric/log.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ff::server {

class Server;

struct TlsFiles {
  std::string cert, key;
  std::optional<std::string> client_ca;  ///< demands certificates of clients, signed by it
};

struct TransportOptions {
  std::vector<std::string> listen = {"127.0.0.1:9090"};  ///< `host:port`, `unix:/path`; port 0 picks one
  std::optional<std::string> admin_listen;               ///< set: `/v1/admin/...` and `/metrics` are served only there
  std::uint32_t threads = 0;                             ///< 0: one per core, at most 8
  std::uint32_t connections_max = 10'000;
  std::uint32_t header_timeout_ms = 10'000;
  std::uint32_t idle_timeout_ms = 75'000;
  std::uint32_t heartbeat_ms = 15'000;  ///< of server-sent events
  std::optional<TlsFiles> tls;          ///< for addresses; a socket file needs none
  LogSink log;
};

struct TransportCounts {
  std::uint32_t connections = 0;      ///< that are open
  std::uint64_t accepted = 0;         ///< since the start
  std::uint64_t turned_away = 0;      ///< because there were too many
  std::uint64_t shutdown_timeouts = 0;  ///< requests that outlasted the grace of a shutdown
};

/// Thread-safe, save that `drain` is called once.
class Transport {
 public:
  /// Opens every address and begins to serve, or says in a sentence which address or file cannot be used. `server` must
  /// outlive the transport.
  static std::expected<std::unique_ptr<Transport>, std::string> start(Server& server, TransportOptions options);
  /// Ends at once.
  ~Transport();

  /// Where it listens, as URLs, with the ports it got; the last one is for admins when there is such an address.
  const std::vector<std::string>& addresses() const;
  TransportCounts counts() const;

  /// Reads the certificates again: always, or when their files have changed. Those that cannot be used are reported, and
  /// the old ones stay.
  void reload_certificates();
  void reload_changed_certificates();

  /// Shuts down: takes no new connections, answers whoever waits, serves workers that finish their tasks, and gives what
  /// is under way this long. Workers are waited for while `tasks_run` says so. Returns when all connections are closed.
  void drain(std::chrono::milliseconds grace, const std::function<bool()>& tasks_run);

 private:
  struct Parts;
  explicit Transport(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace ff::server
