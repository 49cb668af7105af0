#pragma once

#include "api/backend.h"
#include "api/end_elsewhere.h"
#include "engine/engine.h"

namespace ff::api {

/// The engine inside this process, with the runtime it lives on.
class EmbeddedBackend final : public Backend, public std::enable_shared_from_this<EmbeddedBackend> {
 public:
  /// The last owner may let go of it on any thread, those of the engine included.
  static std::shared_ptr<EmbeddedBackend> make(std::unique_ptr<engine::Runtime> runtime,
                                               std::unique_ptr<engine::Engine> engine) {
    expect_endings();
    auto destroy = [](EmbeddedBackend* backend) {
      if (engine::on_loop_thread())
        end_elsewhere([backend] { delete backend; });
      else
        delete backend;
    };
    return {new EmbeddedBackend(std::move(runtime), std::move(engine)), destroy};
  }
  ~EmbeddedBackend() override { engine_->shutdown(); }

  engine::Engine& engine() { return *engine_; }

  void start(std::vector<Submission> requests, bool waits,
             std::function<void(std::size_t, Result<Submitted>)> done) override {
    engine_->start(std::move(requests), call(waits), std::move(done));
  }
  void start(std::vector<RenewLease> requests, bool waits,
             std::function<void(std::size_t, Result<LeaseRenewed>)> done) override {
    for (std::size_t i = 0; i < requests.size(); ++i)
      engine_->start(std::move(requests[i]), call(waits),
                     [done, i](Result<LeaseRenewed> result) { done(i, std::move(result)); });
  }
  ClaimCall claim(ClaimRequest request, Callback<std::vector<ClaimedTask>> done) override {
    auto cancel = engine_->start(std::move(request), call(false), std::move(done));
    return ClaimCall(std::move(cancel));
  }

#define FF_FORWARD(Request, Reply) \
  void start(Request request, bool waits, Callback<Reply> done) override { forward(std::move(request), waits, std::move(done)); }
  FF_FORWARD(Submission, Submitted)
  FF_FORWARD(CancelExecution, Changed)
  FF_FORWARD(ReplayExecution, Changed)
  FF_FORWARD(ChangePriority, PriorityChanged)
  FF_FORWARD(RevokeLease, Revoked)
  FF_FORWARD(OperatorComplete, Changed)
  FF_FORWARD(OperatorFail, Changed)
  FF_FORWARD(SetTags, Changed)
  FF_FORWARD(RemoveExecution, Done)
  FF_FORWARD(ConfigureLane, Lane)
  FF_FORWARD(ReportProgress, Done)
  FF_FORWARD(CompleteTask, Changed)
  FF_FORWARD(FailTask, TaskFailed)
  FF_FORWARD(DelayTask, TaskDelayed)
  FF_FORWARD(WaitChildren, Changed)
  FF_FORWARD(CancelTask, Changed)
  FF_FORWARD(GetExecution, Execution)
  FF_FORWARD(GetPayload, std::optional<Blob>)
  FF_FORWARD(GetResult, std::optional<Blob>)
  FF_FORWARD(ListExecutions, Page<ExecutionSummary>)
  FF_FORWARD(ListAttempts, Page<Attempt>)
  FF_FORWARD(ReadHistory, Page<Event>)
  FF_FORWARD(ListLeases, Page<LeaseItem>)
  FF_FORWARD(ListLanes, Page<LaneStatus>)
  FF_FORWARD(GetLaneCounts, LaneCounts)
  FF_FORWARD(GetInfo, FabricInfo)
#undef FF_FORWARD

  void close() override {
    if (engine::on_loop_thread())
      end_elsewhere([self = shared_from_this()] { self->engine_->shutdown(); });
    else
      engine_->shutdown();
  }

 private:
  EmbeddedBackend(std::unique_ptr<engine::Runtime> runtime, std::unique_ptr<engine::Engine> engine)
      : runtime_(std::move(runtime)), engine_(std::move(engine)) {}

  static engine::Call call(bool waits) { return {{}, waits}; }
  template <class Request, class Reply>
  void forward(Request request, bool waits, Callback<Reply> done) {
    engine_->start(std::move(request), call(waits), std::move(done));
  }

  std::unique_ptr<engine::Runtime> runtime_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace ff::api
