#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ff::worker {

/// Threads that run handlers. They are made as they are needed, up to a bound: a worker of quick tasks has few, one of
/// slow tasks has as many as it has slots.
class HandlerPool : public std::enable_shared_from_this<HandlerPool> {
 public:
  using Job = std::move_only_function<void()>;

  explicit HandlerPool(std::uint32_t threads_max) : threads_max_(threads_max) {}

  void push(Job job);
  /// Ends the threads that are idle or become so. A handler that never returns keeps its own thread, and this object,
  /// alive; nobody waits for it.
  void close();
  /// Waits for all threads to end, for at most that long. True when they have.
  bool join(std::chrono::milliseconds at_most);

 private:
  void grow();
  void run();

  std::uint32_t threads_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::deque<Job> queue_;
  std::uint32_t threads_ = 0;
  std::uint32_t idle_ = 0;
  std::uint32_t starting_ = 0;
  bool closed_ = false;
};

}  // namespace ff::worker
