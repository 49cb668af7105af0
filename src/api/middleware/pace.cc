#include "api/middleware/pace.h"

#include <condition_variable>
#include <mutex>

namespace ff::api {

Pace with_machine_time(Pace pace) {
  if (!pace.now) pace.now = [] { return std::chrono::steady_clock::now(); };
  if (!pace.wait)
    pace.wait = [](std::chrono::milliseconds time, const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any over;
      std::unique_lock guard(mutex);
      over.wait_for(guard, stop, time, [] { return false; });
      return !stop.stop_requested();
    };
  return pace;
}

}  // namespace ff::api
