#pragma once

// The engine: typed calls for whoever embeds it, on any store.

#include "core/caller.h"
#include "core/ops/create.h"
#include "core/ops/tokens.h"
#include "core/ops/workers.h"
#include "core/settings.h"
#include "engine/directory.h"
#include "engine/executor.h"
#include "engine/handles.h"
#include "engine/homes.h"
#include "engine/lane_rates.h"
#include "log/log.h"
#include "engine/read_pool.h"
#include "engine/sweeps.h"
#include "engine/tokens.h"
#include "engine/waiters.h"
#include "engine/workers.h"

#include <flowfabric/calls.h>
#include <flowfabric/open.h>

namespace ff::engine {

using core::Callback;

/// How a call is made.
struct Call {
  core::Caller caller;
  /// The callback only wakes a waiting thread; it may run on the thread that committed.
  bool inline_delivery = false;
};

struct EngineStats {
  std::uint64_t batches = 0, operations = 0, retries = 0;
  std::array<std::uint64_t, kBatchSizes> batch_sizes{};  ///< how many batches had that many operations
  std::uint32_t executors = 0;
  std::size_t claim_waiters = 0;
};

/// All calls check their arguments first and answer through their callback exactly once: with the outcome after the
/// commit, or with the error. Thread-safe.
class Engine final : private store::ForeignWatcher {
 public:
  /// Opens the data set of `store` and starts the loops. `runtime` must outlive the engine.
  static Result<std::unique_ptr<Engine>> open(std::unique_ptr<store::Store> store, OpenOptions options,
                                              Runtime& runtime);
  ~Engine() override;

  /// Answers waiters, runs what is queued, closes the store. Calls made afterwards are refused with `draining`.
  void shutdown();
  /// Ends without running what is queued, as a crash would; for the simulation.
  void abandon();

  // ---- submitting and operating ----
  void start(Submission request, const Call& call, Callback<Submitted> callback);
  void start(std::vector<Submission> requests, const Call& call,
             std::function<void(std::size_t, Result<Submitted>)> callback);
  void start(CancelExecution request, const Call& call, Callback<Changed> callback);
  void start(ReplayExecution request, const Call& call, Callback<Changed> callback);
  void start(ChangePriority request, const Call& call, Callback<PriorityChanged> callback);
  void start(RevokeLease request, const Call& call, Callback<Revoked> callback);
  void start(OperatorComplete request, const Call& call, Callback<Changed> callback);
  void start(OperatorFail request, const Call& call, Callback<Changed> callback);
  void start(SetTags request, const Call& call, Callback<Changed> callback);
  void start(RemoveExecution request, const Call& call, Callback<Done> callback);
  void start(ConfigureLane request, const Call& call, Callback<Lane> callback);
  void start(MarkWorkerDead request, const Call& call, Callback<WorkerMarkedDead> callback);

  // ---- working ----
  /// Returns a function that ends the waiting: the callback then follows soon.
  std::function<void()> start(ClaimRequest request, const Call& call, Callback<std::vector<ClaimedTask>> callback);
  void start(RenewLease request, const Call& call, Callback<LeaseRenewed> callback);
  void start(ReportProgress request, const Call& call, Callback<Done> callback);
  void start(CompleteTask request, const Call& call, Callback<Changed> callback);
  void start(FailTask request, const Call& call, Callback<TaskFailed> callback);
  void start(DelayTask request, const Call& call, Callback<TaskDelayed> callback);
  void start(WaitChildren request, const Call& call, Callback<Changed> callback);
  void start(CancelTask request, const Call& call, Callback<Changed> callback);
  void start(RegisterWorker request, const Call& call, Callback<WorkerRegistered> callback);
  void start(HeartbeatWorker request, const Call& call, Callback<WorkerAlive> callback);
  void start(DeregisterWorker request, const Call& call, Callback<Done> callback);

  // ---- reading ----
  void start(GetExecution request, const Call& call, Callback<Execution> callback);
  void start(GetPayload request, const Call& call, Callback<std::optional<Blob>> callback);
  void start(GetResult request, const Call& call, Callback<std::optional<Blob>> callback);
  void start(ListExecutions request, const Call& call, Callback<Page<ExecutionSummary>> callback);
  void start(ListAttempts request, const Call& call, Callback<Page<Attempt>> callback);
  void start(ReadHistory request, const Call& call, Callback<Page<Event>> callback);
  void start(ListLeases request, const Call& call, Callback<Page<LeaseItem>> callback);
  void start(ListLanes request, const Call& call, Callback<Page<LaneStatus>> callback);
  void start(GetLaneCounts request, const Call& call, Callback<LaneCounts> callback);
  void start(ListWorkers request, const Call& call, Callback<Page<WorkerInfo>> callback);
  void start(ListAudit request, const Call& call, Callback<Page<Event>> callback);
  void start(GetInfo request, const Call& call, Callback<FabricInfo> callback);

  // ---- tokens of the HTTP API; managed on the store itself, never over HTTP ----
  /// Answers with the token, and with its text: the only time that it is known.
  void create_token(NewToken request, const Call& call, Callback<MintedToken> callback);
  void revoke_token(const Uuid& token_id, const Call& call, Callback<core::ApiToken> callback);
  /// All of them, those that were revoked or have expired too, until they are forgotten.
  void list_tokens(Callback<std::vector<core::ApiToken>> callback);
  void note_token_use(const Uuid& token_id);

