#include "server/metrics_text.h"

#include "server/engine_metrics.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

namespace ff::server {
namespace {

using ::testing::HasSubstr;

TEST(MetricsText, one_of_each) {
  MetricsText text;
  text.family("a_total", "counter", "As.");
  text.value({}, std::uint64_t{3});
  text.value({{"x", "1\"2\\3\n"}, {"y", "z"}}, 0.25);
  text.family("b", "histogram", "Bs.");
  const double bounds[] = {0.5, 1};
  const std::uint64_t counts[] = {2, 0, 1};
  text.histogram({{"l", "m"}}, bounds, counts, 4.5);
  EXPECT_EQ(std::move(text).take(),
            "# HELP a_total As.\n# TYPE a_total counter\na_total 3\na_total{x=\"1\\\"2\\\\3\\n\",y=\"z\"} 0.25\n"
            "# HELP b Bs.\n# TYPE b histogram\nb_bucket{l=\"m\",le=\"0.5\"} 2\nb_bucket{l=\"m\",le=\"1\"} 2\n"
            "b_bucket{l=\"m\",le=\"+Inf\"} 3\nb_sum{l=\"m\"} 4.5\nb_count{l=\"m\"} 3\n");
}

TEST(MetricsText, an_engine_tells_what_it_counted) {
  EngineFigures figures;
  figures.info.store = "memory";
  figures.info.durability = Durability::full;
  figures.counted.operations["renew"].by_code = {{"ok", 4}, {"lease_expired", 2}, {"stale_lease", 1}};
  figures.counted.lanes["l"].claims = {5, 0, 1};
  figures.counted.events[1] = 9;
  figures.counted.conflicts = 3;
  figures.queue_depths = {0, 7};
  figures.claim_waiters["l"] = 2;
  figures.sweep_durations["lease_expiry"].add(0.002);
  SweepInfo sweep;
  sweep.sweep = "lease_expiry";
  sweep.runs = 11;
  sweep.lag_ms = 1'500;
  figures.info.sweeps = {sweep};
  LaneStatus lane;
  lane.lane.lane_id = "l";
  lane.depth.eligible.value = 6;
  lane.oldest_waiting_ms = 2'500;
  figures.lanes = {lane};
  MetricsText text;
  write_engine_metrics(text, figures);
  const std::string told = std::move(text).take();
  for (const char* line :
       {R"(ff_operations_total{op="renew",code="lease_expired"} 2)", R"(ff_lease_renewal_total{outcome="error"} 3)",
        R"(ff_claims_total{lane="l",kind="reclaimed"} 1)", R"(ff_events_appended_total{kind="lease"} 9)",
        R"(ff_batch_retries_total{reason="conflict"} 3)", R"(ff_queue_depth{executor="1"} 7)",
        R"(ff_claim_waiters{lane="l"} 2)", R"(ff_scanner_cycle_total{scanner="lease_expiry"} 11)",
        R"(ff_scanner_cycle_duration_seconds_count{scanner="lease_expiry"} 1)", R"(ff_sweep_lag_seconds{sweep="lease_expiry"} 1.5)",
        R"(ff_lane_depth{lane="l",bucket="eligible"} 6)", R"(ff_lane_oldest_seconds{lane="l"} 2.5)",
        R"(ff_store_durability_ok{store="memory"} 1)", R"(ff_store_up{store="memory"} 1)"})
    EXPECT_THAT(told, HasSubstr(std::string(line) + "\n"));

  // No family is begun twice: a scraper refuses that.
  std::set<std::string> families;
  std::istringstream lines(told);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# TYPE")) {
      EXPECT_TRUE(families.insert(line).second) << line;
    }
}

}  // namespace
}  // namespace ff::server
