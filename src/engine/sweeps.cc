#include "engine/sweeps.h"

#include <fmt/format.h>

#include <exception>

namespace ff::engine {
namespace {

constexpr SteadyUs kMs = 1'000;
constexpr SteadyUs kSecond = 1'000'000;
constexpr SteadyUs kBackOffFirst = kSecond;
constexpr SteadyUs kBackOffMax = 300 * kSecond;
constexpr SteadyUs kRestartPause = 5 * kSecond;
/// Own clocks that are remembered per sweep; beyond, the interval has to do.
constexpr std::size_t kUpcomingMax = 4'096;
/// Clocks that ring close together ring together.
constexpr TimeMs grain_ms(core::TimerKind kind) { return kind == core::TimerKind::delay ? 5 : 50; }
/// A process looks at most this often at the store's clock while own clocks are pending.
constexpr SteadyUs kLookMax = 50 * kMs;

}  // namespace

void BackOff::failed(const std::string& key, std::string error, SteadyUs now) {
  Item& item = items_[key];
  item.delay = item.delay == 0 ? kBackOffFirst : std::min(item.delay * 2, kBackOffMax);
  item.until = now + item.delay;
  item.error = std::move(error);
}

bool BackOff::skips(const std::string& key, SteadyUs now) const {
  auto it = items_.find(key);
  return it != items_.end() && now < it->second.until;
}

std::vector<std::string> BackOff::describe(std::size_t limit) const {
  std::vector<std::string> lines;
  for (const auto& [key, item] : items_) {
    if (lines.size() == limit) break;
    lines.push_back(fmt::format("{}: {}", key, item.error));
  }
  return lines;
}

Sweeps::Sweeps(Runtime& runtime, const Log& log, const OpenOptions& options, Host host)
    : runtime_(runtime), log_(log), options_(options), host_(std::move(host)) {
  auto add = [&](std::string name, Job job, core::TimerKind kind, std::uint64_t interval_ms, std::uint32_t batch) {
    Sweep sweep;
    sweep.name = name;
    sweep.job = job;
    sweep.kind = kind;
    auto given = options_.sweep_interval_ms.find(name);
    sweep.interval_ms = given == options_.sweep_interval_ms.end() ? interval_ms : given->second;
    sweep.batch = batch;
    sweep.enabled = options_.sweeps && !options_.sweeps_off.contains(name);
    sweep.stats.sweep = name;
    sweep.stats.interval_ms = sweep.interval_ms;
    sweep.stats.enabled = sweep.enabled;
    if (!sweep.enabled) log_.warn("a sweep is off in this process", {{"sweep", name}});
    sweeps_.push_back(std::move(sweep));
  };
  using K = core::TimerKind;
  add("delayed_promoter", Job::timer, K::delay, 750, 1000);
  add("lease_expiry", Job::timer, K::lease, 1'000, 1000);
  add("attempt_timeout", Job::timer, K::attempt_timeout, 2'000, 1000);
  add("execution_deadline", Job::timer, K::deadline, 5'000, 1000);
  add("retention_trimmer", Job::retention, K::delay, 60'000, 500);
  add("event_trimmer", Job::events, K::delay, 60'000, 5'000);
  add("expired_records", Job::keys, K::delay, 60'000, 5'000);
  add("worker_registry_ttl_sweep", Job::workers, K::delay, 30'000, 1'000);
}

void Sweeps::start(std::unique_ptr<store::Reader> reader) {
  reader_ = std::move(reader);
  for (const auto& sweep : sweeps_)
    if (sweep.enabled)
      log_.info("sweep started", {{"sweep", sweep.name}, {"interval_ms", std::to_string(sweep.interval_ms)}});
  runtime_.start("ff-sweeps", *this, runner_);
}

int Sweeps::stop() {
  {
    std::lock_guard guard(mutex_);
    if (stopped_) return 0;
    stopping_ = stopped_ = true;
  }
  if (runner_) runner_->stop();
  std::lock_guard guard(mutex_);
  int busy = 0;
  for (const auto& sweep : sweeps_) busy += sweep.in_flight > 0 && sweep.job != Job::events ? 1 : 0;
  return busy;
}

void Sweeps::committed(const std::deque<store::Unit>& units) {
  bool sooner = false;
  std::lock_guard guard(mutex_);
  for (const auto& unit : units) {
    if (unit.outcome != store::Unit::Outcome::committed) continue;
    for (const auto& slot : const_cast<core::WorkingSet&>(unit.set).executions().slots()) {
      if (!slot.dirty || !slot.value) continue;
      for (auto& sweep : sweeps_) {
        if (sweep.job != Job::timer || !sweep.enabled) continue;
        const auto at = core::timer_at(*slot.value, sweep.kind);
        if (!at) continue;
        const TimeMs grain = grain_ms(sweep.kind);
        const TimeMs rings = (core::rings_from(sweep.kind, *at) + grain - 1) / grain * grain;
        if (sweep.upcoming.size() >= kUpcomingMax) {
          if (rings >= *sweep.upcoming.rbegin()) continue;
          sweep.upcoming.erase(std::prev(sweep.upcoming.end()));
        }
        const bool added = sweep.upcoming.insert(rings).second;
        sooner = sooner || (added && *sweep.upcoming.begin() == rings);
      }
    }
  }
  if (sooner && runner_) runner_->notify();
}

void Sweeps::clock_moved() {
  {
    std::lock_guard guard(mutex_);
    for (auto& sweep : sweeps_) sweep.next_at = 0;
  }
  if (runner_) runner_->notify();
}

std::vector<SweepInfo> Sweeps::info() {
  std::lock_guard guard(mutex_);
  std::vector<SweepInfo> all;
  for (auto& sweep : sweeps_) {
    sweep.stats.backoff_items = sweep.back_off.size();
    sweep.stats.backoff = sweep.back_off.describe(20);
    all.push_back(sweep.stats);
  }
  return all;
}

std::map<std::string, Durations> Sweeps::durations() {
  std::lock_guard guard(mutex_);
  std::map<std::string, Durations> all;
  for (const auto& sweep : sweeps_) all.emplace(sweep.name, sweep.duration);
  return all;
}

SteadyUs Sweeps::step() {
  collect();
  const SteadyUs now = runtime_.steady_us();
  auto clock = reader_->clock();
  if (!clock) {
    log_.warn("the store's clock cannot be read", {{"error", clock.error().message}});
    return now + kSecond;
  }
  SteadyUs next = kNever;
  for (std::size_t i = 0; i < sweeps_.size(); ++i) {
    bool due = false;
    {
      std::lock_guard guard(mutex_);
      if (stopping_) return kNever;
      Sweep& sweep = sweeps_[i];
      if (!sweep.enabled || sweep.in_flight > 0) continue;
      due = sweep.full || sweep.next_at <= now ||
            (!sweep.upcoming.empty() && *sweep.upcoming.begin() <= *clock);
    }
    if (due) run(i, *clock);
    std::lock_guard guard(mutex_);
    const Sweep& sweep = sweeps_[i];
    if (sweep.in_flight > 0) continue;
    next = std::min(next, sweep.full ? 0 : sweep.next_at);
    if (!sweep.upcoming.empty()) {
      const SteadyUs until = (*sweep.upcoming.begin() - *clock) * kMs;
      next = std::min(next, now + (options_.clock ? kLookMax : std::clamp<SteadyUs>(until, 0, kSecond)));
    }
  }
  return next <= now ? 0 : next;
}

void Sweeps::run(std::size_t index, TimeMs now) {
  Sweep& sweep = sweeps_[index];
  {
    std::lock_guard guard(mutex_);
    sweep.started_at = runtime_.steady_us();
    sweep.next_at = sweep.started_at + static_cast<SteadyUs>(sweep.interval_ms) * kMs;
    sweep.upcoming.erase(sweep.upcoming.begin(), sweep.upcoming.upper_bound(now));
    sweep.full = false;
    sweep.run_processed = sweep.run_errors = 0;
    sweep.in_flight = 1;  // the selection itself, so that answers do not finish the run before it
    ++sweep.stats.runs;
    sweep.stats.last_run_at_ms = now;
  }
  try {
    switch (sweep.job) {
      case Job::timer: select_timers(index, now); break;
      case Job::retention: select_retired(index, now); break;
      case Job::keys:
        select_keys(index, now);
        select_documents(index, core::DocumentKind::worker_event, now);
        select_documents(index, core::DocumentKind::api_token, now);
        break;
      case Job::workers: select_documents(index, core::DocumentKind::worker, now); break;
      case Job::events: trim_events(index, now); break;
    }
  } catch (const std::exception& crash) {
    std::lock_guard guard(mutex_);
    ++sweep.stats.restarts;
    sweep.next_at = runtime_.steady_us() + kRestartPause;
    log_.error("a sweep crashed and will be started again",
               {{"sweep", sweep.name}, {"restart_count", std::to_string(sweep.stats.restarts)}, {"error", crash.what()}});
  }
  std::lock_guard guard(mutex_);
  if (--sweep.in_flight == 0) finish(sweep);
}

bool Sweeps::accepts(const core::ExecutionRecord& record) const {
  if (options_.scanner_namespace && *options_.scanner_namespace != record.namespace_()) return false;
  if (!options_.scanner_instance_tag) return true;
  if (!record.tags) return false;
  auto tag = record.tags->find(options_.scanner_instance_tag->first);
  return tag != record.tags->end() && tag->second == options_.scanner_instance_tag->second;
}

void Sweeps::selection_failed(Sweep& sweep, const Error& error) {
  log_.warn("the selection of a sweep failed", {{"sweep", sweep.name}, {"error", error.message}});
  std::lock_guard guard(mutex_);
  ++sweep.run_errors;
  ++sweep.stats.errors;
}

std::move_only_function<void(Result<bool>)> Sweeps::answer(std::size_t index, std::string key) {
  {
    std::lock_guard guard(mutex_);
    ++sweeps_[index].in_flight;
  }
  return [this, index, key = std::move(key)](Result<bool> result) {
    report({index, key, result ? std::nullopt : std::optional(result.error())});
  };
}

void Sweeps::report(Outcome outcome) {
  {
    std::lock_guard guard(mutex_);
    outcomes_.push_back(std::move(outcome));
  }
  if (runner_) runner_->notify();
}

void Sweeps::select_timers(std::size_t index, TimeMs now) {
  Sweep& sweep = sweeps_[index];
  const SteadyUs steady = runtime_.steady_us();
  store::DueQuery query;
  query.kind = sweep.kind;
  query.now = now;
  query.limit = sweep.batch;
  query.after = sweep.resume;
  query.accept = [&](const core::ExecutionRecord& record) {
    return accepts(record) && !sweep.back_off.skips(record.id.to_string(), steady);
  };
  auto found = reader_->due(query);
  if (!found) return selection_failed(sweep, found.error());
  {
    std::lock_guard guard(mutex_);
    sweep.stats.filtered += found->filtered;
    sweep.full = found->due.size() == sweep.batch;
    sweep.resume = std::move(found->next);
    sweep.stats.lag_ms =
        found->oldest_due_at ? static_cast<std::uint64_t>(std::max<TimeMs>(0, now - *found->oldest_due_at)) : 0;
  }
  for (const auto& id : found->due) host_.ring(id, sweep.kind, answer(index, id.to_string()));
}

void Sweeps::select_retired(std::size_t index, TimeMs now) {
  Sweep& sweep = sweeps_[index];
  const SteadyUs steady = runtime_.steady_us();
  auto found = reader_->retired(now, sweep.batch, [&](const core::ExecutionRecord& record) {
    return accepts(record) && !sweep.back_off.skips(record.id.to_string(), steady);
  });
  if (!found) return selection_failed(sweep, found.error());
  {
    std::lock_guard guard(mutex_);
    sweep.full = found->size() == sweep.batch;
  }
  for (const auto& id : *found) host_.retire(id, answer(index, id.to_string()));
}

void Sweeps::select_keys(std::size_t index, TimeMs now) {
  Sweep& sweep = sweeps_[index];
  auto found = reader_->expired_keys(now, sweep.batch);
  if (!found) return selection_failed(sweep, found.error());
  {
    std::lock_guard guard(mutex_);
    sweep.full = found->size() == sweep.batch;
  }
  for (const auto& id : *found)
    host_.forget(id, answer(index, fmt::format("{}/{}/{}", id.namespace_, id.operation, id.idempotency_key)));
}

void Sweeps::select_documents(std::size_t index, core::DocumentKind kind, TimeMs now) {
  Sweep& sweep = sweeps_[index];
  auto found = reader_->due_documents(kind, now, sweep.batch);
  if (!found) return selection_failed(sweep, found.error());
  {
    std::lock_guard guard(mutex_);
    sweep.full = sweep.full || found->size() == sweep.batch;
  }
  for (const auto& id : *found) host_.sweep(id, answer(index, fmt::format("{}/{}", core::table_of(id.kind), id.key)));
}

void Sweeps::trim_events(std::size_t index, TimeMs now) {
  const TimeMs before = now - static_cast<TimeMs>(options_.event_retention_ms);
  const TimeMs audit_before = now - static_cast<TimeMs>(options_.audit_retention_ms);
  const std::uint32_t batch = sweeps_[index].batch;
  {
    std::lock_guard guard(mutex_);
    ++sweeps_[index].in_flight;
  }
  host_.with_session([this, index, before, audit_before, batch](store::Session& session) {
    auto removed = session.trim_events(before, audit_before, batch);
    if (!removed) return report({index, "events", removed.error()});
    {
      std::lock_guard guard(mutex_);
      sweeps_[index].full = *removed >= batch;
    }
    report({index, "events", std::nullopt, *removed});
  });
}

void Sweeps::collect() {
  std::vector<Outcome> outcomes;
  {
    std::lock_guard guard(mutex_);
    outcomes.swap(outcomes_);
  }
  const SteadyUs now = runtime_.steady_us();
  for (auto& outcome : outcomes) {
    std::lock_guard guard(mutex_);
    Sweep& sweep = sweeps_[outcome.sweep];
    if (outcome.error) {
      ++sweep.run_errors;
      ++sweep.stats.errors;
      sweep.back_off.failed(outcome.key, outcome.error->to_string(), now);
      log_.warn("a row of a sweep failed",
                {{"sweep", sweep.name}, {"execution_id", outcome.key}, {"error", outcome.error->to_string()}});
    } else {
      sweep.run_processed += outcome.rows;
      sweep.stats.processed += outcome.rows;
      sweep.back_off.succeeded(outcome.key);
    }
    if (--sweep.in_flight == 0) finish(sweep);
  }
}

void Sweeps::finish(Sweep& sweep) {
  sweep.duration.add(static_cast<double>(runtime_.steady_us() - sweep.started_at) / 1e6);
  if (sweep.run_processed == 0 && sweep.run_errors == 0) return;
  // A selection that came back full of failures must not spin.
  if (sweep.run_processed == 0) sweep.full = false;
  log_.info("sweep run", {{"sweep", sweep.name},
                          {"processed", std::to_string(sweep.run_processed)},
                          {"errors", std::to_string(sweep.run_errors)},
                          {"elapsed_ms", std::to_string((runtime_.steady_us() - sweep.started_at) / kMs)}});
}

}  // namespace ff::engine
