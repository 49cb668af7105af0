#include "bench/start.h"

#include <flowfabric/worker.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace ff::bench {
namespace {

constexpr std::uint32_t kSamples = 200;
constexpr std::uint32_t kWarmUp = 20;
constexpr auto kPause = std::chrono::milliseconds(2);
constexpr auto kLongest = std::chrono::seconds(30);

}  // namespace

Result<std::uint64_t> measure_start(const Fabric& fabric, const std::string& lane, const Progress& progress) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Clock::time_point> started;

  WorkerOptions options;
  options.lanes = {lane};
  options.concurrency = 1;
  options.worker_id = "bench";
  options.handle_signals = false;
  Worker worker(fabric, options);
  worker.on("start", [&](Task&) -> Outcome {
    std::lock_guard guard(mutex);
    started = Clock::now();
    changed.notify_all();
    return complete();
  });
  std::optional<Error> failed;
  std::jthread running([&] {
    if (auto ended = worker.run(); !ended) {
      std::lock_guard guard(mutex);
      failed = ended.error();
      changed.notify_all();
    }
  });

  Samples samples;
  for (std::uint32_t i = 0; i < kWarmUp + kSamples; ++i) {
    std::this_thread::sleep_for(kPause);  // until the worker waits again
    Submission submission;
    submission.execution_kind = "start";
    submission.lane_id = lane;
    const auto asked = Clock::now();
    auto submitted = fabric.submit(std::move(submission));
    std::unique_lock guard(mutex);
    if (!submitted) failed = submitted.error();
    const bool seen = changed.wait_for(guard, kLongest, [&] { return started || failed; });
    if (!seen) failed = Error{ErrorCode::store_unavailable, "A submitted execution was not started within 30 s.", {}};
    if (failed) break;
    if (i >= kWarmUp) samples.add(*started - asked);
    started.reset();
    progress("measuring the start of a handler", i + 1, kWarmUp + kSamples);
  }
  worker.stop();
  running.join();
  if (failed) return std::unexpected(*failed);
  return samples.quantile(0.5);
}

}  // namespace ff::bench
