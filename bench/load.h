#pragma once

// Who submits and who works while the benchmark runs.

#include "bench/cycle.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace ff::bench {

inline constexpr std::uint32_t kSubmitBatch = 100;

/// What all parts of a run share. The first failure ends the run.
struct Run {
  Run(Fabric fabric_, const CycleOptions& options_, std::string lane_)
      : fabric(std::move(fabric_)), options(options_), lane(std::move(lane_)) {}

  /// Remembers the first error and stops everything.
  void failed(const Error& error);
  std::optional<Error> error() const;
  void completed_one();
  /// Waits until `total` are completed, or the run has failed, or the time is over.
  void wait_completed(std::uint64_t total, Clock::time_point until) const;

  Fabric fabric;
  const CycleOptions options;
  const std::string lane;
  Samples claims;
  std::atomic<std::uint64_t> submitted = 0;
  std::atomic<std::uint64_t> completed = 0;
  std::atomic<bool> stopping = false;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Error> error_;
};

/// Submits `count` executions in batches, by several threads unless the run is synchronous.
void submit_many(Run& run, std::uint64_t count, const std::function<void(std::uint64_t)>& progress);

/// Submits as fast as they are completed, so that a fixed number is always under way.
class SteadySubmitters {
 public:
  explicit SteadySubmitters(Run& run);
  ~SteadySubmitters();

 private:
  std::vector<std::jthread> threads_;
};

/// Workers that claim and complete until they are destroyed or the run stops.
class Workers {
 public:
  explicit Workers(Run& run);
  /// Ends the claims that wait and returns when no call is under way any more.
  ~Workers();

 private:
  class Asynchronous;
  void work_synchronously(std::uint32_t index);

  Run& run_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::shared_ptr<Asynchronous>> asynchronous_;
  std::vector<std::jthread> threads_;
};

}  // namespace ff::bench