  const core::Dataset& dataset() const { return dataset_; }
  store::Store& store() { return *store_; }
  EngineStats stats();
  MetricsSnapshot metrics() const { return metrics_.snapshot(); }
  std::vector<std::size_t> queue_depths();
  std::map<std::string, std::size_t> claim_waiters();
  std::map<std::string, Durations> sweep_durations() { return sweeps_->durations(); }
  const OpenOptions& options() const { return options_; }
  const HandleSealer& sealer() const { return *sealer_; }

 private:
  Engine(std::unique_ptr<store::Store> store, OpenOptions options, Runtime& runtime);

  Result<void> boot();
  void register_lanes();
  void committed(const std::deque<store::Unit>& units, std::size_t executor);
  void foreign_commit() override;
  void clock_moved();
  void update_watchfulness();

  // Queueing.
  Executor& executor_for(const ExecutionId& id);
  Executor& executor_for_lane(const std::string& lane_id);
  /// For records that belong to no execution.
  Executor& executor_for_name(std::string_view name);
  Executor& executor_for_claim(const core::Claim& claim);
  /// Whoever has least to do; `of_equals` when nobody has less.
  Executor& idlest(Executor& of_equals);
  template <class Op>
  void push(Executor& executor, Op op, const Call& call, Callback<typename Op::Reply> callback);
  template <class About, class Op>
  void push_keyed(Executor& executor, const About& about, Op op, const Call& call,
                  Callback<typename Op::Reply> callback);
  /// Checks the id, then queues the operation with the executor of that execution.
  template <class Op>
  void push_for(const ExecutionId& id, Op op, const Call& call, Callback<typename Op::Reply> callback);
  /// Opens the handle, then queues the operation that `make` builds with it.
  template <class Make, class Reply>
  void push_by_handle(const std::string& handle, const Call& call, Callback<Reply> callback, Make make);
  template <class Reply, class Read>
  void read(Callback<Reply> callback, Read read);

  /// Checks and places a submission; the operation, or the error.
  /// `earlier`: the queue of another submission of the same call.
  Result<core::Create> prepare(Submission&& request, const Call& call, const core::QueueRef& earlier = nullptr);
  core::QueueRef intern(core::QueueRef queue);
  Uuid mint();

  // Claims.
  void try_claim(PendingClaimPtr claim);
  void submit_claim(PendingClaimPtr claim);
  std::unique_ptr<core::Operation> operation_of(PendingClaimPtr claim);
  /// The oldest waiting claims that can take what a batch is about to put into queues.
  store::BatchRun::Operations waiting_for(std::span<const store::Gain> made);
  void submit_named(PendingClaimPtr claim);
  void claimed(PendingClaimPtr claim, Result<core::LeasedTasks> result);
  void no_work(PendingClaimPtr claim);
  void retry(std::vector<PendingClaimPtr> claims);

  // Workers.
  /// A claim is a sign of life, noted beside it.
  void note_claimer(const ClaimRequest& request, const core::Claim& claim);
  core::WorkerEvents worker_events();
  /// Revokes what the instance holds, one after the other.
  void revoke_leases_of(MarkWorkerDead request, const Call& call, Callback<WorkerMarkedDead> callback);
  TimeMs clock_ms() const { return options_.clock ? options_.clock->now_ms() : runtime_.wall_ms(); }

  // Reads.
  /// Runs `look` until it says that it has seen enough, something it cannot, or the time is over: at once, and again
  /// whenever the execution has changed.
  template <class Reply>
  void wait_for(const ExecutionId& id, std::uint32_t wait_ms, bool only_ends, Callback<Reply> callback,
                std::function<Result<std::pair<Reply, bool>>(store::Reader&)> look);
  template <class Waiting>
  void park_read(const std::shared_ptr<Waiting>& waiting);
  template <class Waiting>
  void look_once(const std::shared_ptr<Waiting>& waiting, bool park_again, bool last);
  /// A page of the history, and whether there is no point in waiting for more.
  Result<std::pair<Page<Event>, bool>> look_at_history(store::Reader& reader, const ReadHistory& request,
                                                       std::int64_t after, const core::Caller& caller);
  Result<Execution> view(store::Reader& reader, const ExecutionId& id, const core::Caller& caller);
  using BlobOf = Result<std::optional<std::optional<Blob>>> (store::Reader::*)(const ExecutionId&);
  void read_blob(const ExecutionId& id, const Call& call, Callback<std::optional<Blob>> callback, BlobOf blob_of);

  class Refresher;

  std::unique_ptr<store::Store> store_;
  OpenOptions options_;
  Runtime& runtime_;
  Log log_;
  core::RuleSettings rules_;
  core::Dataset dataset_;
  store::StoreTraits traits_;
  std::unique_ptr<HandleSealer> sealer_;

  Metrics metrics_;
  Directory directory_;
  Delivery delivery_;
  std::optional<Homes> homes_;
  std::vector<std::unique_ptr<Executor>> executors_;
  ReadPool reads_;
  ClaimWaiters waiters_;
  ChangeWaiters changes_;
  LiveWorkers live_workers_;
  NotedClaimers noted_claimers_;
  LaneRates lane_rates_;
  std::unique_ptr<Refresher> refresher_;
  std::unique_ptr<Sweeps> sweeps_;
  int clock_watch_ = 0;

  std::mutex mint_mutex_;
  TimeMs mint_ms_ = 0;
  std::uint32_t mint_count_ = 0;
  std::mutex intern_mutex_;
  std::unordered_map<std::string, core::QueueRef> interned_;
  std::shared_ptr<const Policy> default_policy_;
  std::atomic<bool> closed_ = false;
};

}  // namespace ff::engine
