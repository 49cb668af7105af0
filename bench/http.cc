#include "bench/http.h"

#include "bench/load.h"
#include "bench/server_process.h"
#include "client/open_remote.h"
#include "core/errors.h"
#include "core/json.h"

#include <fstream>

namespace ff::bench {
namespace {

constexpr std::uint64_t kRoundExecutions = 10'000;
constexpr std::uint64_t kRoundsMax = 10;

/// One way to the engine, and what it took so far.
class Side {
 public:
  /// `submits` may be another fabric than the one that works.
  Side(Fabric submits, Fabric works, const CycleOptions& options, const std::string& lane)
      : submits_(std::move(submits), options, lane), works_(std::move(works), options, lane) {}

  Result<void> round(std::uint64_t until, const Progress& progress) {
    const std::uint64_t count = until - done_;
    const auto start = Clock::now();
    submit_many(submits_, count, [&](std::uint64_t sent) { progress("submitting", done_ + sent, until); });
    if (auto error = submits_.error()) return std::unexpected(*error);
    submitting.add(count, start);
    const auto drain_start = Clock::now();
    {
      Workers workers(works_);
      while (!works_.stopping && works_.completed < until) {
        works_.wait_completed(until, Clock::now() + std::chrono::milliseconds(200));
        progress("working", std::min(until, works_.completed.load()), until);
      }
      draining.add(count, drain_start);
    }
    if (auto error = works_.error()) return std::unexpected(*error);
    done_ = until;
    return {};
  }

  const Samples& claims() const { return works_.claims; }
  double cycles_per_s() const { return submitting.executions / (submitting.seconds + draining.seconds); }

  Spent submitting, draining;

 private:
  Run submits_, works_;
  std::uint64_t done_ = 0;
};

double peak_rss_mb(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  std::string word;
  while (status >> word)
    if (word == "VmHWM:") {
      double kib = 0;
      status >> kib;
      return kib / 1024;
    }
  return 0;
}

}  // namespace

Result<HttpFigures> run_http(const std::string& url, const OpenOptions& open_options, const CycleOptions& options,
                             const Progress& progress) {
  if (auto checked = check(options); !checked) return std::unexpected(checked.error());
  if (client::is_server_url(url))
    return std::unexpected(core::invalid_input("store", "remote", "The benchmark runs on a store, not on a server."));
  auto server = ServerProcess::start(url);
  if (!server) return std::unexpected(server.error());
  auto embedded = open(url, open_options);
  if (!embedded) return std::unexpected(embedded.error());
  auto remote = open(server->url());
  if (!remote) return std::unexpected(remote.error());
  const bool one_by_one = options.claim_max == 1;
  Fabric works = *remote;
  if (one_by_one) {
    auto plain = client::open_remote(server->url(), {.connections_max = options.workers, .batch_max = 1}, {});
    if (!plain) return std::unexpected(plain.error());
    works = std::move(*plain);
  }
  auto info = remote->info();
  if (!info) return std::unexpected(info.error());
  const std::string lane = fmt::format("bench-{}", info->server_time_ms);

  Side over_http(*remote, works, options, lane + "-http");
  Side in_process(*embedded, *embedded, options, lane);
  const std::uint64_t rounds = std::clamp<std::uint64_t>(options.executions / kRoundExecutions, 1, kRoundsMax);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::uint64_t until = options.executions * round / rounds;
    if (auto done = over_http.round(until, progress); !done) return std::unexpected(done.error());
    if (auto done = in_process.round(until, progress); !done) return std::unexpected(done.error());
  }

  HttpFigures figures;
  figures.store = info->store;
  figures.durability = core::name_of(info->durability);
  figures.submit_per_s = over_http.submitting.per_s();
  figures.drain_per_s = over_http.draining.per_s();
  figures.cycles_per_s = over_http.cycles_per_s();
  if (one_by_one) figures.requests_per_s = 2 * figures.drain_per_s.value_or(0);
  figures.cycle_cycles_per_s = in_process.cycles_per_s();
  figures.ratio = figures.cycles_per_s / *figures.cycle_cycles_per_s;
  figures.claim_p50_us = over_http.claims().quantile(0.5);
  figures.claim_p99_us = over_http.claims().quantile(0.99);
  figures.server_peak_rss_mb = peak_rss_mb(server->pid());
  for (const Fabric* fabric : {&works, &*remote, &*embedded}) fabric->close();
  return figures;
}

}  // namespace ff::bench
