#include "bench/cycle.h"

#include "api/embedded.h"
#include "bench/load.h"
#include "bench/raw.h"
#include "bench/start.h"
#include "core/errors.h"
#include "core/validate.h"

#include <sys/resource.h>

namespace ff::bench {
namespace {

constexpr std::uint32_t kWindowSeconds = 30;
/// Smaller rounds would measure how work begins and ends rather than how it goes.
constexpr std::uint64_t kRoundExecutions = 10'000;
constexpr std::uint64_t kRoundsMax = 10;

using Stats = engine::EngineStats;

/// The sizes of the batches between two looks.
void describe_batches(const Stats& before, const Stats& after, CycleFigures& figures) {
  const std::uint64_t batches = after.batches - before.batches;
  if (batches == 0) return;
  figures.batch_mean = static_cast<double>(after.operations - before.operations) / static_cast<double>(batches);
  std::uint64_t seen = 0;
  for (std::size_t size = 0; size < after.batch_sizes.size() && seen * 100 < batches * 99; ++size) {
    seen += after.batch_sizes[size] - before.batch_sizes[size];
    figures.batch_p99 = size;
  }
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The raw limit, if the store has one, and what it took so far.
struct Raw {
  std::unique_ptr<RawQueue> queue;
  Spent spent;

  Result<void> cycle(std::uint64_t count) {
    if (!queue) return {};
    const auto start = Clock::now();
    if (auto done = queue->cycle(count); !done) return done;
    spent.add(count, start);
    return {};
  }
};

/// Submits everything, then lets the workers at it. Our rounds and those of the raw queue take turns: the speed of a
/// machine that others use too changes within seconds.
Result<void> submit_then_drain(Run& run, Raw& raw, const Progress& progress, CycleFigures& figures) {
  const std::uint64_t count = run.options.executions;
  // With a backlog the workers of a round go on with the work of the next one.
  const std::uint64_t rounds =
      run.options.backlog > 0 ? 1 : std::clamp<std::uint64_t>(count / kRoundExecutions, 1, kRoundsMax);
  Spent submitting, draining;
  std::uint64_t done = 0;
  for (std::uint64_t round = 1; round <= rounds && !run.stopping; ++round) {
    const std::uint64_t until = count * round / rounds;
    const auto start = Clock::now();
    submit_many(run, until - done, [&](std::uint64_t sent) { progress("submitting", done + sent, count); });
    submitting.add(until - done, start);
    const auto drain_start = Clock::now();
    {
      Workers workers(run);
      while (!run.stopping && run.completed < until) {
        run.wait_completed(until, Clock::now() + std::chrono::milliseconds(200));
        progress("working", std::min(count, run.completed.load()), count);
      }
      draining.add(until - done, drain_start);
    }
    progress("measuring the raw limit", until, count);
    if (auto measured = raw.cycle(until - done); !measured) return measured;
    done = until;
  }
  figures.submit_per_s = submitting.per_s();
  figures.drain_per_s = draining.per_s();
  figures.cycles_per_s = static_cast<double>(count) / (submitting.seconds + draining.seconds);
  return {};
}

/// Submits and works together, and compares the beginning with the end.
void run_steadily(Run& run, const Progress& progress, CycleFigures& figures) {
  const std::uint32_t seconds = run.options.seconds;
  std::vector<std::uint64_t> at_second = {0};
  Workers workers(run);
  SteadySubmitters submitters(run);
  const auto start = Clock::now();
  for (std::uint32_t second = 1; second <= seconds && !run.stopping; ++second) {
    run.wait_completed(~std::uint64_t{0}, start + std::chrono::seconds(second));
    at_second.push_back(run.completed);
    progress("submitting and working", second, seconds);
  }
  const double took = seconds_since(start);
  const std::size_t window = std::clamp<std::size_t>(at_second.size() / 2, 1, kWindowSeconds);
  if (at_second.size() > window) {
    figures.first_30s_per_s = static_cast<double>(at_second[window]) / static_cast<double>(window);
    figures.last_30s_per_s =
        static_cast<double>(at_second.back() - at_second[at_second.size() - 1 - window]) / static_cast<double>(window);
  }
  figures.cycles_per_s = static_cast<double>(run.completed) / took;
}

}  // namespace

Result<void> check(const CycleOptions& options) {
  auto in_range = [](std::string_view name, std::uint64_t value, std::uint64_t from, std::uint64_t to) -> Result<void> {
    if (value >= from && value <= to) return {};
    return std::unexpected(core::invalid_input(
        name, "out_of_range", fmt::format("--{} is {}; it must lie between {} and {}.", name, value, from, to)));
  };
  for (auto checked : {in_range("executions", options.executions, 1, 100'000'000),
                       in_range("workers", options.workers, 1, 1'000),
                       in_range("claim-max", options.claim_max, 1, core::kClaimMax),
                       in_range("payload-bytes", options.payload_bytes, 0, 1'000'000),
                       in_range("backlog", options.backlog, 0, 100'000'000),
                       in_range("seconds", options.seconds, 0, 86'400)})
    if (!checked) return checked;
  return {};
}

Result<CycleFigures> run_cycle(const std::string& url, const OpenOptions& open_options, const CycleOptions& options,
                               const Progress& progress) {
  if (auto checked = check(options); !checked) return std::unexpected(checked.error());
  auto fabric = open(url, open_options);
  if (!fabric) return std::unexpected(fabric.error());
  auto* embedded = dynamic_cast<api::EmbeddedBackend*>(fabric->backend().get());
  if (!embedded)
    return std::unexpected(core::invalid_input("store", "remote", "The benchmark runs on a store, not on a server."));
  auto info = fabric->info();
  if (!info) return std::unexpected(info.error());

  CycleFigures figures;
  figures.store = info->store;
  figures.durability = core::name_of(info->durability);
  const std::string lane = fmt::format("bench-{}", info->server_time_ms);

  auto start_us = measure_start(*fabric, lane + "-start", progress);
  if (!start_us) return std::unexpected(start_us.error());
  figures.start_p50_us = *start_us;

  if (options.backlog > 0) {
    Run fill(*fabric, options, lane);
    submit_many(fill, options.backlog, [&](std::uint64_t done) { progress("filling the lane", done, options.backlog); });
    if (auto error = fill.error()) return std::unexpected(*error);
  }
  const Stats before = embedded->engine().stats();
  Run run(*fabric, options, lane);
  figures.connections = before.executors;
  auto raw_queue = open_raw(url, {options.payload_bytes, figures.connections});
  if (!raw_queue) return std::unexpected(raw_queue.error());
  Raw raw{std::move(*raw_queue), {}};
  Result<void> measured;
  if (options.seconds > 0) {
    measured = raw.cycle(options.executions);
    if (measured) run_steadily(run, progress, figures);
    if (measured) measured = raw.cycle(options.executions);
  } else {
    measured = submit_then_drain(run, raw, progress, figures);
  }
  if (auto error = run.error()) return std::unexpected(*error);
  if (!measured) return std::unexpected(measured.error());
  describe_batches(before, embedded->engine().stats(), figures);
  figures.claim_p50_us = run.claims.quantile(0.5);
  figures.claim_p99_us = run.claims.quantile(0.99);
  figures.peak_rss_mb = peak_rss_mb();
  figures.raw_cycles_per_s = raw.spent.per_s();
  if (figures.raw_cycles_per_s) figures.ratio = figures.cycles_per_s / *figures.raw_cycles_per_s;
  fabric->close();
  return figures;
}

}  // namespace ff::bench
