#pragma once

#include "core/records/execution.h"
#include "core/records/worker.h"

#include <flowfabric/execution.h>

namespace ff::core {

/// Which of the live workers could take the members of a queue.
struct WorkerCoverage {
  std::uint32_t serving = 0;   ///< work on its lane, for its namespace
  std::uint32_t covering = 0;  ///< of these, can do the work
  /// When none can: what the one that comes closest lacks. Empty: no worker handles the kind.
  std::vector<std::string> missing;
};
WorkerCoverage coverage(const std::vector<WorkerRecord>& live, const Queue& queue);

/// What a reader may look up besides the record to say why an execution waits for a worker.
struct QueueSituation {
  LaneState lane_state = LaneState::active;
  std::uint64_t ahead = 0;                    ///< candidates before it in its queue
  bool ahead_is_bound = false;                ///< there are at least that many
  std::optional<WorkerCoverage> workers;  ///< none: not known
};

/// Why the execution is not moving, since when and, if known, until when. Total: there is a sentence for every state.
Why explain(const ExecutionRecord& record, const QueueSituation& situation, TimeMs now);

}  // namespace ff::core
