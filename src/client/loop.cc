#include "client/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ff::client {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::int64_t kSleepMsMax = 60'000;

}  // namespace

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &event);
}

Loop::~Loop() {
  finish();
  ::close(event_);
  ::close(epoll_);
}

void Loop::start(std::function<void()> turn) {
  turn_ = std::move(turn);
  thread_ = std::thread([this] { run(); });
}

void Loop::wake() {
  if (awake_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
}

void Loop::post(Work work) {
  {
    std::lock_guard guard(mutex_);
    posted_.push_back(std::move(work));
  }
  wake();
}

void Loop::finish() {
  ending_ = true;
  wake();
  if (thread_.joinable() && !is_here()) thread_.join();
}

void Loop::run() {
  id_ = std::this_thread::get_id();
  std::array<epoll_event, kEventsAtOnce> events;
  while (!ending_) {
    // What is left before this is seen by the turn; what is left later ends the wait.
    awake_ = false;
    std::vector<Work> posted;
    {
      std::lock_guard guard(mutex_);
      posted.swap(posted_);
    }
    for (auto& work : posted) work();
    run_timers();
    turn_();
    const int count = epoll_wait(epoll_, events.data(), kEventsAtOnce, wait_ms());
    awake_ = true;
    ready_.clear();
    for (int i = 0; i < count; ++i) ready_.push_back(static_cast<Watcher*>(events[static_cast<std::size_t>(i)].data.ptr));
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (events[at].data.ptr == nullptr) {
        std::uint64_t ignored = 0;
        [[maybe_unused]] const auto read = ::read(event_, &ignored, sizeof ignored);
      } else if (ready_[at] != nullptr) {
        ready_[at]->ready(events[at].events);
      }
    }
  }
}

void Loop::run_timers() {
  const std::int64_t now = now_ms();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Work work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work();
  }
}

int Loop::wait_ms() const {
  if (ending_) return 0;
  if (timers_.empty()) return static_cast<int>(kSleepMsMax);
  return static_cast<int>(std::clamp<std::int64_t>(timers_.begin()->first - now_ms(), 0, kSleepMsMax));
}

void Loop::watch(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{.events = events, .data = {.ptr = &watcher}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

void Loop::change(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{.events = events, .data = {.ptr = &watcher}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(int fd, Watcher& watcher) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  std::replace(ready_.begin(), ready_.end(), &watcher, static_cast<Watcher*>(nullptr));
}

Loop::TimerId Loop::after(std::int64_t ms, Work work) { return timers_.emplace(now_ms() + ms, std::move(work)); }

std::int64_t Loop::now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace ff::client
