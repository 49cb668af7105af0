#pragma once

// Who was turned away, for the audit lines of the log: at most so many per second, then a count.

#include "log/log.h"
#include "server/http.h"

#include <mutex>

namespace ff::server {

/// Thread-safe.
class RefusalLog {
 public:
  static constexpr std::uint32_t kPerSecond = 100;

  explicit RefusalLog(Log log) : log_(std::move(log)) {}

  /// A request without a token that we know. Nothing of the token is written.
  void refused(const Request& request, const std::string& request_id, std::int64_t now_ms);

 private:
  Log log_;
  std::mutex mutex_;
  std::int64_t second_ = -1;
  std::uint32_t lines_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace ff::server
