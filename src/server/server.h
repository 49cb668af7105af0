#pragma once

// The HTTP API without a transport: a request goes in, its answer comes out through a callback.

#include "log/log.h"
#include "server/health.h"
#include "server/http.h"
#include "server/limits.h"
#include "server/principal.h"

#include <flowfabric/fabric.h>

namespace ff::server {

struct ServerOptions {
  Limits limits;
  /// Who makes this request; none when nobody we know. Unset: no token is configured, everybody may do everything.
  std::function<std::optional<Principal>(const Request&)> authenticate;
  /// What carries out the calls of a caller. Unset: the server's own backend, which keeps to the caller's namespace and
  /// writes its name into the audit log.
  std::function<std::shared_ptr<api::Backend>(const Principal&)> acting_for;
  std::function<std::string()> mint_request_id;  ///< required
  std::function<std::int64_t()> steady_ms;       ///< required: a clock that never goes back
  std::vector<std::string> cors_origins;  ///< pages of other origins that may call; empty: none
  LogSink log;
};

struct WaitingClaims;

/// A request that may not be answered yet. The answer comes exactly once.
class Pending {
 public:
  /// How long a transport lets it take: the request's own wait and the limit beyond it.
  std::uint64_t deadline_ms() const;
  /// The deadline has passed: answers with `timeout`, unless the answer came first.
  void expire() const;
  /// The caller has gone: a waiting claim ends and hands out nothing, and no answer will follow.
  void abandon() const;

 private:
  friend class Server;
  struct State;
  std::shared_ptr<State> state_;
};

/// Thread-safe. Nothing here waits: what takes time is with the engine.
class Server {
 public:
  using Send = std::move_only_function<void(Response)>;

  Server(std::shared_ptr<api::Backend> backend, ServerOptions options);
  ~Server();

  /// `send` is called once, before this returns or later on a thread of the engine.
  Pending handle(Request request, Send send);
  /// The refusal, if it is certain before the body has been read: who it is, where it goes, how long it says it is.
  std::optional<Response> refuse_early(const Request& head);

  Health& health() { return *health_; }
  /// Looks at the engine, for `/readyz`; to be called about every second.
  void look();
  /// Waiting claims answer; from now on only worker calls by handle, probes and `/v1/info` are served.
  void drain();

 private:
  struct Admitted;

  std::string request_id_of(const Request& request) const;
  Result<Admitted> admit(const Request& request) const;
  void run(Admitted admitted, const Request& request, const std::shared_ptr<Pending::State>& state);

  std::shared_ptr<api::Backend> backend_;
  ServerOptions options_;
  std::shared_ptr<Health> health_;
  std::shared_ptr<WaitingClaims> waiting_;
  Log log_;
};

}  // namespace ff::server
