#include "server/rate_limits.h"

#include "core/errors.h"

namespace ff::server {
namespace {

constexpr std::int64_t kRequest = 1'000;
constexpr std::size_t kBucketsMax = 10'000;  ///< beyond this, those that are full are forgotten: a new one is full too

}  // namespace

std::int64_t RateLimits::level_at(const Bucket& bucket, std::int64_t now_ms) const {
  // Twice the rate is what two seconds bring: more time than that changes nothing, and cannot overflow.
  const std::int64_t passed = std::clamp<std::int64_t>(now_ms - bucket.at_ms, 0, 2'000);
  return std::min(bucket.level + passed * per_second_, 2 * per_second_ * kRequest);
}

void RateLimits::forget_full(std::int64_t now_ms) {
  std::erase_if(buckets_, [&](const auto& entry) {
    return level_at(entry.second, now_ms) == 2 * per_second_ * kRequest;
  });
}

std::optional<Error> RateLimits::take(const std::string& caller, std::int64_t now_ms) {
  if (per_second_ == 0) return std::nullopt;
  std::lock_guard guard(mutex_);
  if (buckets_.size() >= kBucketsMax) forget_full(now_ms);
  Bucket& bucket = buckets_.try_emplace(caller, Bucket{2 * per_second_ * kRequest, now_ms}).first->second;
  bucket.level = level_at(bucket, now_ms);
  bucket.at_ms = std::max(bucket.at_ms, now_ms);
  if (bucket.level >= kRequest) {
    bucket.level -= kRequest;
    return std::nullopt;
  }
  const std::int64_t wait_ms = (kRequest - bucket.level + per_second_ - 1) / per_second_;
  return Error{ErrorCode::rate_limit_exceeded,
               fmt::format("This token makes more than {} calls per second. Repeat the call a little later.", per_second_),
               {{"limit_per_second", per_second_}, {"retry_after_ms", wait_ms}}};
}

std::size_t RateLimits::buckets() {
  std::lock_guard guard(mutex_);
  return buckets_.size();
}

}  // namespace ff::server
