#pragma once

// The one thread of a client: it waits for sockets, timers and for those who have something to send.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace ff::client {

/// Is told when a file descriptor can be read or written.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void ready(std::uint32_t events) = 0;
};

/// All but `start`, `wake`, `post`, `is_here` and `finish` belong to the loop's own thread.
class Loop {
 public:
  using Work = std::move_only_function<void()>;
  using Timers = std::multimap<std::int64_t, Work>;
  using TimerId = Timers::iterator;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;

  /// Begins to run. `turn` is called before every wait, and looks for what has been left for the loop.
  void start(std::function<void()> turn);
  /// Something has been left for the loop. Costs a system call only when it sleeps.
  void wake();
  /// Runs this on the loop's thread.
  void post(Work work);
  bool is_here() const { return std::this_thread::get_id() == id_.load(); }
  /// Ends the loop; on any other thread returns when it has ended.
  void finish();

  void watch(int fd, std::uint32_t events, Watcher& watcher);
  void change(int fd, std::uint32_t events, Watcher& watcher);
  void forget(int fd, Watcher& watcher);

  TimerId after(std::int64_t ms, Work work);
  void cancel(TimerId timer) { timers_.erase(timer); }
  /// No timer: what `cancel` must not be given.
  TimerId none() { return timers_.end(); }

  static std::int64_t now_ms();

 private:
  void run();
  void run_timers();
  int wait_ms() const;

  int epoll_ = -1;
  int event_ = -1;
  std::function<void()> turn_;
  Timers timers_;
  std::vector<Watcher*> ready_;  ///< of the events that are being told; those that were forgotten meanwhile are null
  std::atomic<bool> awake_ = true;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::vector<Work> posted_;
  std::atomic<std::thread::id> id_;
  std::thread thread_;
};

}  // namespace ff::client
