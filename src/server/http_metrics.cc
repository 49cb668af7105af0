#include "server/http_metrics.h"

#include "server/route.h"

namespace ff::server {
namespace {

/// As a text that outlives the request.
std::string_view known_method(std::string_view method) {
  for (std::string_view known : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    if (method == known) return known;
  return "OTHER";
}

}  // namespace

void HttpMetrics::count(const Route* route, std::string_view method, int status, double seconds) {
  const Key key{known_method(method), route ? route->pattern : "unknown", status};
  std::lock_guard guard(mutex_);
  requests_[key].add(seconds);
}

void HttpMetrics::write(MetricsText& text) const {
  std::lock_guard guard(mutex_);
  auto total = [](const engine::Durations& durations) {
    std::uint64_t sum = 0;
    for (std::uint64_t count : durations.counts) sum += count;
    return sum;
  };
  text.family("ff_http_requests_total", "counter", "Requests by route and status.");
  for (const auto& [key, durations] : requests_) {
    const auto& [method, path, status] = key;
    text.value({{"method", method}, {"path", path}, {"status", std::to_string(status)}}, total(durations));
  }
  text.family("ff_http_request_duration_seconds", "histogram", "From the request to its answer, without long polls' waits.");
  for (const auto& [key, durations] : requests_) {
    const auto& [method, path, status] = key;
    text.histogram({{"method", method}, {"path", path}, {"status", std::to_string(status)}}, engine::kDurationBounds,
                   durations.counts, durations.sum);
  }
}

}  // namespace ff::server
