#pragma once

// How many requests came to which route, what became of them, and how long that took.

#include "engine/metrics.h"
#include "server/metrics_text.h"

#include <map>
#include <mutex>
#include <tuple>

namespace ff::server {

struct Route;

/// Thread-safe.
class HttpMetrics {
 public:
  /// `route` is null for what leads nowhere.
  void count(const Route* route, std::string_view method, int status, double seconds);
  void write(MetricsText& text) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view, int>;  ///< method, pattern, status

  mutable std::mutex mutex_;
  std::map<Key, engine::Durations> requests_;
};

}  // namespace ff::server
