#include "bench/cycle.h"
#include "bench/http.h"
#include "cli/commands.h"
#include "cli/table.h"

#include <CLI/CLI.hpp>

#include <cmath>

namespace ff::cli {
namespace {

using bench::CycleFigures;

template <class Visit>
void each_figure(const CycleFigures& figures, Visit visit) {
  visit("store", figures.store);
  visit("durability", figures.durability);
  visit("submit_per_s", figures.submit_per_s);
  visit("drain_per_s", figures.drain_per_s);
  visit("cycles_per_s", figures.cycles_per_s);
  visit("first_30s_per_s", figures.first_30s_per_s);
  visit("last_30s_per_s", figures.last_30s_per_s);
  visit("raw_cycles_per_s", figures.raw_cycles_per_s);
  visit("ratio", figures.ratio);
  visit("batch_mean", figures.batch_mean);
  visit("batch_p99", figures.batch_p99);
  visit("connections", std::uint64_t{figures.connections});
  visit("claim_p50_us", figures.claim_p50_us);
  visit("claim_p99_us", figures.claim_p99_us);
  visit("start_p50_us", figures.start_p50_us);
  visit("peak_rss_mb", figures.peak_rss_mb);
}

template <class Visit>
void each_figure(const bench::HttpFigures& figures, Visit visit) {
  visit("store", figures.store);
  visit("durability", figures.durability);
  visit("submit_per_s", figures.submit_per_s);
  visit("drain_per_s", figures.drain_per_s);
  visit("cycles_per_s", figures.cycles_per_s);
  visit("requests_per_s", figures.requests_per_s);
  visit("cycle_cycles_per_s", figures.cycle_cycles_per_s);
  visit("ratio", figures.ratio);
  visit("claim_p50_us", figures.claim_p50_us);
  visit("claim_p99_us", figures.claim_p99_us);
  visit("server_peak_rss_mb", figures.server_peak_rss_mb);
}

/// As many digits as mean something.
std::string figure_text(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return value >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}
std::string figure_text(std::uint64_t value) { return std::to_string(value); }
std::string figure_text(const std::string& value) { return value; }
std::string figure_text(const std::optional<double>& value) { return value ? figure_text(*value) : std::string(); }

core::json::value figure_value(const std::string& value) { return core::json::value(value); }
core::json::value figure_value(std::uint64_t value) { return value; }
core::json::value figure_value(double value) {
  if (value >= 100) return static_cast<std::int64_t>(std::llround(value));
  return std::round(value * 1000) / 1000;
}
core::json::value figure_value(const std::optional<double>& value) {
  return value ? figure_value(*value) : core::json::value(nullptr);
}

/// One bar after the other, as the benchmark goes from one part to the next.
class Bars {
 public:
  explicit Bars(Output& output) : output_(output) {}

  void show(std::string_view what, std::uint64_t done, std::uint64_t total) {
    std::lock_guard guard(mutex_);
    if (what != what_) {
      bar_.reset();
      bar_ = std::make_unique<ProgressBar>(output_, std::string(what), total);
      what_ = what;
    }
    bar_->show(done);
  }

 private:
  Output& output_;
  std::mutex mutex_;
  std::string what_;
  std::unique_ptr<ProgressBar> bar_;
};

/// Runs a benchmark and prints its figures under that title.
template <class Measure>
Result<int> run_bench(Globals& globals, const std::string& title, Measure measure) {
  auto figures = [&] {
    Bars bars(globals.output);
    return measure([&](std::string_view what, std::uint64_t done, std::uint64_t total) { bars.show(what, done, total); });
  }();
  if (!figures) return std::unexpected(figures.error());
  if (globals.output.json()) {
    core::json::object document;
    each_figure(*figures, [&](const char* name, const auto& value) { document[name] = figure_value(value); });
    globals.output.document(document);
    return kDone;
  }
  Facts facts(title);
  each_figure(*figures, [&](const char* name, const auto& value) { facts.add(name, figure_text(value)); });
  facts.print(globals.output);
  return kDone;
}

void add_load(CLI::App* command, bench::CycleOptions& options) {
  command->add_option("--executions", options.executions, "How many cycles")->capture_default_str();
  command->add_option("--workers", options.workers, "Workers that claim and complete")->capture_default_str();
  command->add_option("--claim-max", options.claim_max, "Tasks that a worker holds at most")->capture_default_str();
  command->add_option("--payload-bytes", options.payload_bytes, "Size of each payload")->capture_default_str();
}

}  // namespace

void add_bench(Program& program) {
  CLI::App* group = program.add(nullptr, "bench", "Measure this store on this machine, next to its raw limit",
                                "  ff bench cycle --store sqlite:bench.db");
  group->require_subcommand(1);
  CLI::App* cycle = program.add(
      group, "cycle", "Submit, claim and complete; best on a store made for it: what is submitted stays for a day",
      "  ff bench cycle --store sqlite:bench.db --executions 50000\n"
      "  ff bench cycle --store sqlite:bench.db --seconds 120 --json");
  auto options = std::make_shared<bench::CycleOptions>();
  add_load(cycle, *options);
  cycle->add_option("--backlog", options->backlog, "Executions that wait in the lane beforehand")->capture_default_str();
  cycle->add_option("--seconds", options->seconds, "Submit and work together for so long; 0: one after the other")
      ->capture_default_str();
  cycle->add_flag("--sync", options->sync, "One call at a time instead of asynchronous completions");
  program.on(cycle, [&globals = program.globals, options]() -> Result<int> {
    if (auto refused = refuse_server(globals)) return std::unexpected(*refused);
    return run_bench(globals, "Cycles: submit, claim, complete", [&](const bench::Progress& progress) {
      return bench::run_cycle(globals.store, open_options(globals, Use::follow), *options, progress);
    });
  });

  CLI::App* http = program.add(group, "http",
                               "The same through a server of its own and the client, next to the engine without them;\n"
                               "with --claim-max 1 one by one, a request per call",
                               "  ff bench http --store sqlite:bench.db --executions 50000\n"
                               "  ff bench http --store sqlite:bench.db --claim-max 1");
  auto load = std::make_shared<bench::CycleOptions>();
  add_load(http, *load);
  program.on(http, [&globals = program.globals, load]() -> Result<int> {
    if (auto refused = refuse_server(globals)) return std::unexpected(*refused);
    return run_bench(globals, "Cycles over HTTP: submit, claim, complete", [&](const bench::Progress& progress) {
      return bench::run_http(globals.store, open_options(globals, Use::follow), *load, progress);
    });
  });
}

}  // namespace ff::cli
