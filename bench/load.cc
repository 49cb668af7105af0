#include "bench/load.h"

#include <fmt/format.h>

namespace ff::bench {
namespace {

/// In a steady state so many submit, and keep so many submitted and not completed.
constexpr std::uint32_t kSteadySubmitters = 4;
constexpr std::uint64_t kSteadyUnderWay = 4'000;
constexpr std::uint32_t kClaimWaitMs = 200;

std::vector<Submission> make_batch(const Run& run, std::uint64_t count) {
  Submission one;
  one.execution_kind = "bench";
  one.lane_id = run.lane;
  one.payload = Bytes(run.options.payload_bytes, 'x');
  one.content_type = "application/octet-stream";
  return std::vector<Submission>(count, one);
}

void submit_batch(Run& run, std::uint64_t count) {
  for (const auto& answer : run.fabric.submit_all(make_batch(run, count)))
    if (!answer) return run.failed(answer.error());
  run.submitted += count;
}

ClaimRequest claim_request(const Run& run, std::uint32_t index) {
  ClaimRequest request;
  request.worker_id = "bench";
  request.worker_instance_id = fmt::format("bench-{}", index);
  request.lanes = {run.lane};
  request.max = run.options.claim_max;
  request.wait_ms = kClaimWaitMs;
  return request;
}

}  // namespace

void Run::failed(const Error& error) {
  {
    std::lock_guard guard(mutex_);
    if (!error_) error_ = error;
    stopping = true;
  }
  changed_.notify_all();
}

std::optional<Error> Run::error() const {
  std::lock_guard guard(mutex_);
  return error_;
}

void Run::completed_one() { ++completed; }

void Run::wait_completed(std::uint64_t total, Clock::time_point until) const {
  std::unique_lock guard(mutex_);
  while (completed < total && !stopping && Clock::now() < until)
    changed_.wait_for(guard, std::chrono::milliseconds(1));
}

void submit_many(Run& run, std::uint64_t count, const std::function<void(std::uint64_t)>& progress) {
  std::atomic<std::uint64_t> taken = 0;
  auto submit = [&] {
    while (!run.stopping) {
      const std::uint64_t from = taken.fetch_add(kSubmitBatch);
      if (from >= count) return;
      submit_batch(run, std::min<std::uint64_t>(kSubmitBatch, count - from));
      progress(std::min(count, from + kSubmitBatch));
    }
  };
  std::vector<std::jthread> threads;
  for (std::uint32_t i = 1; i < (run.options.sync ? 1 : run.options.workers); ++i) threads.emplace_back(submit);
  submit();
}

SteadySubmitters::SteadySubmitters(Run& run) {
  for (std::uint32_t i = 0; i < (run.options.sync ? 1 : kSteadySubmitters); ++i)
    threads_.emplace_back([&run](const std::stop_token& stop) {
      while (!stop.stop_requested() && !run.stopping) {
        if (run.submitted - std::min(run.submitted.load(), run.completed.load()) >= kSteadyUnderWay)
          std::this_thread::sleep_for(std::chrono::microseconds(500));
        else
          submit_batch(run, kSubmitBatch);
      }
    });
}

SteadySubmitters::~SteadySubmitters() = default;

/// Claims, completes all that it got, and claims again when the last completion is acknowledged.
class Workers::Asynchronous : public std::enable_shared_from_this<Asynchronous> {
 public:
  Asynchronous(Run& run, const std::atomic<bool>& stopping, std::uint32_t index)
      : run_(run), stopping_(stopping), index_(index) {}

  void claim() {
    if (stopping_ || run_.stopping) return end();
    const auto asked = Clock::now();
    ClaimCall call = run_.fabric.claim(claim_request(run_, index_),
                                       [self = shared_from_this(), asked](Result<std::vector<ClaimedTask>> tasks) {
                                         self->claimed(std::move(tasks), asked);
                                       });
    {
      std::lock_guard guard(mutex_);
      call_ = call;
    }
    if (stopping_) call.cancel();
  }

  void stop() {
    ClaimCall call;
    {
      std::lock_guard guard(mutex_);
      call = call_;
    }
    call.cancel();
  }

  void wait() {
    std::unique_lock guard(mutex_);
    ended_changed_.wait(guard, [&] { return ended_; });
  }

 private:
  void claimed(Result<std::vector<ClaimedTask>> tasks, Clock::time_point asked) {
    if (!tasks) {
      run_.failed(tasks.error());
      return end();
    }
    if (tasks->empty()) return claim();
    run_.claims.add(Clock::now() - asked);
    held_ = tasks->size();
    for (auto& task : *tasks)
      run_.fabric.complete({std::move(task.handle), std::nullopt, std::nullopt},
                           [self = shared_from_this()](const Result<Changed>& changed) { self->completed(changed); });
  }

  void completed(const Result<Changed>& changed) {
    if (!changed)
      run_.failed(changed.error());
    else
      run_.completed_one();
    if (--held_ == 0) claim();
  }

  void end() {
    // Under the lock: whoever waits may destroy this run as soon as it is released.
    std::lock_guard guard(mutex_);
    ended_ = true;
    ended_changed_.notify_all();
  }

  Run& run_;
  const std::atomic<bool>& stopping_;
  const std::uint32_t index_;
  std::atomic<std::size_t> held_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  ClaimCall call_;
  bool ended_ = false;
};

Workers::Workers(Run& run) : run_(run) {
  for (std::uint32_t i = 0; i < run.options.workers; ++i) {
    if (run.options.sync)
      threads_.emplace_back([this, i] { work_synchronously(i); });
    else
      asynchronous_.push_back(std::make_shared<Asynchronous>(run, stopping_, i));
  }
  for (auto& worker : asynchronous_) worker->claim();
}

void Workers::work_synchronously(std::uint32_t index) {
  while (!stopping_ && !run_.stopping) {
    const auto asked = Clock::now();
    auto tasks = run_.fabric.claim(claim_request(run_, index));
    if (!tasks) return run_.failed(tasks.error());
    if (tasks->empty()) continue;
    run_.claims.add(Clock::now() - asked);
    for (auto& task : *tasks) {
      auto changed = run_.fabric.complete({std::move(task.handle), std::nullopt, std::nullopt});
      if (!changed) return run_.failed(changed.error());
      run_.completed_one();
    }
  }
}

Workers::~Workers() {
  stopping_ = true;
  for (auto& worker : asynchronous_) worker->stop();
  for (auto& worker : asynchronous_) worker->wait();
}

}  // namespace ff::bench
