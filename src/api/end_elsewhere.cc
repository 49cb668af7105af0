#include "api/end_elsewhere.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <vector>

namespace ff::api {
namespace {

std::atomic<bool> program_has_ended = false;

struct Endings {
  ~Endings() {
    program_has_ended = true;
    running.clear();
  }
  std::mutex mutex;
  std::vector<std::future<void>> running;  ///< the end of a future waits for its thread
};

Endings& endings() {
  static Endings all;
  return all;
}

}  // namespace

void expect_endings() { endings(); }

void end_elsewhere(std::function<void()> work) {
  if (program_has_ended) return;
  std::lock_guard guard(endings().mutex);
  auto& running = endings().running;
  std::erase_if(running, [](const std::future<void>& ending) {
    return ending.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  running.push_back(std::async(std::launch::async, std::move(work)));
}

}  // namespace ff::api
