#include "engine/read_pool.h"

#include "core/errors.h"

namespace ff::engine {

Result<void> ReadPool::start(std::uint32_t readers) {
  for (std::uint32_t i = 0; i < readers; ++i) {
    auto reader = store_.open_reader();
    if (!reader) return std::unexpected(reader.error());
    workers_.push_back(std::make_unique<Worker>(*this, std::move(*reader)));
  }
  for (auto& worker : workers_) runtime_.start("ff-read", *worker, worker->runner);
  return {};
}

void ReadPool::stop() {
  std::deque<Job> left;
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
    left.swap(queue_);
  }
  for (auto& worker : workers_)
    if (worker->runner) worker->runner->stop();
  for (auto& job : left) job(core::fail(ErrorCode::draining, "The engine is shutting down."));
}

void ReadPool::push(Job job) {
  bool queued = false, closed = false;
  {
    std::lock_guard guard(mutex_);
    closed = closed_;
    queued = !closed && queue_.size() < queue_max_;
    if (queued) queue_.push_back(std::move(job));
  }
  if (queued) {
    for (auto& worker : workers_) worker->runner->notify();
    return;
  }
  if (closed) return job(core::fail(ErrorCode::draining, "The engine is shutting down."));
  job(core::fail(ErrorCode::resource_exhausted, "Too many reads are waiting. Try again shortly.",
                 {{"pool", std::string("reads")}, {"retry_after_ms", std::int64_t{50}}}));
}

SteadyUs ReadPool::Worker::step() {
  Job job;
  bool more = false;
  {
    std::lock_guard guard(pool_.mutex_);
    if (pool_.queue_.empty()) return kNever;
    job = std::move(pool_.queue_.front());
    pool_.queue_.pop_front();
    more = !pool_.queue_.empty();
  }
  job(reader_.get());
  return more ? 0 : kNever;
}

}  // namespace ff::engine
