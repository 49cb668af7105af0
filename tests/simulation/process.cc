#include "process.h"

namespace ff::sim {

Process::~Process() {
  if (is_up()) crash();
}

Result<void> Process::boot() {
  ++incarnation_;
  runtime_ = std::make_unique<SimRuntime>(scheduler_, random_.fork(), fmt::format("p{}", number_),
                                          [clock = clock_] { return clock->now_ms(); });
  OpenOptions open;
  open.flow_partitions = 16;
  open.lane_spread = 4;
  open.lease_ttl_ms = 2'000;
  open.retention_ms = options_.retention_ms;
  open.event_retention_ms = options_.event_retention_ms;
  open.audit_retention_ms = 2 * options_.event_retention_ms;
  open.renewal_events = options_.renewal_events;
  open.executors = options_.executors;
  open.batch_max = options_.batch_max;
  open.queue_max = options_.queue_max;
  open.waiters_max = options_.waiters_max;
  if (options_.slow_poll) open.poll_interval_ms = 600'000;
  // Old records have to go while the run lasts, else nothing is ever removed in it.
  open.sweep_interval_ms = {{"retention_trimmer", 3'000}, {"event_trimmer", 5'000}, {"expired_records", 4'000}};
  open.sweeps = options_.bug != Bug::never_sweeps;
  if (options_.watched_clock) open.clock = clock_;
  open.log = [](LogLevel, std::string_view, std::span<const LogField>) {};

  auto store = std::make_unique<SimStore>(origin_.share(), faults_, options_.bug, random_.fork());
  store_ = store.get();
  auto engine = engine::Engine::open(std::move(store), std::move(open), *runtime_);
  if (!engine) return std::unexpected(engine.error());
  engine_ = std::move(*engine);
  return {};
}

void Process::crash() {
  ++incarnation_;  // before anything else: whatever the engine still says on its way out is not heard
  engine_->abandon();
  engine_.reset();
  store_ = nullptr;
  runtime_.reset();
}

void Process::shut_down() {
  engine_->shutdown();
  ++incarnation_;
  engine_.reset();
  store_ = nullptr;
  runtime_.reset();
}

}  // namespace ff::sim
