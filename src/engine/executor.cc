#include "engine/executor.h"

#include <thread>

namespace ff::engine {
namespace {

constexpr SteadyUs kBlockedPauseUs = 200;

std::size_t load_of(core::Operation& operation) {
  const core::ClaimOperation* claim = operation.claim();
  return claim ? std::max<std::size_t>(1, claim->request().max) : 1;
}

}  // namespace

void Delivery::add(store::BatchRun::Operations operations) {
  if (operations.empty()) return;
  {
    std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(operations));
  }
  if (runner_) runner_->notify();
}

SteadyUs Delivery::step() {
  std::vector<store::BatchRun::Operations> ready;
  {
    std::lock_guard guard(mutex_);
    ready.swap(waiting_);
  }
  if (ready.empty()) return kNever;
  for (auto& operations : ready)
    for (auto& operation : operations) operation->deliver();
  return 0;
}

void Executor::push(std::unique_ptr<core::Operation> operation) {
  store::BatchRun::Operations one;
  one.push_back(std::move(operation));
  push(std::move(one));
}

void Executor::push(store::BatchRun::Operations operations) {
  bool full = false, closed = false, was_empty = false;
  std::size_t load = 0;
  const SteadyUs now = runtime_.steady_us();
  for (const auto& operation : operations) {
    load += load_of(*operation);
    operation->queued_at_us = now;
  }
  {
    std::lock_guard guard(mutex_);
    closed = closed_;
    full = queue_.size() + operations.size() > options_.queue_max;
    was_empty = queue_.empty();
    if (!full && !closed) {
      for (auto& operation : operations) queue_.push_back(std::move(operation));
      load_ += load;
    }
  }
  if (closed) {
    refuse(std::move(operations), {ErrorCode::draining, "The engine is shutting down; send this call elsewhere.", {}});
  } else if (full) {
    refuse(std::move(operations),
           {ErrorCode::resource_exhausted,
            "Too many operations are waiting to be committed. Send less at a time, or try again shortly.",
            {{"pool", std::string("queue")},
             {"max", std::int64_t{options_.queue_max}},
             {"retry_after_ms", std::int64_t{50}}}});
  } else if (was_empty && runner_) {
    runner_->notify();
  }
}

void Executor::push_task(Task task) {
  {
    std::lock_guard guard(mutex_);
    tasks_.push_back(std::move(task));
  }
  if (runner_) runner_->notify();
}

void Executor::refuse(store::BatchRun::Operations operations, Error error) {
  for (auto& operation : operations) operation->refuse(error);
  hand_out(std::move(operations));
}

void Executor::hand_out(store::BatchRun::Operations operations) {
  store::BatchRun::Operations later;
  std::vector<Metrics::Finished> finished;
  finished.reserve(operations.size());
  const SteadyUs now = runtime_.steady_us();
  for (auto& operation : operations) {
    const Error* error = operation->error();
    finished.push_back({operation->name(), error ? traits(error->code).name : "ok",
                        static_cast<double>(now - operation->queued_at_us) / 1e6});
  }
  if (!finished.empty()) metrics_.finished(finished);
  for (auto& operation : operations) {
    if (operation->deliver_inline)
      operation->deliver();
    else
      later.push_back(std::move(operation));
  }
  delivery_.add(std::move(later));
}

std::size_t Executor::queued() {
  std::lock_guard guard(mutex_);
  return queue_.size();
}

bool Executor::take_batch() {
  store::BatchRun::Operations batch;
  {
    std::lock_guard guard(mutex_);
    const std::size_t count = std::min<std::size_t>(queue_.size(), options_.batch_max);
    batch.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      batch.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
  }
  if (batch.empty()) return false;
  count(batch.size());
  run_operations_ = batch.size();
  run_since_ = runtime_.steady_us();
  run_load_ = 0;
  for (const auto& operation : batch) run_load_ += load_of(*operation);
  run_ = std::make_unique<store::BatchRun>(*session_, planner_, traits_, std::move(batch));
  run_->on_made = hooks_.on_made;
  run_->on_commit = hooks_.on_commit;
  return true;
}

void Executor::count(std::size_t operations) {
  stats_.batches.fetch_add(1, std::memory_order_relaxed);
  stats_.operations.fetch_add(operations, std::memory_order_relaxed);
  stats_.sizes[std::min(operations, stats_.sizes.size() - 1)].fetch_add(1, std::memory_order_relaxed);
}

SteadyUs Executor::step() {
  if (!run_) {
    std::vector<Task> tasks;
    {
      std::lock_guard guard(mutex_);
      tasks.swap(tasks_);
    }
    for (auto& task : tasks) task(*session_);
    if (!take_batch()) return kNever;
  }
  store::BatchRun::State state;
  do state = run_->step();
  while (state == store::BatchRun::State::working && !runtime_.small_steps());

  hand_out(run_->take_answered());
  switch (state) {
    case store::BatchRun::State::working: return 0;
    case store::BatchRun::State::blocked: return runtime_.steady_us() + kBlockedPauseUs;
    case store::BatchRun::State::backing_off: {
      const double spread = 0.5 + runtime_.random_unit();
      return runtime_.steady_us() + static_cast<SteadyUs>(spread * 1000 * run_->back_off_ms());
    }
    case store::BatchRun::State::finished: break;
  }
  const auto retries = static_cast<std::uint64_t>(run_->retries());
  stats_.retries.fetch_add(retries, std::memory_order_relaxed);
  metrics_.batch(run_operations_, static_cast<double>(runtime_.steady_us() - run_since_) / 1e6, retries);
  run_.reset();
  load_ -= std::exchange(run_load_, 0);
  return 0;
}

void Executor::stop(bool drain) {
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
  }
  if (runner_) runner_->stop();
  store::BatchRun::Operations left;
  if (drain) {
    // The thread is gone; what is still queued is run here.
    while (true) {
      const SteadyUs next = step();
      if (next == kNever) break;
      if (next > 0) std::this_thread::sleep_for(std::chrono::microseconds(kBlockedPauseUs));
    }
  } else {
    run_.reset();
    std::lock_guard guard(mutex_);
    for (auto& operation : queue_) left.push_back(std::move(operation));
    queue_.clear();
  }
  refuse(std::move(left), {ErrorCode::draining, "The engine was shut down before this call was run.", {}});
}

}  // namespace ff::engine
