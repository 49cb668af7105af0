#include "server/engine_metrics.h"

#include "core/describe.h"
#include "version.h"

namespace ff::server {
namespace {

void write_operations(MetricsText& text, const engine::MetricsSnapshot& counted) {
  text.family("ff_operations_total", "counter", "Operations by name and outcome.");
  for (const auto& [op, metrics] : counted.operations)
    for (const auto& [code, count] : metrics.by_code) text.value({{"op", op}, {"code", code}}, count);
  text.family("ff_operation_duration_seconds", "histogram", "From the call to its answer.");
  for (const auto& [op, metrics] : counted.operations)
    text.histogram({{"op", op}}, engine::kDurationBounds, metrics.duration.counts, metrics.duration.sum);
  text.family("ff_lease_renewal_total", "counter", "Renewals of leases.");
  std::uint64_t renewed = 0, refused = 0;
  if (auto renewals = counted.operations.find("renew"); renewals != counted.operations.end())
    for (const auto& [code, count] : renewals->second.by_code) (code == "ok" ? renewed : refused) += count;
  text.value({{"outcome", "ok"}}, renewed);
  text.value({{"outcome", "error"}}, refused);
}

void write_batches(MetricsText& text, const EngineFigures& figures) {
  const std::string& store = figures.info.store;
  const engine::MetricsSnapshot& counted = figures.counted;
  text.family("ff_batch_size", "histogram", "Operations per commit.");
  text.histogram({{"store", store}}, engine::kBatchBounds, counted.batch_sizes.counts, counted.batch_sizes.sum);
  text.family("ff_commit_duration_seconds", "histogram", "One commit.");
  text.histogram({{"store", store}}, engine::kDurationBounds, counted.commits.counts, counted.commits.sum);
  text.family("ff_batch_retries_total", "counter", "Batches that were decided again.");
  text.value({{"reason", "conflict"}}, counted.conflicts);
  text.family("ff_queue_depth", "gauge", "Operations that wait.");
  for (std::size_t i = 0; i < figures.queue_depths.size(); ++i)
    text.value({{"executor", std::to_string(i)}}, std::uint64_t{figures.queue_depths[i]});
}

void write_work(MetricsText& text, const engine::MetricsSnapshot& counted) {
  constexpr std::string_view kKinds[] = {"fresh", "resumed", "reclaimed"};
  text.family("ff_claims_total", "counter", "Leases that were issued.");
  for (const auto& [lane, metrics] : counted.lanes)
    for (std::size_t i = 0; i < metrics.claims.size(); ++i)
      text.value({{"lane", lane}, {"kind", kKinds[i]}}, metrics.claims[i]);
  text.family("ff_claim_duration_seconds", "histogram", "Claims, without their waits.");
  for (const auto& [lane, metrics] : counted.lanes)
    text.histogram({{"lane", lane}}, engine::kDurationBounds, metrics.claim.counts, metrics.claim.sum);
  text.family("ff_attempt_outcome_total", "counter", "How attempts ended.");
  for (const auto& [lane, metrics] : counted.lanes)
    for (std::size_t i = 0; i < metrics.attempts.size(); ++i)
      text.value({{"lane", lane}, {"outcome", engine::kAttemptEnds[i]}}, metrics.attempts[i]);
  text.family("ff_events_appended_total", "counter", "Events by kind.");
  for (std::size_t i = 0; i < counted.events.size(); ++i)
    text.value({{"kind", core::name_of(static_cast<EventKind>(i))}}, counted.events[i]);
}

void write_lanes(MetricsText& text, const EngineFigures& figures) {
  text.family("ff_lane_depth", "gauge", "Executions of a lane by where they are, sampled.");
  for (const LaneStatus& status : figures.lanes)
    core::for_each_field(status.depth, [&](std::string_view bucket, const Count& count) {
      text.value({{"lane", status.lane.lane_id}, {"bucket", bucket}}, count.value);
    });
  text.family("ff_lane_oldest_seconds", "gauge", "Age of the oldest execution that waits for a worker, sampled.");
  for (const LaneStatus& status : figures.lanes)
    text.value({{"lane", status.lane.lane_id}}, static_cast<double>(status.oldest_waiting_ms.value_or(0)) / 1'000);
  text.family("ff_claim_waiters", "gauge", "Claims that wait for work.");
  for (const auto& [lane, count] : figures.claim_waiters) text.value({{"lane", lane}}, std::uint64_t{count});
}

void write_sweeps(MetricsText& text, const EngineFigures& figures) {
  auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    text.family(name, type, help);
    for (const SweepInfo& sweep : figures.info.sweeps)
      text.value({{name == "ff_scanner_cycle_total" ? "scanner" : "sweep", sweep.sweep}}, value(sweep));
  };
  each("ff_scanner_cycle_total", "counter", "Runs of a sweep.", [](const SweepInfo& s) { return s.runs; });
  text.family("ff_scanner_cycle_duration_seconds", "histogram", "One run of a sweep.");
  for (const auto& [sweep, durations] : figures.sweep_durations)
    text.histogram({{"scanner", sweep}}, engine::kDurationBounds, durations.counts, durations.sum);
  each("ff_sweep_processed_total", "counter", "Rows that a sweep acted on.", [](const SweepInfo& s) { return s.processed; });
  each("ff_sweep_errors_total", "counter", "Rows whose action failed.", [](const SweepInfo& s) { return s.errors; });
  each("ff_sweep_restarts_total", "counter", "Sweeps that were started again.", [](const SweepInfo& s) { return s.restarts; });
  each("ff_sweep_backoff_items", "gauge", "Rows that are left alone for a while.",
       [](const SweepInfo& s) { return s.backoff_items; });
  each("ff_sweep_lag_seconds", "gauge", "Age of the oldest row that was due.",
       [](const SweepInfo& s) { return static_cast<double>(s.lag_ms) / 1'000; });
}

}  // namespace

void write_engine_metrics(MetricsText& text, const EngineFigures& figures) {
  write_operations(text, figures.counted);
  write_batches(text, figures);
  write_work(text, figures.counted);
  write_lanes(text, figures);
  write_sweeps(text, figures);
  const std::string& store = figures.info.store;
  text.family("ff_store_up", "gauge", "Whether the store answered the last look.");
  text.value({{"store", store}}, std::uint64_t{figures.is_store_up});
  text.family("ff_store_durability_ok", "gauge", "0 when acknowledged work could be lost.");
  text.value({{"store", store}}, std::uint64_t{figures.info.durability == Durability::full});
  text.family("ff_build_info", "gauge", "Version and store.");
  text.value({{"version", kVersion}, {"store", store}}, std::uint64_t{1});
}

}  // namespace ff::server
