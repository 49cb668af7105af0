#include "api/middleware/token_bucket.h"
#include "api/middleware/pace.h"

#include <flowfabric/middleware.h>

#include <map>
#include <mutex>

namespace ff {
namespace {

using api::TokenBucket;
using std::chrono::milliseconds;

/// Buckets that are kept; one that is full says nothing and is forgotten first.
constexpr std::size_t kBucketsMax = 1'024;
/// Slower than one in a day is no rate.
constexpr double kPerSecondMin = 1.0 / 86'400;

class Limiter {
 public:
  explicit Limiter(RateLimit limit) : limit_(std::move(limit)) {
    limit_.per_second = std::max(limit_.per_second, kPerSecondMin);
    limit_.burst = std::max(1.0, limit_.burst > 0 ? limit_.burst : limit_.per_second);
    limit_.pace = api::with_machine_time(std::move(limit_.pace));
  }

  Outcome run(Task& task, const Next& next) {
    std::optional<std::string> name = limit_.bucket ? limit_.bucket(task) : std::string();
    if (!name) return next(task);
    const milliseconds wait = take(std::move(*name));
    if (wait > limit_.wait_max) return delay(wait);
    // Whoever is told to stop meanwhile leaves the task to another worker; its turn is lost.
    if (wait.count() > 0 && !limit_.pace.wait(wait, task.cancelled())) return delay(milliseconds(0));
    return next(task);
  }

 private:
  /// How long the task has to wait for its turn. Its token is taken, unless it waits elsewhere.
  milliseconds take(std::string name) {
    std::lock_guard guard(mutex_);
    const auto now = limit_.pace.now();
    if (buckets_.size() >= kBucketsMax && !buckets_.contains(name))
      std::erase_if(buckets_, [&](const auto& each) { return each.second.is_full(now); });
    // With so many in use at once the rest share one.
    if (buckets_.size() >= kBucketsMax && !buckets_.contains(name)) name.clear();
    TokenBucket& bucket = buckets_.try_emplace(std::move(name), limit_.per_second, limit_.burst, now).first->second;
    const milliseconds wait = bucket.until_next(now);
    if (wait <= limit_.wait_max) bucket.take(now);
    return wait;
  }

  RateLimit limit_;
  std::mutex mutex_;
  std::map<std::string, TokenBucket> buckets_;
};

}  // namespace

Middleware limit_rate(RateLimit limit) {
  auto limiter = std::make_shared<Limiter>(std::move(limit));
  return [limiter](Task& task, const Next& next) { return limiter->run(task, next); };
}

}  // namespace ff
