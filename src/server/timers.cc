#include "server/timers.h"

#include <vector>

namespace ff::server {

void Timers::after(std::uint32_t ms, Action action) {
  const std::int64_t due_ms = steady_ms_() + ms;
  std::lock_guard guard(mutex_);
  if (!closed_) by_time_.emplace(due_ms, std::move(action));
}

void Timers::run_due() {
  std::vector<Action> due;
  const std::int64_t now_ms = steady_ms_();
  {
    std::lock_guard guard(mutex_);
    const auto end = by_time_.upper_bound(now_ms);
    for (auto it = by_time_.begin(); it != end; ++it) due.push_back(std::move(it->second));
    by_time_.erase(by_time_.begin(), end);
  }
  for (Action& action : due) action();
}

void Timers::close() {
  std::multimap<std::int64_t, Action> forgotten;
  std::lock_guard guard(mutex_);
  closed_ = true;
  forgotten.swap(by_time_);
}

std::size_t Timers::count() {
  std::lock_guard guard(mutex_);
  return by_time_.size();
}

}  // namespace ff::server
