#pragma once

// The HTTP API without a transport. A request comes in two steps, its head and then its body, so that what is refused
// for its head is refused before a byte of its body is read; the answer comes out through a callback.

#include "core/caller.h"
#include "log/log.h"
#include "server/health.h"
#include "server/http.h"
#include "server/limits.h"
#include "server/principal.h"

#include <flowfabric/fabric.h>

namespace ff::server {

class HttpMetrics;
class MetricsText;
class RateLimits;
class RefusalLog;
class Waits;
struct Exchange;

/// Takes who it is; none when it is nobody we know, an error when that could not be found out.
using Authenticated = std::move_only_function<void(Result<std::optional<Principal>>)>;

struct ServerOptions {
  Limits limits;
  /// Finds out who makes a request: calls back before it returns, or later on any thread when it has to look the token
  /// up. Unset: no token is configured, everybody may do everything.
  std::function<void(const Request&, Authenticated)> authenticate;
  /// Whether there is nobody to tell apart yet, while `authenticate` is set. Unset: there always is.
  std::function<bool()> is_open;
  /// What carries out the calls of a caller. Unset: the server's own backend, which keeps to the caller's namespace and
  /// writes its name into the audit log.
  std::function<std::shared_ptr<api::Backend>(const core::Caller&)> acting_for;
  std::function<std::string()> mint_request_id;  ///< required
  std::function<std::int64_t()> steady_ms;       ///< required: a clock that never goes back
  std::function<std::int64_t()> steady_us;       ///< the same, finer; unset: made of the other
  std::vector<std::string> cors_origins;  ///< pages of other origins that may call; empty: none
  std::uint32_t rate_limit_per_token = 0;  ///< requests per second; 0: no limit
  /// Adds what is beyond the API to the answer of `/metrics`. Unset: there is no such address.
  std::function<void(MetricsText&)> metrics;
  /// Asked to shut down, with or without the end of the process. Unset: nobody can ask for that.
  std::function<void(std::optional<std::uint32_t> grace_ms, bool ends)> drain;
  LogSink log;
};

/// A request whose head has been let in.
class Ticket {
 public:
  explicit Ticket(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

  /// A worker's call about a task that it holds: served to the end while the server shuts down.
  bool is_by_handle() const;

 private:
  friend class Server;
  std::shared_ptr<Exchange> exchange_;
};

/// A request that may not be answered yet. The answer comes exactly once.
class Pending {
 public:
  /// How long a transport lets it take: the request's own wait and the limit beyond it.
  std::uint64_t deadline_ms() const;
  /// It waits for something to happen, or would hand something out: without a caller there is no point in it.
  bool is_waiting() const;
  /// The deadline has passed: answers with `timeout`, unless the answer came first.
  void expire() const;
  /// The caller has gone: a waiting claim ends and hands out nothing. False when the answer came first; else none will
  /// follow.
  bool abandon() const;

 private:
  friend class Server;
  std::shared_ptr<Exchange> exchange_;
};

/// Thread-safe. Nothing here waits: what takes time is with the engine.
class Server {
 public:
  using Send = std::move_only_function<void(Response)>;
  using Begun = std::move_only_function<void(std::expected<Ticket, Response>)>;

  Server(std::shared_ptr<api::Backend> backend, ServerOptions options);
  ~Server();

  /// Decides about a request by its head: who it is, where it goes, how long it says it is. `begun` is called once: with
  /// the refusal, or with the ticket for the rest.
  void begin(Request head, Begun begun);
  /// Carries it out. `send` is called once, before this returns or later on a thread of the engine.
  Pending handle(Ticket ticket, std::string body, Send send);
  /// The answer to a body that turned out to be longer than it may be.
  Response body_too_large(const Ticket& ticket) const;
  /// An answer without a word, to what is no request: only the status says what is wrong.
  Response bare(int status) const;

  const Limits& limits() const { return options_.limits; }
  Health& health() { return *health_; }
  /// Looks at the engine, for `/readyz`; to be called about every second. `also` is told what was seen.
  void look(std::function<void(const Result<FabricInfo>&)> also = nullptr);
  /// Whoever waits is answered; from now on only worker calls by handle, probes and `/v1/info` are served.
  void drain();

 private:
  using ExchangePtr = std::shared_ptr<Exchange>;

  std::string request_id_of(const Request& request) const;
  void find_route(Exchange& exchange) const;
  void identified(const ExchangePtr& exchange, Result<std::optional<Principal>> found);
  void admit(const ExchangePtr& exchange);
  std::optional<Error> why_not(const Exchange& exchange) const;
  void refuse(const ExchangePtr& exchange, const Error& error) const;
  void run(const ExchangePtr& exchange);
  std::string metrics_text() const;

  std::shared_ptr<api::Backend> backend_;
  ServerOptions options_;
  std::shared_ptr<Health> health_;
  std::shared_ptr<Waits> waits_;
  std::shared_ptr<HttpMetrics> requests_;
  std::unique_ptr<RateLimits> rates_;
  std::unique_ptr<RefusalLog> refusals_;
  Log log_;
};

}  // namespace ff::server
