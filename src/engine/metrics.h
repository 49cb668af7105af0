#pragma once

// What an engine counts, for whoever shows it. Logic reports here; nothing here decides anything.

#include "engine/runtime.h"
#include "store/store.h"

#include <array>
#include <map>
#include <mutex>

namespace ff::engine {

/// Upper bounds of the buckets of durations, in seconds.
inline constexpr std::array<double, 14> kDurationBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                           0.1,    0.25,  0.5,    1,     2.5,  5,     10};
/// Of the numbers of operations in a batch.
inline constexpr std::array<double, 11> kBatchBounds = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 5'000};

/// How many values fell into which bucket; the last one takes what is beyond all bounds.
template <const auto& Bounds>
struct Histogram {
  std::array<std::uint64_t, Bounds.size() + 1> counts{};
  double sum = 0;

  void add(double value) {
    std::size_t at = 0;
    while (at < Bounds.size() && value > Bounds[at]) ++at;
    ++counts[at];
    sum += value;
  }
  Histogram& operator+=(const Histogram& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum += other.sum;
    return *this;
  }
};
using Durations = Histogram<kDurationBounds>;
using BatchSizes = Histogram<kBatchBounds>;

/// How attempts ended.
enum class AttemptEnd : std::uint8_t { ok, error, timeout, cancelled, retry };
inline constexpr std::array<std::string_view, 5> kAttemptEnds = {"ok", "error", "timeout", "cancelled", "retry"};

struct OperationMetrics {
  std::map<std::string, std::uint64_t> by_code;  ///< `ok`, or the code of the error
  Durations duration;                            ///< from the call to its answer
};

struct LaneMetrics {
  std::array<std::uint64_t, 3> claims{};  ///< fresh, resumed, reclaimed
  std::array<std::uint64_t, kAttemptEnds.size()> attempts{};
  Durations claim;  ///< without waiting for work

  std::uint64_t busyness() const { return claims[0] + claims[1] + claims[2]; }
  LaneMetrics& operator+=(const LaneMetrics& other);
};

struct MetricsSnapshot {
  std::map<std::string, OperationMetrics> operations;
  std::map<std::string, LaneMetrics> lanes;  ///< the busiest; all others together are `other`
  std::array<std::uint64_t, 4> events{};     ///< by kind
  BatchSizes batch_sizes;
  Durations commits;
  std::uint64_t conflicts = 0;  ///< batches that were decided again
};

/// Thread-safe. Executors report once per batch, so that the lock is no matter.
class Metrics {
 public:
  struct Finished {
    std::string_view operation;
    std::string_view code;
    double seconds;
  };
  void finished(std::span<const Finished> operations);
  void batch(std::size_t operations, double seconds, std::uint64_t conflicts);
  void committed(const std::deque<store::Unit>& units);
  void claimed(const std::string& lane_id, double seconds);

  MetricsSnapshot snapshot() const;

 private:
  LaneMetrics& lane(const std::string& lane_id);

  mutable std::mutex mutex_;
  std::map<std::string, OperationMetrics, std::less<>> operations_;
  std::map<std::string, LaneMetrics, std::less<>> lanes_;
  MetricsSnapshot others_;
};

}  // namespace ff::engine
