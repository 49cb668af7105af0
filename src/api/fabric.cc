#include "api/backend.h"
#include "core/validate.h"

#include <semaphore>

namespace ff {
namespace {

/// Makes the call and waits for its answer.
template <class Reply, class Request>
Result<Reply> wait_for(api::Backend& backend, Request request) {
  std::binary_semaphore done(0);
  std::optional<Result<Reply>> reply;
  backend.start(std::move(request), true, [&](Result<Reply> result) {
    reply = std::move(result);
    done.release();
  });
  done.acquire();
  return std::move(*reply);
}

/// The same for many requests at once.
template <class Reply, class Request>
std::vector<Result<Reply>> wait_for_all(api::Backend& backend, std::vector<Request> requests) {
  std::vector<Result<Reply>> replies(requests.size());
  if (requests.empty()) return replies;
  std::binary_semaphore done(0);
  std::atomic<std::size_t> left = requests.size();
  backend.start(std::move(requests), true, [&](std::size_t index, Result<Reply> result) {
    replies[index] = std::move(result);
    if (left.fetch_sub(1) == 1) done.release();
  });
  done.acquire();
  return replies;
}

constexpr std::chrono::milliseconds kWaitPiece(core::kWaitMsMax);

}  // namespace

Result<Submitted> Fabric::submit(Submission submission) const {
  return wait_for<Submitted>(*backend_, std::move(submission));
}
void Fabric::submit(Submission submission, Callback<Submitted> done) const {
  backend_->start(std::move(submission), false, std::move(done));
}
std::vector<Result<Submitted>> Fabric::submit_all(std::vector<Submission> submissions) const {
  return wait_for_all<Submitted>(*backend_, std::move(submissions));
}

Result<Execution> Fabric::get(const ExecutionId& id) const { return wait_for<Execution>(*backend_, GetExecution{id, 0}); }
void Fabric::get(const ExecutionId& id, Callback<Execution> done) const {
  backend_->start(GetExecution{id, 0}, false, std::move(done));
}
Result<Execution> Fabric::wait(const ExecutionId& id, std::chrono::milliseconds at_most) const {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const auto piece = std::clamp(left, std::chrono::milliseconds(0), kWaitPiece);
    auto found = wait_for<Execution>(*backend_, GetExecution{id, static_cast<std::uint32_t>(piece.count())});
    if (!found || found->state.lifecycle_phase == LifecyclePhase::terminal || left <= kWaitPiece) return found;
  }
}
void Fabric::wait(const ExecutionId& id, std::uint32_t wait_ms, Callback<Execution> done) const {
  backend_->start(GetExecution{id, wait_ms}, false, std::move(done));
}
Result<std::optional<Blob>> Fabric::payload(const ExecutionId& id) const {
  return wait_for<std::optional<Blob>>(*backend_, GetPayload{id});
}
Result<std::optional<Blob>> Fabric::result(const ExecutionId& id) const {
  return wait_for<std::optional<Blob>>(*backend_, GetResult{id});
}
Result<std::optional<std::string>> Fabric::tag(const ExecutionId& id, const std::string& key) const {
  if (auto fault = core::check_tag_key(key)) return std::unexpected(std::move(*fault));
  auto execution = get(id);
  if (!execution) {
    if (execution.error().code == ErrorCode::execution_not_found) return std::nullopt;
    return std::unexpected(execution.error());
  }
  auto it = execution->tags.find(key);
  return it == execution->tags.end() ? std::nullopt : std::optional(it->second);
}
Result<Page<ExecutionSummary>> Fabric::list(ListExecutions query) const {
  return wait_for<Page<ExecutionSummary>>(*backend_, std::move(query));
}
void Fabric::list(ListExecutions query, Callback<Page<ExecutionSummary>> done) const {
  backend_->start(std::move(query), false, std::move(done));
}
Result<Page<Attempt>> Fabric::attempts(ListAttempts query) const {
  return wait_for<Page<Attempt>>(*backend_, std::move(query));
}
Result<Page<Event>> Fabric::history(ReadHistory query) const {
  return wait_for<Page<Event>>(*backend_, std::move(query));
}
void Fabric::history(ReadHistory query, Callback<Page<Event>> done) const {
  backend_->start(std::move(query), false, std::move(done));
}
Result<Page<LeaseItem>> Fabric::leases(ListLeases query) const {
  return wait_for<Page<LeaseItem>>(*backend_, std::move(query));
}
Result<Page<LaneStatus>> Fabric::lanes(ListLanes query) const {
  return wait_for<Page<LaneStatus>>(*backend_, std::move(query));
}
Result<LaneCounts> Fabric::lane_counts(const std::string& lane_id) const {
  return wait_for<LaneCounts>(*backend_, GetLaneCounts{lane_id});
}
Result<Page<Event>> Fabric::audit(ListAudit query) const {
  return wait_for<Page<Event>>(*backend_, std::move(query));
}
Result<Page<WorkerInfo>> Fabric::workers(ListWorkers query) const {
  return wait_for<Page<WorkerInfo>>(*backend_, std::move(query));
}
Result<FabricInfo> Fabric::info() const { return wait_for<FabricInfo>(*backend_, GetInfo{}); }

