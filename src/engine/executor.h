#pragma once

#include "engine/metrics.h"
#include "engine/runtime.h"
#include "store/batch_run.h"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>

namespace ff::engine {

inline constexpr std::size_t kBatchSizes = 1'024;

/// Counts that executors keep; read by metrics and by the benchmark.
struct ExecutorStats {
  std::atomic<std::uint64_t> batches = 0;
  std::atomic<std::uint64_t> operations = 0;
  std::atomic<std::uint64_t> retries = 0;
  /// Batches by the number of their operations; the last counter holds the larger ones too.
  std::array<std::atomic<std::uint64_t>, kBatchSizes> sizes{};
};

/// Hands answers to callers, on a thread of its own: a caller's code never holds up the thread that commits.
class Delivery final : public Loop {
 public:
  void add(store::BatchRun::Operations operations);
  SteadyUs step() override;
  void start(Runtime& runtime) { runtime.start("ff-deliver", *this, runner_); }
  void stop() {
    if (runner_) runner_->stop();
  }

 private:
  std::mutex mutex_;
  std::vector<store::BatchRun::Operations> waiting_;
  std::unique_ptr<Runner> runner_;
};

/// One queue of operations and the session that runs them.
///
/// Natural batching: it takes everything that queued while its previous commit was under way and runs it as one batch.
/// No timer adds delay: an idle system has batches of one, a busy one has large batches.
class Executor final : public Loop {
 public:
  struct Options {
    std::uint32_t batch_max = 500;
    std::uint32_t queue_max = 50'000;
  };
  struct Hooks {
    /// The claims that wait for such work, to be served by the batch that makes it.
    std::function<store::BatchRun::Operations(std::span<const store::Gain>)> on_made;
    /// Called after each commit, before its answers are handed out.
    std::function<void(const std::deque<store::Unit>&)> on_commit;
  };
  /// Other work that needs the session, between two batches.
  using Task = std::move_only_function<void(store::Session&)>;

  Executor(Runtime& runtime, std::unique_ptr<store::Session> session, const store::StoreTraits& traits,
           store::Planner& planner, Delivery& delivery, Metrics& metrics, Hooks hooks, Options options)
      : runtime_(runtime),
        session_(std::move(session)),
        traits_(traits),
        planner_(planner),
        delivery_(delivery),
        metrics_(metrics),
        hooks_(std::move(hooks)),
        options_(options) {}

  void start(std::string name) { runtime_.start(std::move(name), *this, runner_); }
  /// Stops after what is queued has been run, or at once when `drain` is false.
  void stop(bool drain);

  /// Queues operations in order. When the queue is full they are refused with `resource_exhausted`, and answered.
  void push(std::unique_ptr<core::Operation> operation);
  void push(store::BatchRun::Operations operations);
  void push_task(Task task);

  SteadyUs step() override;
  const ExecutorStats& stats() const { return stats_; }
  std::size_t queued();
  /// About how many records the operations that are queued or under way will write.
  std::size_t load() const { return load_.load(std::memory_order_relaxed); }

 private:
  bool take_batch();
  void hand_out(store::BatchRun::Operations operations);
  void refuse(store::BatchRun::Operations operations, Error error);
  void count(std::size_t operations);

  Runtime& runtime_;
  std::unique_ptr<store::Session> session_;
  store::StoreTraits traits_;
  store::Planner& planner_;
  Delivery& delivery_;
  Metrics& metrics_;
  Hooks hooks_;
  Options options_;
  ExecutorStats stats_;

  std::mutex mutex_;
  std::deque<std::unique_ptr<core::Operation>> queue_;
  std::vector<Task> tasks_;
  bool closed_ = false;
  std::atomic<std::size_t> load_ = 0;

  std::unique_ptr<store::BatchRun> run_;
  std::size_t run_load_ = 0;
  std::size_t run_operations_ = 0;
  SteadyUs run_since_ = 0;
  std::unique_ptr<Runner> runner_;
};

}  // namespace ff::engine
