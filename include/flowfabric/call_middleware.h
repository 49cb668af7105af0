#pragma once

// Functions around the calls of a fabric: what every call needs is written once.
//
//     auto metrics = std::make_shared<ff::CallMetrics>();
//     ff::Fabric guarded = ff::with(ff::with(fabric, ff::break_calls()), ff::count_calls(metrics));
//
// The last added is the outermost. It sees every call that is made through the fabric it was added to, those of a
// worker included; the fabric beneath stays as it was. It runs on the thread that calls, and on those that bring
// answers: it must not block. It is of this process alone, and nothing that must hold depends on it.

#include <flowfabric/fabric.h>
#include <flowfabric/log.h>
#include <flowfabric/metrics.h>
#include <flowfabric/pace.h>

namespace ff {

/// What a call is to a task that runs.
enum class CallRole {
  other,
  renewal,  ///< keeps a lease
  final,    ///< gives a lease back, with the outcome
};

/// A call as middleware sees it.
struct CallInfo {
  std::uint64_t number = 0;  ///< tells calls under way apart
  std::string_view name;     ///< its request in small letters: `submission`, `claim_request`, `cancel_execution`
  CallRole role = CallRole::other;
  std::size_t items = 1;  ///< how many requests it carries
};

struct CallMiddleware {
  /// Before the call is made. An error is its answer: the call is not made, and `after` is not called here.
  std::function<std::optional<Error>(const CallInfo&)> before = {};
  /// When the answer is there. `error` is null when it succeeded; of many items, when one of them did.
  std::function<void(const CallInfo&, std::chrono::microseconds took, const Error* error)> after = {};
};

/// The same fabric with this around its calls.
Fabric with(const Fabric& fabric, CallMiddleware middleware, Pace pace = {});

/// A line for each call: its name, how long it took, what came of it. Faults of the transport are warnings, everything
/// else is for those who look closely.
CallMiddleware log_calls(LogSink sink);

/// Counts and durations of calls by name and outcome: `ok`, or the category of the error.
struct CallMetrics : DurationMetrics {
  CallMetrics() : DurationMetrics({"ff_client_call", "call", "Calls under way", "How long calls took"}) {}
};
CallMiddleware count_calls(std::shared_ptr<CallMetrics> metrics);

struct CallRateLimit {
  double per_second = 1;
  double burst = 0;  ///< 0: as many as in a second, one at least
  /// The bucket that a call draws from; none: it is not limited. Unset: renewals and final calls are not, all others
  /// draw from the same.
  std::function<std::optional<std::string>(const CallInfo&)> bucket = {};
  Pace pace = {};
};

/// Refuses calls over the limit with the retryable `rate_limit_exceeded`, which names the bucket and `retry_after_ms`.
CallMiddleware limit_calls(CallRateLimit limit);

struct CallBreak {
  std::uint32_t failures = 5;  ///< faults of the transport in a row that open the circuit
  std::chrono::milliseconds open_for{30'000};
  Pace pace = {};
};

/// After so many faults of the transport in a row, calls are refused with `store_unavailable` for a while; then one is
/// tried. Its fault opens the circuit again, any other answer closes it. Other errors leave the count as it is.
CallMiddleware break_calls(CallBreak rule = {});

}  // namespace ff