Result<Changed> Fabric::cancel(const ExecutionId& id, std::string reason) const {
  return wait_for<Changed>(*backend_, CancelExecution{id, std::move(reason)});
}
void Fabric::cancel(CancelExecution request, Callback<Changed> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<Changed> Fabric::replay(const ExecutionId& id, std::optional<std::string> reason,
                               std::optional<std::string> requested_by) const {
  return wait_for<Changed>(*backend_, ReplayExecution{id, std::move(reason), std::move(requested_by)});
}
Result<PriorityChanged> Fabric::change_priority(const ExecutionId& id, std::int32_t priority) const {
  return wait_for<PriorityChanged>(*backend_, ChangePriority{id, priority});
}
Result<Revoked> Fabric::revoke_lease(RevokeLease request) const {
  return wait_for<Revoked>(*backend_, std::move(request));
}
Result<Changed> Fabric::operator_complete(OperatorComplete request) const {
  return wait_for<Changed>(*backend_, std::move(request));
}
Result<Changed> Fabric::operator_fail(OperatorFail request) const {
  return wait_for<Changed>(*backend_, std::move(request));
}
Result<Changed> Fabric::set_tags(const ExecutionId& id, std::map<std::string, std::optional<std::string>> tags) const {
  return wait_for<Changed>(*backend_, SetTags{id, std::move(tags)});
}
Result<Done> Fabric::remove(const ExecutionId& id) const { return wait_for<Done>(*backend_, RemoveExecution{id}); }
Result<Lane> Fabric::configure_lane(ConfigureLane request) const {
  return wait_for<Lane>(*backend_, std::move(request));
}
Result<Lane> Fabric::pause_lane(const std::string& lane_id, std::optional<std::string> reason) const {
  return configure_lane({.lane_id = lane_id, .lane_state = LaneState::paused, .reason = std::move(reason)});
}
Result<Lane> Fabric::resume_lane(const std::string& lane_id, std::optional<std::string> reason) const {
  return configure_lane({.lane_id = lane_id, .lane_state = LaneState::active, .reason = std::move(reason)});
}
Result<Lane> Fabric::drain_lane(const std::string& lane_id, std::optional<std::string> reason) const {
  return configure_lane({.lane_id = lane_id, .lane_state = LaneState::draining, .reason = std::move(reason)});
}

Result<WorkerMarkedDead> Fabric::mark_worker_dead(MarkWorkerDead request) const {
  return wait_for<WorkerMarkedDead>(*backend_, std::move(request));
}

Result<std::vector<ClaimedTask>> Fabric::claim(ClaimRequest request) const {
  std::binary_semaphore done(0);
  Result<std::vector<ClaimedTask>> reply;
  backend_->claim(std::move(request), true, [&](Result<std::vector<ClaimedTask>> result) {
    reply = std::move(result);
    done.release();
  });
  done.acquire();
  return reply;
}
ClaimCall Fabric::claim(ClaimRequest request, Callback<std::vector<ClaimedTask>> done) const {
  ClaimCall call = backend_->claim(std::move(request), false, std::move(done));
  // The caller may keep it longer than the fabric.
  return ClaimCall([call, backend = std::weak_ptr(backend_)] {
    if (auto alive = backend.lock()) call.cancel();
  });
}
Result<LeaseRenewed> Fabric::renew(RenewLease request) const {
  std::vector<RenewLease> one;
  one.push_back(std::move(request));
  return std::move(renew_all(std::move(one)).front());
}
std::vector<Result<LeaseRenewed>> Fabric::renew_all(std::vector<RenewLease> requests) const {
  return wait_for_all<LeaseRenewed>(*backend_, std::move(requests));
}
void Fabric::renew_all(std::vector<RenewLease> requests,
                   std::move_only_function<void(std::vector<Result<LeaseRenewed>>)> done) const {
  struct Gathering {
    std::vector<Result<LeaseRenewed>> replies;
    std::atomic<std::size_t> left;
    std::move_only_function<void(std::vector<Result<LeaseRenewed>>)> done;
  };
  auto gathering = std::make_shared<Gathering>();
  gathering->replies.resize(requests.size());
  gathering->left = requests.size();
  gathering->done = std::move(done);
  if (requests.empty()) return gathering->done({});
  backend_->start(std::move(requests), false, [gathering](std::size_t index, Result<LeaseRenewed> result) {
    gathering->replies[index] = std::move(result);
    if (gathering->left.fetch_sub(1) == 1) gathering->done(std::move(gathering->replies));
  });
}
Result<Done> Fabric::progress(ReportProgress request) const { return wait_for<Done>(*backend_, std::move(request)); }
void Fabric::progress(ReportProgress request, Callback<Done> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<Changed> Fabric::complete(CompleteTask request) const {
  return wait_for<Changed>(*backend_, std::move(request));
}
void Fabric::complete(CompleteTask request, Callback<Changed> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<TaskFailed> Fabric::fail(FailTask request) const { return wait_for<TaskFailed>(*backend_, std::move(request)); }
void Fabric::fail(FailTask request, Callback<TaskFailed> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<TaskDelayed> Fabric::delay(DelayTask request) const {
  return wait_for<TaskDelayed>(*backend_, std::move(request));
}
void Fabric::delay(DelayTask request, Callback<TaskDelayed> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<Changed> Fabric::wait_children(WaitChildren request) const {
  return wait_for<Changed>(*backend_, std::move(request));
}
void Fabric::wait_children(WaitChildren request, Callback<Changed> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<Changed> Fabric::cancel_task(CancelTask request) const {
  return wait_for<Changed>(*backend_, std::move(request));
}

Result<WorkerRegistered> Fabric::register_worker(RegisterWorker request) const {
  return wait_for<WorkerRegistered>(*backend_, std::move(request));
}
void Fabric::register_worker(RegisterWorker request, Callback<WorkerRegistered> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<WorkerAlive> Fabric::heartbeat(HeartbeatWorker request) const {
  return wait_for<WorkerAlive>(*backend_, std::move(request));
}
void Fabric::heartbeat(HeartbeatWorker request, Callback<WorkerAlive> done) const {
  backend_->start(std::move(request), false, std::move(done));
}
Result<Done> Fabric::deregister_worker(DeregisterWorker request) const {
  return wait_for<Done>(*backend_, std::move(request));
}
void Fabric::deregister_worker(DeregisterWorker request, Callback<Done> done) const {
  backend_->start(std::move(request), false, std::move(done));
}

void Fabric::close() const {
  if (backend_) backend_->close();
}

}  // namespace ff
