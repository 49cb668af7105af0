#pragma once

#include <flowfabric/calls.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

namespace ff {

namespace worker {
class TaskState;
}

/// Why a task should stop.
enum class StopReason { none, cancelled, revoked, lost, draining };

/// Thrown when a payload does not decode; an uncaught one fails the execution for good.
struct PayloadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One leased execution, as its handler sees it. Valid until the handler returns.
class Task {
 public:
  explicit Task(std::shared_ptr<worker::TaskState> state) : state_(std::move(state)) {}

  const ExecutionId& execution_id() const;
  const std::string& kind() const;
  const std::string& lane() const;
  const std::string& namespace_() const;
  const Tags& tags() const;
  const std::optional<std::string>& traceparent() const;
  std::uint32_t attempt_index() const;
  AttemptType attempt_type() const;
  /// Whether this is a new attempt, one that goes on, or one taken over from a lost worker.
  HandleKind claim_kind() const;

  bool has_payload() const;
  /// The bytes as they were submitted; empty without a payload.
  const Bytes& payload() const;
  const std::string& content_type() const;
  /// The payload as a described type; needs `<flowfabric/json.h>`. Throws PayloadError.
  template <class T>
  T payload_as() const;

  /// Tells how far the task has come. An error means the lease is gone, or the fabric cannot be reached.
  Result<Done> progress(std::uint32_t pct, std::string message = {}) const;

  /// Fires when the task was cancelled, its lease was lost or revoked, or the worker is being stopped for good.
  std::stop_token cancelled() const;
  StopReason stop_reason() const;
  /// The lease is held and was renewed without trouble.
  bool lease_healthy() const;

 private:
  std::shared_ptr<worker::TaskState> state_;
};

/// What a handler decided. Made by the functions below.
class Outcome {
 public:
  struct Complete {
    std::optional<Bytes> result;
    std::optional<std::string> content_type;
  };
  struct Fail {
    std::string message;
    FailureClass failure_class = FailureClass::transient;
    std::optional<std::string> category;
  };
  struct Delay {
    std::optional<TimeMs> until_ms;
    std::optional<std::uint64_t> for_ms;
  };
  struct WaitForChildren {
    std::vector<std::string> children;
  };
  using Value = std::variant<Complete, Fail, Delay, WaitForChildren>;

  Outcome(Value value) : value_(std::move(value)) {}
  const Value& value() const { return value_; }

 private:
  Value value_;
};

/// What stands inside a middleware: the next one, and at last the handler.
using Next = std::function<Outcome(Task&)>;
/// A function around handlers: does what it likes before and after `next`, or does not call it and answers itself.
/// Exceptions of the handler pass through it. Called on the handlers' threads, many at a time.
using Middleware = std::function<Outcome(Task&, const Next&)>;

/// The work is done; there is no result.
inline Outcome complete() { return Outcome(Outcome::Complete{}); }
/// The work is done; these bytes are the result.
inline Outcome complete(Bytes result, std::optional<std::string> content_type = std::nullopt) {
  return Outcome(Outcome::Complete{std::move(result), std::move(content_type)});
}
/// The attempt failed. The execution's policy says whether it is tried again.
inline Outcome fail(std::string message, FailureClass failure_class = FailureClass::transient,
                    std::optional<std::string> category = std::nullopt) {
  return Outcome(Outcome::Fail{std::move(message), failure_class, std::move(category)});
}
/// The execution failed and must not be tried again.
inline Outcome fail_permanent(std::string message) { return fail(std::move(message), FailureClass::permanent); }
/// Goes on later, in the same attempt, perhaps on another worker.
inline Outcome delay(std::chrono::milliseconds duration) {
  return Outcome(Outcome::Delay{std::nullopt, static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count()))});
}
inline Outcome delay_until(TimeMs until_ms) { return Outcome(Outcome::Delay{until_ms, std::nullopt}); }
/// Goes on when the dependencies of this execution are resolved.
inline Outcome wait_children(std::vector<std::string> children = {}) {
  return Outcome(Outcome::WaitForChildren{std::move(children)});
}

}  // namespace ff
