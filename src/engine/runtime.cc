#include "engine/runtime.h"

#include "store/system_clock.h"

#include <sys/random.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace ff::engine {
namespace {

SteadyUs now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

thread_local bool in_loop = false;

/// One loop on one thread.
class ThreadRunner final : public Runner {
 public:
  explicit ThreadRunner(Loop& loop) : loop_(loop) {}
  ~ThreadRunner() override { stop(); }

  void begin(const std::string& name) {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
  }

  void notify() override {
    // Only the first notification since the last look has to take the lock and wake the thread.
    if (notified_.exchange(true, std::memory_order_acq_rel)) return;
    { std::lock_guard guard(mutex_); }
    wake_.notify_one();
  }

  void stop() override {
    stop_.store(true);
    notify();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    in_loop = true;
    while (!stop_.load(std::memory_order_relaxed)) {
      notified_.store(false, std::memory_order_release);
      const SteadyUs next = loop_.step();
      if (next == 0) continue;
      std::unique_lock guard(mutex_);
      auto ready = [&] { return notified_.load(std::memory_order_acquire) || stop_.load(); };
      if (next == kNever)
        wake_.wait(guard, ready);
      else
        wake_.wait_for(guard, std::chrono::microseconds(std::max<SteadyUs>(0, next - now_us())), ready);
    }
  }

  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> notified_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class ThreadRuntime final : public Runtime {
 public:
  SteadyUs steady_us() override { return now_us(); }
  TimeMs wall_ms() override { return store::system_now_ms(); }

  void random(std::span<std::uint8_t> bytes) override {
    std::lock_guard guard(mutex_);
    for (std::size_t done = 0; done < bytes.size();) {
      if (used_ == sizeof pool_) {
        if (getrandom(pool_, sizeof pool_, 0) != static_cast<ssize_t>(sizeof pool_)) continue;
        used_ = 0;
      }
      const std::size_t piece = std::min(bytes.size() - done, sizeof pool_ - used_);
      std::memcpy(bytes.data() + done, pool_ + used_, piece);
      std::memset(pool_ + used_, 0, piece);
      used_ += piece;
      done += piece;
    }
  }

  void start(std::string name, Loop& loop, std::unique_ptr<Runner>& runner) override {
    auto made = std::make_unique<ThreadRunner>(loop);
    ThreadRunner& beginning = *made;
    runner = std::move(made);
    beginning.begin(name);
  }

 private:
  // The kernel is asked for a page at a time; ids need a few bytes each.
  std::mutex mutex_;
  std::uint8_t pool_[4096] = {};
  std::size_t used_ = sizeof pool_;
};

}  // namespace

std::uint64_t Runtime::random_u64() {
  std::uint64_t value = 0;
  random({reinterpret_cast<std::uint8_t*>(&value), sizeof value});
  return value;
}

double Runtime::random_unit() { return static_cast<double>(random_u64() >> 11) * 0x1.0p-53; }

bool on_loop_thread() { return in_loop; }

std::unique_ptr<Runtime> make_thread_runtime() { return std::make_unique<ThreadRuntime>(); }

}  // namespace ff::engine
