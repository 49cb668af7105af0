#pragma once

// What stands behind an ff::Fabric: the engine in this process, or a server.

#include <flowfabric/fabric.h>

// Every call with one request and one reply, as X(Request, Reply); first those that give a lease back.
#define FF_FINAL_CALLS(X)     \
  X(CompleteTask, Changed)    \
  X(FailTask, TaskFailed)     \
  X(DelayTask, TaskDelayed)   \
  X(WaitChildren, Changed)
#define FF_OTHER_CALLS(X)                     \
  X(Submission, Submitted)                    \
  X(CancelExecution, Changed)                 \
  X(ReplayExecution, Changed)                 \
  X(ChangePriority, PriorityChanged)          \
  X(RevokeLease, Revoked)                     \
  X(OperatorComplete, Changed)                \
  X(OperatorFail, Changed)                    \
  X(SetTags, Changed)                         \
  X(RemoveExecution, Done)                    \
  X(ConfigureLane, Lane)                      \
  X(ReportProgress, Done)                     \
  X(CancelTask, Changed)                      \
  X(GetExecution, Execution)                  \
  X(GetPayload, std::optional<Blob>)          \
  X(GetResult, std::optional<Blob>)           \
  X(ListExecutions, Page<ExecutionSummary>)   \
  X(ListAttempts, Page<Attempt>)              \
  X(ReadHistory, Page<Event>)                 \
  X(ListLeases, Page<LeaseItem>)              \
  X(ListLanes, Page<LaneStatus>)              \
  X(GetLaneCounts, LaneCounts)                \
  X(RegisterWorker, WorkerRegistered)         \
  X(HeartbeatWorker, WorkerAlive)             \
  X(DeregisterWorker, Done)                   \
  X(MarkWorkerDead, WorkerMarkedDead)         \
  X(ListWorkers, Page<WorkerInfo>)            \
  X(ListAudit, Page<Event>)                   \
  X(GetInfo, FabricInfo)
#define FF_CALLS(X) FF_FINAL_CALLS(X) FF_OTHER_CALLS(X)

namespace ff::api {

/// Every call in its asynchronous form. `waits` says that the callback only wakes a thread that waits for it.
class Backend {
 public:
  virtual ~Backend() = default;

#define FF_CALL(Request, Reply) virtual void start(Request request, bool waits, Callback<Reply> done) = 0;
  FF_CALLS(FF_CALL)
#undef FF_CALL
  virtual void start(std::vector<Submission> requests, bool waits,
                     std::function<void(std::size_t, Result<Submitted>)> done) = 0;
  virtual void start(std::vector<RenewLease> requests, bool waits,
                     std::function<void(std::size_t, Result<LeaseRenewed>)> done) = 0;
  virtual ClaimCall claim(ClaimRequest request, bool waits, Callback<std::vector<ClaimedTask>> done) = 0;

  virtual void close() = 0;
};

}  // namespace ff::api
