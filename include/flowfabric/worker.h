#pragma once

#include <flowfabric/fabric.h>
#include <flowfabric/task.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ff {

struct WorkerOptions {
  std::vector<std::string> lanes = {"default"};
  std::vector<std::string> capabilities;
  std::uint32_t concurrency = 8;                ///< tasks at a time, 1..10,000
  std::optional<std::string> worker_id;           ///< the pool it belongs to; the program's name when unset
  std::optional<std::string> worker_instance_id;  ///< this process; `<host>-<pid>-<8 hex>` when unset
  std::optional<std::string> namespace_scope;     ///< unset: all
  std::uint32_t lease_ttl_ms = 30'000;
  /// Makes itself known, gives signs of life, and says when it goes. Who does not is noted by its claims alone.
  bool registers = true;
  std::optional<std::uint64_t> liveness_ttl_ms;  ///< gone after so long a silence; unset: two leases, a minute at least
  std::uint32_t wait_ms = 30'000;  ///< how long a claim waits for work
  std::uint32_t backoff_first_ms = 50;
  std::uint32_t backoff_max_ms = 1'000;
  std::uint32_t drain_timeout_ms = 30'000;
  std::uint32_t stop_grace_ms = 5'000;
  bool handle_signals = true;  ///< SIGTERM and SIGINT drain the worker while `run` is under way
  LogSink log;                 ///< unset: warnings go to stderr
};

/// Takes tasks from a fabric and runs handlers on them: leases are renewed, outcomes are sent and repeated until they
/// are acknowledged, and a stopping worker finishes or hands back what it holds.
///
///     ff::Worker worker(fabric, {.lanes = {"default"}, .concurrency = 8});
///     worker.on("resize", [](ff::Task& task) -> ff::Outcome { return ff::complete(resize(task.payload())); });
///     worker.run();
///
/// A handler that throws fails its attempt with the message; only its own task is affected.
class Worker {
 public:
  using Handler = std::function<Outcome(Task&)>;

  Worker(Fabric fabric, WorkerOptions options = {});
  Worker(Worker&&) noexcept;
  ~Worker();

  /// Registers the handler of a kind; a second one for the same kind replaces the first. Before `run`.
  Worker& on(std::string kind, Handler handler);
  /// Handles every kind that has no handler of its own.
  Worker& on_any(Handler handler);

  /// Puts a function around all handlers; the last added is the outermost. Before `run`. `<flowfabric/middleware.h>` has
  /// some: a log, figures, a rate limit, a circuit breaker.
  Worker& use(Middleware middleware);

  /// Works until `stop`, SIGTERM or SIGINT, then drains. Returns how many tasks were handed back unfinished, or the
  /// error that made working impossible: a wrong option is reported here, before any call.
  Result<std::uint32_t> run();
  /// Asks `run` to drain and return. A second call skips to handing back. Safe from any thread.
  void stop();

  const std::string& instance_id() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ff
