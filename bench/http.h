#pragma once

// The cycle of cycle.h through a server: submit, claim and complete over HTTP, next to the same load on the embedded
// engine.

#include "bench/cycle.h"

namespace ff::bench {

struct HttpFigures {
  std::string store;
  std::string durability;
  std::optional<double> submit_per_s;
  std::optional<double> drain_per_s;
  double cycles_per_s = 0;
  std::optional<double> requests_per_s;      ///< with one task at a time and no batches: claims and completions
  std::optional<double> cycle_cycles_per_s;  ///< the embedded engine, in the same run
  std::optional<double> ratio;
  std::uint64_t claim_p50_us = 0;
  std::uint64_t claim_p99_us = 0;
  double server_peak_rss_mb = 0;
};

/// Starts a server on the store as a child of this process and drives it through the client. With `claim_max` 1 nothing
/// is gathered: each worker claims one task and completes it, a request each.
Result<HttpFigures> run_http(const std::string& url, const OpenOptions& open, const CycleOptions& options,
                             const Progress& progress);

}  // namespace ff::bench
