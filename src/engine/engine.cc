#include "engine/engine.h"

#include "core/lease.h"
#include "core/ops/deletion.h"
#include "core/ops/expiry.h"
#include "core/ops/lanes.h"
#include "core/ops/workers.h"
#include "core/policy.h"
#include "core/validate.h"
#include "engine/engine_push.h"
#include "engine/refresher.h"
#include "store/refusal.h"
#include "version.h"

namespace ff::engine {
namespace {

constexpr std::uint32_t kReaders = 2;
/// Records that an executor has still to write, from where on claims go to others.
constexpr std::size_t kBusyLoad = 100;

core::RuleSettings rules_of(const OpenOptions& options) {
  core::RuleSettings rules;
  rules.namespace_ = options.namespace_;
  rules.lease_ttl_ms = options.lease_ttl_ms;
  rules.lease_loss_policy = options.lease_loss_policy;
  rules.max_reclaim_count = options.max_reclaim_count;
  rules.default_max_retries = options.default_max_retries;
  rules.retention_ms = options.retention_ms;
  rules.payload_bytes_max = options.payload_bytes_max;
  rules.renewal_events = options.renewal_events;
  return rules;
}

/// Options that can be wrong whatever the store says.
core::Fault check_options(const OpenOptions& options) {
  auto count = [](std::string_view field, std::uint32_t value) -> core::Fault {
    if (value >= 1) return std::nullopt;
    return core::invalid_input(field, "out_of_range", fmt::format("{} must be at least 1.", field));
  };
  if (auto fault = count("flow_partitions", options.flow_partitions)) return fault;
  if (auto fault = count("budget_partitions", options.budget_partitions)) return fault;
  if (auto fault = count("quota_partitions", options.quota_partitions)) return fault;
  if (auto fault = count("lane_spread", options.lane_spread)) return fault;
  if (auto fault = count("batch_max", options.batch_max)) return fault;
  if (auto fault = count("queue_max", options.queue_max)) return fault;
  if (auto fault = core::check_name("namespace", options.namespace_)) return fault;
  if (auto fault = core::check_ttl(options.lease_ttl_ms)) return fault;
  if (options.lanes.empty())
    return core::invalid_input("lanes", "empty", "Give at least one lane; the usual one is 'default'.");
  for (const auto& lane : options.lanes)
    if (auto fault = core::check_lane(lane)) return fault;
  return std::nullopt;
}

std::optional<std::string> mismatch(const core::Dataset& stored, const OpenOptions& wanted) {
  const std::tuple<std::string_view, std::uint16_t, std::uint16_t> fields[] = {
      {"flow_partitions", stored.partitioning.num_flow_partitions, wanted.flow_partitions},
      {"budget_partitions", stored.partitioning.num_budget_partitions, wanted.budget_partitions},
      {"quota_partitions", stored.partitioning.num_quota_partitions, wanted.quota_partitions},
      {"lane_spread", stored.partitioning.lane_spread, wanted.lane_spread},
  };
  for (const auto& [name, have, want] : fields)
    if (have != want) return fmt::format("{}: stored={}, config={}", name, have, want);
  return std::nullopt;
}

}  // namespace

Engine::Engine(std::unique_ptr<store::Store> store, OpenOptions options, Runtime& runtime)
    : store_(std::move(store)),
      options_(std::move(options)),
      runtime_(runtime),
      log_(options_.log),
      rules_(rules_of(options_)),
      traits_(store_->traits()),
      directory_(runtime),
      reads_(runtime, *store_, options_.queue_max),
      waiters_(runtime, options_.waiters_max),
      changes_(runtime, options_.waiters_max),
      default_policy_(std::make_shared<const Policy>(core::freeze_policy(Policy{}, rules_))) {}

Result<std::unique_ptr<Engine>> Engine::open(std::unique_ptr<store::Store> store, OpenOptions options,
                                             Runtime& runtime) {
  if (auto fault = check_options(options)) return std::unexpected(std::move(*fault));
  std::unique_ptr<Engine> engine(new Engine(std::move(store), std::move(options), runtime));
  if (auto booted = engine->boot(); !booted) {
    engine->abandon();
    return std::unexpected(booted.error());
  }
  return engine;
}

Result<void> Engine::boot() {
  core::Dataset proposed;
  proposed.partitioning = {options_.flow_partitions, options_.budget_partitions, options_.quota_partitions,
                           options_.lane_spread};
  proposed.created_at_ms = options_.clock ? options_.clock->now_ms() : runtime_.wall_ms();
  proposed.data_set_id = core::make_uuid7(proposed.created_at_ms, runtime_.random_u64(), runtime_.random_u64());
  runtime_.random(proposed.handle_key);
  proposed.engine_version = kVersion;
  auto adopted = store_->adopt_dataset(proposed);
  if (!adopted) return std::unexpected(adopted.error());
  dataset_ = *adopted;
  if (!dataset_.is_whole()) return std::unexpected(store::import_unfinished(dataset_));
  if (options_.accept_stored_counts) {
    options_.flow_partitions = dataset_.partitioning.num_flow_partitions;
    options_.budget_partitions = dataset_.partitioning.num_budget_partitions;
    options_.quota_partitions = dataset_.partitioning.num_quota_partitions;
    options_.lane_spread = dataset_.partitioning.lane_spread;
  }
  if (auto detail = mismatch(dataset_, options_)) {
    Error error = store::refusal("dataset_mismatch",
                                 fmt::format("The data set was made with other numbers ({}). They cannot change; open it "
                                             "with the stored ones.",
                                             *detail));
    error.context.set("detail", *detail);
    return std::unexpected(std::move(error));
  }
  sealer_ = std::make_unique<HandleSealer>(dataset_);

  const std::uint32_t count = options_.executors > 0 ? options_.executors : traits_.executors;
  homes_.emplace(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto session = store_->open_session();
    if (!session) return std::unexpected(session.error());
    executors_.push_back(std::make_unique<Executor>(
        runtime_, std::move(*session), traits_, directory_, delivery_, metrics_,
        Executor::Hooks{[this](std::span<const store::Gain> made) { return waiting_for(made); },
                        [this, i](const std::deque<store::Unit>& units) { committed(units, i); }},
        Executor::Options{options_.batch_max, options_.queue_max}));
  }
  auto directory_reader = store_->open_reader();
  if (!directory_reader) return std::unexpected(directory_reader.error());
  auto sweep_reader = store_->open_reader();
  if (!sweep_reader) return std::unexpected(sweep_reader.error());

  const Call inline_call{{}, true};
  Sweeps::Host host;
  host.ring = [this, inline_call](const ExecutionId& id, core::TimerKind kind, auto done) {
    push(executor_for(id), core::RingTimer{id, kind}, inline_call, std::move(done));
  };
  host.retire = [this, inline_call](const ExecutionId& id, auto done) {
    push(executor_for(id), core::Retire{id}, inline_call, std::move(done));
  };
  host.forget = [this, inline_call](const core::IdempotencyId& id, auto done) {
    push(*executors_.front(), core::ForgetKey{id}, inline_call, std::move(done));
  };
  host.sweep = [this, inline_call](const core::DocumentId& id, auto done) {
    Executor& executor = executor_for_name(id.key);
    if (id.kind == core::DocumentKind::worker)
      push(executor, core::SweepWorker{id, worker_events()}, inline_call, std::move(done));
    else
      push(executor, core::ForgetDocument{id}, inline_call, std::move(done));
  };
  host.with_session = [this](auto task) { executors_.front()->push_task(std::move(task)); };
  sweeps_ = std::make_unique<Sweeps>(runtime_, log_, options_, std::move(host));
  refresher_ = std::make_unique<Refresher>(*this, std::move(*directory_reader));

  delivery_.start(runtime_);
  for (std::uint32_t i = 0; i < count; ++i) executors_[i]->start(fmt::format("ff-exec-{}", i));
  if (auto started = reads_.start(kReaders); !started) return started;
  waiters_.start();
  changes_.start();
  refresher_->start();
  if (options_.create) register_lanes();
  sweeps_->start(std::move(*sweep_reader));
  if (options_.clock) clock_watch_ = options_.clock->watch([this] { clock_moved(); });
  store_->watch(this);
  return {};
}

void Engine::register_lanes() {
  for (const auto& lane : options_.lanes)
    push(executor_for_lane(lane), core::RegisterLane{lane, "boot"}, Call{{}, true}, [this, lane](Result<Lane> done) {
      if (!done) log_.warn("a lane could not be registered", {{"lane", lane}, {"error", done.error().message}});
    });
}

Engine::~Engine() { shutdown(); }

void Engine::shutdown() {
  if (closed_.exchange(true)) return;
  if (clock_watch_) options_.clock->unwatch(clock_watch_);
  store_->watch(nullptr);
  waiters_.stop();
  changes_.stop();
  if (refresher_) refresher_->stop();
  if (sweeps_) sweeps_->stop();
  for (auto& executor : executors_) executor->stop(true);
  reads_.stop();
  delivery_.stop();
  while (delivery_.step() == 0) {
  }
}

void Engine::abandon() {
  if (closed_.exchange(true)) return;
  if (clock_watch_) options_.clock->unwatch(clock_watch_);
  store_->watch(nullptr);
  if (refresher_) refresher_->stop();
  waiters_.stop();
  changes_.stop();
  if (sweeps_) sweeps_->stop();
  for (auto& executor : executors_) executor->stop(false);
  reads_.stop();
  delivery_.stop();
}

Executor& Engine::executor_for(const ExecutionId& id) {
  return *executors_[homes_->of(id).value_or(std::hash<ExecutionId>{}(id) % executors_.size())];
}

Executor& Engine::idlest(Executor& of_equals) {
  Executor* best = &of_equals;
  for (const auto& executor : executors_)
    if (executor->load() < best->load()) best = executor.get();
  return *best;
}

Executor& Engine::executor_for_lane(const std::string& lane_id) { return executor_for_name(lane_id); }

Executor& Engine::executor_for_name(std::string_view name) {
  return *executors_[std::hash<std::string_view>{}(name) % executors_.size()];
}

/// The lane's own, and when that is busy whoever has least to do, so that one lane does not leave the others idle. Claims
/// that run at the same time pass over what the other has just taken up: the last of a queue are better given out by one.
/// Repeats of a claim with its key meet in one executor.
Executor& Engine::executor_for_claim(const core::Claim& claim) {
  Executor& of_lane = executor_for_lane(claim.worker.lanes.front());
  return claim.claim_key || of_lane.load() < kBusyLoad ? of_lane : idlest(of_lane);
}

void Engine::committed(const std::deque<store::Unit>& units, std::size_t executor) {
  auto gains = directory_.committed(units);
  if (sweeps_) sweeps_->committed(units);
  lane_rates_.committed(units, runtime_.steady_us());
  metrics_.committed(units);
  const bool named = waiters_.has_named();
  for (const auto& unit : units) {
    if (unit.outcome != store::Unit::Outcome::committed) continue;
    auto& set = const_cast<core::WorkingSet&>(unit.set);
    for (const auto& slot : set.executions().slots()) {
      if (!slot.dirty) continue;
      if (slot.value && slot.value->is_leased()) homes_->leased(slot.key, executor);
      changes_.changed(slot.key, !slot.value || slot.value->is_terminal());
      if (named) retry(waiters_.wake(slot.key));
    }
    for (const auto& slot : set.lanes().slots())
      if (slot.dirty && refresher_) refresher_->look_again();  // a resumed lane has work for its waiters
  }
  if (!gains.empty()) retry(waiters_.wake(gains));
}

void Engine::foreign_commit() {
  if (refresher_) refresher_->look_again();
}

void Engine::clock_moved() {
  sweeps_->clock_moved();
  refresher_->look_again();
}

void Engine::update_watchfulness() { store_->set_watchful(waiters_.count() + changes_.count() > 0); }

Uuid Engine::mint() {
  // Ids of one engine rise: within a millisecond by a counter, so that they land side by side in every index.
  const TimeMs now = options_.clock ? options_.clock->now_ms() : runtime_.wall_ms();
  const std::uint64_t low = runtime_.random_u64();
  std::lock_guard guard(mint_mutex_);
  if (now > mint_ms_) {
    mint_ms_ = now;
    mint_count_ = 0;
  } else if (++mint_count_ > 0xfff) {
    ++mint_ms_;
    mint_count_ = 0;
  }
  return core::make_uuid7(mint_ms_, mint_count_, low);
}

core::QueueRef Engine::intern(core::QueueRef queue) {
  constexpr std::size_t kInternedMax = 10'000;
  std::string key = queue->lane_id + '\0' + queue->namespace_ + '\0' + queue->queue_class + '\0' + queue->execution_kind;
  std::lock_guard guard(intern_mutex_);
  if (interned_.size() >= kInternedMax) interned_.clear();
  auto [it, added] = interned_.try_emplace(std::move(key), queue);
  return *it->second == *queue ? it->second : queue;
}

std::vector<std::size_t> Engine::queue_depths() {
  std::vector<std::size_t> depths;
  for (const auto& executor : executors_) depths.push_back(executor->queued());
  return depths;
}

std::map<std::string, std::size_t> Engine::claim_waiters() { return waiters_.count_by_lane(); }

EngineStats Engine::stats() {
  EngineStats stats;
  stats.executors = static_cast<std::uint32_t>(executors_.size());
  stats.claim_waiters = waiters_.count();
  for (const auto& executor : executors_) {
    stats.batches += executor->stats().batches.load();
    stats.operations += executor->stats().operations.load();
    stats.retries += executor->stats().retries.load();
    for (std::size_t i = 0; i < stats.batch_sizes.size(); ++i)
      stats.batch_sizes[i] += executor->stats().sizes[i].load();
  }
  return stats;
}

}  // namespace ff::engine
