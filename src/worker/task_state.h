#pragma once

#include <flowfabric/fabric.h>
#include <flowfabric/task.h>

#include <atomic>
#include <chrono>
#include <stop_token>

namespace ff::worker {

using SteadyClock = std::chrono::steady_clock;

/// A task that this worker holds, shared by the handler's thread and the worker's loop.
class TaskState {
 public:
  TaskState(Fabric task_fabric, ClaimedTask claimed) : fabric(std::move(task_fabric)), task(std::move(claimed)) {}

  /// Fires the stop token, once, with the first reason.
  void stop(StopReason reason) {
    StopReason none = StopReason::none;
    if (stop_reason.compare_exchange_strong(none, reason)) stop_source.request_stop();
  }
  /// The lease is gone: whatever the handler returns is thrown away.
  void lose(StopReason reason) {
    lost.store(true);
    stop(reason);
  }

  const Fabric fabric;
  const ClaimedTask task;
  std::stop_source stop_source;
  std::atomic<StopReason> stop_reason = StopReason::none;
  std::atomic<bool> lost = false;
  std::atomic<int> renewal_failures = 0;

  // Only the worker's loop touches these.
  SteadyClock::time_point renewed_at = SteadyClock::now();
  std::uint32_t final_tries = 0;
};

/// What an error of a call by handle says about the task: none when the lease may still be held.
StopReason loss_of(const Error& error);

}  // namespace ff::worker
