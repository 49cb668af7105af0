#pragma once

// The engine's figures as metrics.

#include "engine/metrics.h"
#include "server/metrics_text.h"

#include <flowfabric/calls.h>

#include <map>
#include <optional>

namespace ff::server {

/// What there is to tell of an engine at one moment.
struct EngineFigures {
  engine::MetricsSnapshot counted;
  std::vector<std::size_t> queue_depths;             ///< by executor
  std::map<std::string, std::size_t> claim_waiters;  ///< by lane
  std::map<std::string, engine::Durations> sweep_durations;
  FabricInfo info;
  bool is_store_up = true;
  std::vector<LaneStatus> lanes;  ///< as they were sampled last
};

/// Lanes beyond so many are left out of what is sampled.
inline constexpr std::size_t kLanesShown = 200;

void write_engine_metrics(MetricsText& text, const EngineFigures& figures);

}  // namespace ff::server
