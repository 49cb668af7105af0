#pragma once

// An engine that refuses every call with one error.

#include "api/backend.h"

namespace ff::test {

class FailingBackend final : public api::Backend {
 public:
  Error error;

  void start(std::vector<Submission> requests, bool, std::function<void(std::size_t, Result<Submitted>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i) done(i, std::unexpected(error));
  }
  void start(std::vector<RenewLease> requests, bool, std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i) done(i, std::unexpected(error));
  }
  ClaimCall claim(ClaimRequest, Callback<std::vector<ClaimedTask>> done) override {
    done(std::unexpected(error));
    return {};
  }
#define FF_REFUSE(Request, Reply) \
  void start(Request, bool, Callback<Reply> done) override { done(std::unexpected(error)); }
  FF_REFUSE(Submission, Submitted)
  FF_REFUSE(CancelExecution, Changed)
  FF_REFUSE(ReplayExecution, Changed)
  FF_REFUSE(ChangePriority, PriorityChanged)
  FF_REFUSE(RevokeLease, Revoked)
  FF_REFUSE(OperatorComplete, Changed)
  FF_REFUSE(OperatorFail, Changed)
  FF_REFUSE(SetTags, Changed)
  FF_REFUSE(RemoveExecution, Done)
  FF_REFUSE(ConfigureLane, Lane)
  FF_REFUSE(ReportProgress, Done)
  FF_REFUSE(CompleteTask, Changed)
  FF_REFUSE(FailTask, TaskFailed)
  FF_REFUSE(DelayTask, TaskDelayed)
  FF_REFUSE(WaitChildren, Changed)
  FF_REFUSE(CancelTask, Changed)
  FF_REFUSE(GetExecution, Execution)
  FF_REFUSE(GetPayload, std::optional<Blob>)
  FF_REFUSE(GetResult, std::optional<Blob>)
  FF_REFUSE(ListExecutions, Page<ExecutionSummary>)
  FF_REFUSE(ListAttempts, Page<Attempt>)
  FF_REFUSE(ReadHistory, Page<Event>)
  FF_REFUSE(ListLeases, Page<LeaseItem>)
  FF_REFUSE(ListLanes, Page<LaneStatus>)
  FF_REFUSE(GetLaneCounts, LaneCounts)
  FF_REFUSE(GetInfo, FabricInfo)
#undef FF_REFUSE
  void close() override {}
};

}  // namespace ff::test
