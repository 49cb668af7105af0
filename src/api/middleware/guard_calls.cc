// What keeps calls away: a rate limit, a circuit breaker.

#include "api/middleware/circuit.h"
#include "api/middleware/pace.h"
#include "api/middleware/token_bucket.h"
#include "core/errors.h"

#include <flowfabric/call_middleware.h>

#include <fmt/format.h>

namespace ff {
namespace {

/// Buckets that are kept; one that is full says nothing and is forgotten first.
constexpr std::size_t kBucketsMax = 1'024;
/// Slower than one in a day is no rate.
constexpr double kPerSecondMin = 1.0 / 86'400;

/// Who keeps a lease or brings an outcome is let through: a limit that loses work helps nobody.
std::optional<std::string> usual_bucket(const CallInfo& call) {
  return call.role == CallRole::other ? std::optional<std::string>("calls") : std::nullopt;
}

class Limiter {
 public:
  explicit Limiter(CallRateLimit limit) : limit_(std::move(limit)) {
    limit_.per_second = std::max(limit_.per_second, kPerSecondMin);
    limit_.burst = std::max(1.0, limit_.burst > 0 ? limit_.burst : limit_.per_second);
    if (!limit_.bucket) limit_.bucket = usual_bucket;
    limit_.pace = api::with_machine_time(std::move(limit_.pace));
  }

  std::optional<Error> before(const CallInfo& call) {
    auto name = limit_.bucket(call);
    if (!name) return std::nullopt;
    std::lock_guard guard(mutex_);
    const auto now = limit_.pace.now();
    if (buckets_.size() >= kBucketsMax && !buckets_.contains(*name))
      std::erase_if(buckets_, [&](const auto& each) { return each.second.is_full(now); });
    if (buckets_.size() >= kBucketsMax && !buckets_.contains(*name)) name->clear();
    auto& bucket = buckets_.try_emplace(*name, limit_.per_second, limit_.burst, now).first->second;
    const auto wait = bucket.until_next(now);
    if (wait.count() == 0) {
      bucket.take(now);
      return std::nullopt;
    }
    return Error{ErrorCode::rate_limit_exceeded,
                 fmt::format("This process makes no more than {} calls a second of '{}'; the call was not made. Repeat it "
                             "in {} ms.",
                             limit_.per_second, *name, wait.count()),
                 {{"bucket", *name}, {"retry_after_ms", static_cast<std::int64_t>(wait.count())}}};
  }

 private:
  CallRateLimit limit_;
  std::mutex mutex_;
  std::map<std::string, api::TokenBucket> buckets_;
};

class Breaker {
 public:
  explicit Breaker(CallBreak rule) : circuit_(std::max(rule.failures, 1U), rule.open_for) {
    pace_ = api::with_machine_time(std::move(rule.pace));
  }

  std::optional<Error> before(const CallInfo& call) {
    std::lock_guard guard(mutex_);
    const auto now = pace_.now();
    const auto pass = circuit_.ask(now);
    if (pass == api::Circuit::Pass::trial) trial_ = call.number;
    if (pass != api::Circuit::Pass::no) return std::nullopt;
    Error error{ErrorCode::store_unavailable,
                "circuit open: the last calls reached nobody, so this one was not made. Repeat it in a while.", {}};
    if (const auto left = circuit_.left(now); left.count() > 0)
      error.context.set("retry_after_ms", static_cast<std::int64_t>(left.count()));
    return error;
  }

  void after(const CallInfo& call, const Error* error) {
    using Circuit = api::Circuit;
    const bool is_fault = error && error->category() == ErrorCategory::transport;
    const auto verdict = is_fault ? Circuit::Verdict::failure : error ? Circuit::Verdict::neither : Circuit::Verdict::success;
    std::lock_guard guard(mutex_);
    const bool is_trial = trial_ == call.number;
    if (is_trial) trial_.reset();
    circuit_.ended(pace_.now(), is_trial ? Circuit::Pass::trial : Circuit::Pass::free, verdict);
  }

 private:
  Pace pace_;
  std::mutex mutex_;
  api::Circuit circuit_;
  std::optional<std::uint64_t> trial_;
};

}  // namespace

CallMiddleware limit_calls(CallRateLimit limit) {
  auto limiter = std::make_shared<Limiter>(std::move(limit));
  return {.before = [limiter](const CallInfo& call) { return limiter->before(call); }};
}

CallMiddleware break_calls(CallBreak rule) {
  auto breaker = std::make_shared<Breaker>(std::move(rule));
  return {.before = [breaker](const CallInfo& call) { return breaker->before(call); },
          .after = [breaker](const CallInfo& call, std::chrono::microseconds, const Error* error) {
            breaker->after(call, error);
          }};
}

}  // namespace ff
