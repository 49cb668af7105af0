#pragma once

#include "core/records/execution.h"

#include <flowfabric/execution.h>

namespace ff::core {

/// What a reader may look up besides the record to say why an execution waits for a worker.
struct QueueSituation {
  LaneState lane_state = LaneState::active;
  std::uint64_t ahead = 0;                    ///< candidates before it in its queue
  bool ahead_is_bound = false;                ///< there are at least that many
  std::optional<std::uint32_t> live_workers;  ///< that serve its lane and namespace; none: not known
};

/// Why the execution is not moving, since when and, if known, until when. Total: there is a sentence for every state.
Why explain(const ExecutionRecord& record, const QueueSituation& situation, TimeMs now);

}  // namespace ff::core
