#pragma once

// What the process knows of its own health, so that probes ask nobody.

#include <flowfabric/calls.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace ff::server {

inline constexpr std::int64_t kPingFreshMs = 5'000;
inline constexpr std::uint64_t kSweepSlackMs = 30'000;

/// Collects the outcome of regular looks at the engine. Thread-safe.
class Health {
 public:
  /// `steady_ms` is a clock that never goes back.
  explicit Health(std::function<std::int64_t()> steady_ms) : steady_ms_(std::move(steady_ms)) {}

  void booted();
  void drain();
  bool draining() const;
  /// What a look at the engine gave; to be told at least every few seconds.
  void looked(const Result<FabricInfo>& info);

  /// Why no new work should come here, in sentences; none when it is ready.
  std::vector<std::string> reasons() const;

 private:
  std::function<std::int64_t()> steady_ms_;
  mutable std::mutex mutex_;
  bool booted_ = false;
  bool draining_ = false;
  std::optional<std::int64_t> last_good_ms_;
  std::optional<TimeMs> first_seen_ms_;   ///< the store's time at the first look
  std::vector<std::string> late_sweeps_;  ///< as of the last good look
};

}  // namespace ff::server
