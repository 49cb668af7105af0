#pragma once

#include <flowfabric/calls.h>
#include <flowfabric/open.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ff {

namespace api {
class Backend;
}

/// Takes the outcome of an asynchronous call, once, on a thread of the fabric. It should be quick; it may make further
/// asynchronous calls, but no blocking ones.
template <class T>
using Callback = std::move_only_function<void(Result<T>)>;

/// A claim that is under way and may be waiting for work.
class ClaimCall {
 public:
  ClaimCall() = default;
  explicit ClaimCall(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  /// Ends the waiting: the callback follows soon, with the tasks that were leased already, or with none.
  void cancel() const {
    if (cancel_) cancel_();
  }

 private:
  std::function<void()> cancel_;
};

/// A durable execution engine, inside this process or behind a URL. Cheap to copy; copies share it. Thread-safe.
///
/// Each call exists in two forms: one that waits for the answer, and one that takes a callback. What is acknowledged is
/// committed. A call that failed with a retryable error may have been carried out: repeat it with the same id, key or
/// handle.
class Fabric {
 public:
  Fabric() = default;
  explicit Fabric(std::shared_ptr<api::Backend> backend) : backend_(std::move(backend)) {}

  // ---- submitting ----
  Result<Submitted> submit(Submission submission) const;
  void submit(Submission submission, Callback<Submitted> done) const;
  /// Many at once, independent of each other; the answers stand in the order of the submissions.
  std::vector<Result<Submitted>> submit_all(std::vector<Submission> submissions) const;

  // ---- reading ----
  Result<Execution> get(const ExecutionId& id) const;
  void get(const ExecutionId& id, Callback<Execution> done) const;
  /// The execution once it has ended, or as it stands when the time is over: look at `state.lifecycle_phase`.
  Result<Execution> wait(const ExecutionId& id, std::chrono::milliseconds at_most) const;
  void wait(const ExecutionId& id, std::uint32_t wait_ms, Callback<Execution> done) const;
  /// None when it has no payload.
  Result<std::optional<Blob>> payload(const ExecutionId& id) const;
  /// None while it has not ended, and when it ended without a result.
  Result<std::optional<Blob>> result(const ExecutionId& id) const;
  /// None also when there is no such execution.
  Result<std::optional<std::string>> tag(const ExecutionId& id, const std::string& key) const;
  Result<Page<ExecutionSummary>> list(ListExecutions query = {}) const;
  void list(ListExecutions query, Callback<Page<ExecutionSummary>> done) const;
  Result<Page<Attempt>> attempts(ListAttempts query) const;
  Result<Page<Event>> history(ReadHistory query) const;
  void history(ReadHistory query, Callback<Page<Event>> done) const;
  Result<Page<LeaseItem>> leases(ListLeases query = {}) const;
  Result<Page<LaneStatus>> lanes(ListLanes query = {}) const;
  Result<LaneCounts> lane_counts(const std::string& lane_id) const;
  /// What operators did, newest first.
  Result<Page<Event>> audit(ListAudit query = {}) const;
  Result<Page<WorkerInfo>> workers(ListWorkers query = {}) const;
  Result<FabricInfo> info() const;

  // ---- operating ----
  Result<Changed> cancel(const ExecutionId& id, std::string reason = "operator") const;
  void cancel(CancelExecution request, Callback<Changed> done) const;
  Result<Changed> replay(const ExecutionId& id, std::optional<std::string> reason = std::nullopt,
                         std::optional<std::string> requested_by = std::nullopt) const;
  Result<PriorityChanged> change_priority(const ExecutionId& id, std::int32_t priority) const;
  Result<Revoked> revoke_lease(RevokeLease request) const;
  Result<Changed> operator_complete(OperatorComplete request) const;
  Result<Changed> operator_fail(OperatorFail request) const;
  Result<Changed> set_tags(const ExecutionId& id, std::map<std::string, std::optional<std::string>> tags) const;
  Result<Done> remove(const ExecutionId& id) const;
  Result<Lane> configure_lane(ConfigureLane request) const;
  Result<Lane> pause_lane(const std::string& lane_id, std::optional<std::string> reason = std::nullopt) const;
  Result<Lane> resume_lane(const std::string& lane_id, std::optional<std::string> reason = std::nullopt) const;
  Result<Lane> drain_lane(const std::string& lane_id, std::optional<std::string> reason = std::nullopt) const;
  Result<WorkerMarkedDead> mark_worker_dead(MarkWorkerDead request) const;

  // ---- working; most programs use ff::Worker instead ----
  Result<std::vector<ClaimedTask>> claim(ClaimRequest request) const;
  ClaimCall claim(ClaimRequest request, Callback<std::vector<ClaimedTask>> done) const;
  Result<LeaseRenewed> renew(RenewLease request) const;
  /// Many at once; the answers stand in the order of the requests.
  std::vector<Result<LeaseRenewed>> renew_all(std::vector<RenewLease> requests) const;
  void renew_all(std::vector<RenewLease> requests, std::move_only_function<void(std::vector<Result<LeaseRenewed>>)> done) const;
  Result<Done> progress(ReportProgress request) const;
  void progress(ReportProgress request, Callback<Done> done) const;
  Result<Changed> complete(CompleteTask request) const;
  void complete(CompleteTask request, Callback<Changed> done) const;
  Result<TaskFailed> fail(FailTask request) const;
  void fail(FailTask request, Callback<TaskFailed> done) const;
  Result<TaskDelayed> delay(DelayTask request) const;
  void delay(DelayTask request, Callback<TaskDelayed> done) const;
  Result<Changed> wait_children(WaitChildren request) const;
  void wait_children(WaitChildren request, Callback<Changed> done) const;
  Result<Changed> cancel_task(CancelTask request) const;
  Result<WorkerRegistered> register_worker(RegisterWorker request) const;
  void register_worker(RegisterWorker request, Callback<WorkerRegistered> done) const;
  Result<WorkerAlive> heartbeat(HeartbeatWorker request) const;
  void heartbeat(HeartbeatWorker request, Callback<WorkerAlive> done) const;
  Result<Done> deregister_worker(DeregisterWorker request) const;
  void deregister_worker(DeregisterWorker request, Callback<Done> done) const;

  /// Answers waiting calls, runs what is queued and closes the store. Later calls are refused with `draining`.
  void close() const;

  /// For this library's own parts.
  const std::shared_ptr<api::Backend>& backend() const { return backend_; }

 private:
  std::shared_ptr<api::Backend> backend_;
};

/// Opens a fabric by URL: a store (`sqlite:<path>`, `postgres://...`, `valkey://<host>`, `redis://<host>`, `memory:`), or
/// a server (`http://host:port`, `https://host`, `http+unix:/path`). Refusals are `store_refused` with `context.reason`; a
/// server that is not there is `store_unavailable`, one that does not know the token says `unauthorized`.
Result<Fabric> open(const std::string& url, OpenOptions options = {});

}  // namespace ff
