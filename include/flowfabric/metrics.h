#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ff {

/// Counts and durations by a name and an outcome. Thread-safe; one may serve several workers or fabrics.
class DurationMetrics {
 public:
  /// What the figures are called in the text format.
  struct Words {
    std::string prefix;          ///< `ff_worker_task`
    std::string label;           ///< `kind`
    std::string running, taken;  ///< what the two figures tell, in a few words
  };
  struct Entry {
    std::string name;
    std::string outcome;
    std::uint64_t count = 0;
    std::chrono::microseconds total{0};
    std::chrono::microseconds longest{0};
    std::vector<std::uint64_t> within;  ///< how many took no longer than each of `bounds()`
  };
  struct Snapshot {
    std::vector<Entry> entries;                    ///< by name, then outcome
    std::map<std::string, std::uint64_t> running;  ///< under way, by name
  };

  explicit DurationMetrics(Words words) : words_(std::move(words)) {}

  static std::span<const std::chrono::microseconds> bounds();

  void began(std::string_view name);
  void ended(std::string_view name, std::string_view outcome, std::chrono::microseconds took);

  Snapshot snapshot() const;
  /// In the text format of Prometheus: `<prefix>s_running`, and `<prefix>_duration_seconds` as a histogram whose `_count`
  /// counts them.
  std::string prometheus_text() const;

 private:
  std::string bounded(std::string_view name) const;

  const Words words_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> running_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

}  // namespace ff
