#pragma once

// What stands behind an ff::Fabric: the engine in this process, or a server.

#include <flowfabric/fabric.h>

namespace ff::api {

/// Every call in its asynchronous form. `waits` says that the callback only wakes a thread that waits for it.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual void start(Submission request, bool waits, Callback<Submitted> done) = 0;
  virtual void start(std::vector<Submission> requests, bool waits,
                     std::function<void(std::size_t, Result<Submitted>)> done) = 0;
  virtual void start(CancelExecution request, bool waits, Callback<Changed> done) = 0;
  virtual void start(ReplayExecution request, bool waits, Callback<Changed> done) = 0;
  virtual void start(ChangePriority request, bool waits, Callback<PriorityChanged> done) = 0;
  virtual void start(RevokeLease request, bool waits, Callback<Revoked> done) = 0;
  virtual void start(OperatorComplete request, bool waits, Callback<Changed> done) = 0;
  virtual void start(OperatorFail request, bool waits, Callback<Changed> done) = 0;
  virtual void start(SetTags request, bool waits, Callback<Changed> done) = 0;
  virtual void start(RemoveExecution request, bool waits, Callback<Done> done) = 0;
  virtual void start(ConfigureLane request, bool waits, Callback<Lane> done) = 0;

  virtual ClaimCall claim(ClaimRequest request, Callback<std::vector<ClaimedTask>> done) = 0;
  virtual void start(std::vector<RenewLease> requests, bool waits,
                     std::function<void(std::size_t, Result<LeaseRenewed>)> done) = 0;
  virtual void start(ReportProgress request, bool waits, Callback<Done> done) = 0;
  virtual void start(CompleteTask request, bool waits, Callback<Changed> done) = 0;
  virtual void start(FailTask request, bool waits, Callback<TaskFailed> done) = 0;
  virtual void start(DelayTask request, bool waits, Callback<TaskDelayed> done) = 0;
  virtual void start(WaitChildren request, bool waits, Callback<Changed> done) = 0;
  virtual void start(CancelTask request, bool waits, Callback<Changed> done) = 0;

  virtual void start(GetExecution request, bool waits, Callback<Execution> done) = 0;
  virtual void start(GetPayload request, bool waits, Callback<std::optional<Blob>> done) = 0;
  virtual void start(GetResult request, bool waits, Callback<std::optional<Blob>> done) = 0;
  virtual void start(ListExecutions request, bool waits, Callback<Page<ExecutionSummary>> done) = 0;
  virtual void start(ListAttempts request, bool waits, Callback<Page<Attempt>> done) = 0;
  virtual void start(ReadHistory request, bool waits, Callback<Page<Event>> done) = 0;
  virtual void start(ListLeases request, bool waits, Callback<Page<LeaseItem>> done) = 0;
  virtual void start(ListLanes request, bool waits, Callback<Page<LaneStatus>> done) = 0;
  virtual void start(GetLaneCounts request, bool waits, Callback<LaneCounts> done) = 0;
  virtual void start(GetInfo request, bool waits, Callback<FabricInfo> done) = 0;

  virtual void close() = 0;
};

}  // namespace ff::api
