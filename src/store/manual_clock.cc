#include <flowfabric/clock.h>

#include <algorithm>

namespace ff {

TimeMs ManualClock::now_ms() const {
  std::lock_guard guard(mutex_);
  return now_ms_;
}

void ManualClock::advance(TimeMs by_ms) {
  {
    std::lock_guard guard(mutex_);
    now_ms_ += by_ms;
  }
  tell();
}

void ManualClock::set(TimeMs now_ms) {
  {
    std::lock_guard guard(mutex_);
    now_ms_ = now_ms;
  }
  tell();
}

int ManualClock::watch(std::function<void()> moved) {
  std::lock_guard guard(mutex_);
  watchers_.emplace_back(next_key_, std::move(moved));
  return next_key_++;
}

void ManualClock::unwatch(int key) {
  std::lock_guard telling(tell_mutex_);
  std::lock_guard guard(mutex_);
  std::erase_if(watchers_, [&](const auto& item) { return item.first == key; });
}

void ManualClock::tell() {
  std::lock_guard telling(tell_mutex_);
  std::vector<std::function<void()>> all;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [key, moved] : watchers_) all.push_back(moved);
  }
  for (const auto& moved : all) moved();
}

}  // namespace ff
