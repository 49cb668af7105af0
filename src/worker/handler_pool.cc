#include "worker/handler_pool.h"

#include <chrono>

namespace ff::worker {

void HandlerPool::push(Job job) {
  std::lock_guard guard(mutex_);
  queue_.push_back(std::move(job));
  if (idle_ > 0)
    wake_.notify_one();
  else if (starting_ == 0)
    grow();
}

/// One thread at a time: whoever takes a job and leaves more behind brings the next one in.
void HandlerPool::grow() {
  if (threads_ >= threads_max_) return;
  ++threads_;
  ++starting_;
  std::thread([self = shared_from_this()] { self->run(); }).detach();
}

void HandlerPool::run() {
  std::unique_lock guard(mutex_);
  --starting_;
  while (true) {
    ++idle_;
    wake_.wait(guard, [&] { return closed_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) break;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    if (!queue_.empty() && idle_ == 0 && starting_ == 0) grow();
    guard.unlock();
    job();
    guard.lock();
  }
  --threads_;
  ended_.notify_all();
}

void HandlerPool::close() {
  std::lock_guard guard(mutex_);
  closed_ = true;
  wake_.notify_all();
}

bool HandlerPool::join(std::chrono::milliseconds at_most) {
  std::unique_lock guard(mutex_);
  return ended_.wait_for(guard, at_most, [&] { return threads_ == 0; });
}

}  // namespace ff::worker
