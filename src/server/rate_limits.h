#pragma once

// How many requests a token may make: a bucket each, which fills at the rate and holds twice of what a second brings.

#include <flowfabric/error.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace ff::server {

/// Thread-safe.
class RateLimits {
 public:
  /// `per_second` 0: there is no limit.
  explicit RateLimits(std::uint32_t per_second) : per_second_(per_second) {}

  /// Takes one request out of the caller's bucket; `rate_limit_exceeded` when it is empty. Nothing is taken then.
  std::optional<Error> take(const std::string& caller, std::int64_t now_ms);
  std::size_t buckets();

 private:
  struct Bucket {
    std::int64_t level = 0;  ///< thousandths of a request: what a millisecond brings is a whole number of them
    std::int64_t at_ms = 0;
  };
  std::int64_t level_at(const Bucket& bucket, std::int64_t now_ms) const;
  void forget_full(std::int64_t now_ms);

  std::int64_t per_second_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace ff::server
