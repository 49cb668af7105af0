#include "engine/metrics.h"

#include "support/rules.h"

#include <gmock/gmock.h>

namespace ff::engine {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

/// A unit as a commit leaves it, with one record that was and now is.
void add_unit(std::deque<store::Unit>& units, const core::ExecutionRecord* before, const core::ExecutionRecord& after) {
  store::Unit& unit = units.emplace_back();
  unit.outcome = store::Unit::Outcome::committed;
  if (before) unit.set.executions().loaded(after.id, *before);
  unit.set.executions().write(after.id, std::make_shared<core::ExecutionRecord>(after));
}

TEST(Histograms, values_fall_into_the_first_bucket_that_holds_them) {
  Durations durations;
  for (double seconds : {0.0005, 0.00051, 10.0, 10.1}) durations.add(seconds);
  EXPECT_EQ(durations.counts.front(), 1U) << "the bound belongs to its bucket";
  EXPECT_EQ(durations.counts[1], 1U);
  EXPECT_EQ(durations.counts[13], 1U);
  EXPECT_EQ(durations.counts.back(), 1U) << "beyond all bounds";
  EXPECT_DOUBLE_EQ(durations.sum, 20.10101);
}

TEST(MetricsTest, operations_are_counted_by_name_and_outcome) {
  Metrics metrics;
  const Metrics::Finished done[] = {{"complete", "ok", 0.001}, {"complete", "stale_lease", 0.002}, {"renew", "ok", 0.1}};
  metrics.finished(done);
  metrics.finished(std::span(done).first(1));
  const auto snapshot = metrics.snapshot();
  EXPECT_THAT(snapshot.operations.at("complete").by_code, ElementsAre(Pair("ok", 2), Pair("stale_lease", 1)));
  EXPECT_DOUBLE_EQ(snapshot.operations.at("complete").duration.sum, 0.004);
  EXPECT_THAT(snapshot.operations.at("renew").by_code, ElementsAre(Pair("ok", 1)));
}

TEST(MetricsTest, leases_and_ends_of_attempts_are_counted_by_lane) {
  test::Rules rules;
  const ExecutionId id = rules.submit();
  const core::ExecutionRecord fresh = *rules.set.execution(id);
  const auto handle = rules.claim(id);
  const core::ExecutionRecord leased = *rules.set.execution(id);
  rules.must(core::Complete{handle, nullptr, "application/json"});
  const core::ExecutionRecord ended = *rules.set.execution(id);
  Metrics metrics;
  std::deque<store::Unit> units;
  add_unit(units, nullptr, fresh);
  add_unit(units, &fresh, leased);
  add_unit(units, &leased, ended);
  add_unit(units, &fresh, ended);  // both in one commit
  units.emplace_back();            // not committed
  metrics.committed(units);
  const LaneMetrics lane = metrics.snapshot().lanes.at("default");
  EXPECT_THAT(lane.claims, ElementsAre(2, 0, 0));
  EXPECT_EQ(lane.attempts[static_cast<std::size_t>(AttemptEnd::ok)], 2U);
}

TEST(MetricsTest, the_busiest_two_hundred_lanes_have_names) {
  test::Rules rules;
  Metrics metrics;
  for (int i = 0; i < 300; ++i) {
    Submission submission = test::job();
    submission.lane_id = "lane" + std::to_string(i);
    const ExecutionId id = rules.submit(submission);
    const core::ExecutionRecord before = *rules.set.execution(id);
    rules.claim(id);
    std::deque<store::Unit> units;
    for (int n = 0; n < (i == 299 ? 2 : 1); ++n) add_unit(units, &before, *rules.set.execution(id));
    metrics.committed(units);
  }
  const auto lanes = metrics.snapshot().lanes;
  EXPECT_THAT(lanes, SizeIs(201));
  EXPECT_EQ(lanes.at("other").busyness(), 100U);
  EXPECT_EQ(lanes.at("lane299").busyness(), 2U);
}

}  // namespace
}  // namespace ff::engine
