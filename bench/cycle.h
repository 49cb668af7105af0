#pragma once

// One cycle is submit, claim, complete. How many a second this store gives, next to its raw limit.

#include "bench/samples.h"

#include <flowfabric/fabric.h>

#include <functional>
#include <string>

namespace ff::bench {

struct CycleOptions {
  std::uint64_t executions = 20'000;
  std::uint32_t workers = 16;
  std::uint32_t claim_max = 50;
  std::uint32_t payload_bytes = 256;
  std::uint64_t backlog = 0;  ///< executions that stand in the lane before anything is measured
  std::uint32_t seconds = 0;  ///< not 0: submit and work together for so long
  bool sync = false;          ///< one call at a time instead of callbacks
};

struct CycleFigures {
  std::string store;
  std::string durability;
  std::optional<double> submit_per_s;
  std::optional<double> drain_per_s;
  double cycles_per_s = 0;
  std::optional<double> first_30s_per_s;
  std::optional<double> last_30s_per_s;
  std::optional<double> raw_cycles_per_s;
  std::optional<double> ratio;
  double batch_mean = 0;
  std::uint64_t batch_p99 = 0;
  std::uint32_t connections = 0;
  std::uint64_t claim_p50_us = 0;
  std::uint64_t claim_p99_us = 0;
  std::uint64_t start_p50_us = 0;
  double peak_rss_mb = 0;
};

/// Told what is being done and how far it is.
using Progress = std::function<void(std::string_view what, std::uint64_t done, std::uint64_t total)>;

/// Refuses options that make no sense, before anything is opened.
Result<void> check(const CycleOptions& options);

/// Runs the benchmark on a store. What it submits stays in a lane of its own until its retention is over.
Result<CycleFigures> run_cycle(const std::string& url, const OpenOptions& open, const CycleOptions& options,
                               const Progress& progress);

}  // namespace ff::bench
