#include "server/refusal_log.h"

namespace ff::server {

void RefusalLog::refused(const Request& request, const std::string& request_id, std::int64_t now_ms) {
  std::uint64_t left_out = 0;
  {
    std::lock_guard guard(mutex_);
    if (now_ms / 1'000 != second_) {
      second_ = now_ms / 1'000;
      lines_ = 0;
      left_out = std::exchange(left_out_, 0);
    }
    if (lines_ == kPerSecond) {
      ++left_out_;
      return;
    }
    ++lines_;
  }
  if (left_out > 0)
    log_.warn("further requests without a valid token", {{"target", "audit"}, {"count", std::to_string(left_out)}});
  log_.warn("a request without a valid token",
            {{"target", "audit"}, {"request_id", request_id}, {"remote", request.remote}});
}

}  // namespace ff::server
