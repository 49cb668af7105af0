#pragma once

// Words for what tests expect, and how values are shown when a test fails.

#include "core/fields.h"

#include <flowfabric/calls.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <source_location>
#include <stdexcept>

namespace ff {

template <core::DescribedEnum E>
void PrintTo(const E& value, std::ostream* out) {
  *out << core::name_of(value);
}
inline void PrintTo(ErrorCode code, std::ostream* out) { *out << traits(code).name; }
inline void PrintTo(const ExecutionId& id, std::ostream* out) { *out << id.to_string(); }
inline void PrintTo(const Uuid& uuid, std::ostream* out) { *out << uuid.to_string(); }
template <class T>
void PrintTo(const std::expected<T, Error>& result, std::ostream* out) {
  *out << (result ? std::string("a success") : result.error().to_string());
}

}  // namespace ff

namespace ff::test {

/// The value of a call that has to succeed here.
template <class T>
T must(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result)
    throw std::runtime_error(fmt::format("{}:{}: {}", where.file_name(), where.line(), result.error().to_string()));
  return std::move(*result);
}

MATCHER(Succeeds, "") {
  static_cast<void>(result_listener);
  return arg.has_value();
}

MATCHER_P(Refused, code, "") {
  static_cast<void>(result_listener);
  return !arg.has_value() && arg.error().code == code;
}

/// Refused, and the context has this text under this name.
MATCHER_P3(RefusedWith, code, name, text, "") {
  if (arg.has_value() || arg.error().code != code) return false;
  *result_listener << "where " << name << " is '" << arg.error().context.text(name) << "'";
  return arg.error().context.text(name) == text;
}

/// phase/ownership/eligibility/reason/outcome/attempt_state, the shorthand of the specification.
std::string vector_of(const StateVector& state);

// The vectors that transitions lead to.
inline constexpr const char* kWaitingFirst = "runnable/unowned/eligible_now/waiting_for_worker/none/pending_first_attempt";
inline constexpr const char* kDelayedFirst =
    "runnable/unowned/not_eligible_until_time/waiting_for_delay/none/pending_first_attempt";
inline constexpr const char* kRunning = "active/leased/not_applicable/none/none/running_attempt";
inline constexpr const char* kBackingOff =
    "runnable/unowned/not_eligible_until_time/waiting_for_retry_backoff/none/pending_retry_attempt";
inline constexpr const char* kWaitingRetry = "runnable/unowned/eligible_now/waiting_for_worker/none/pending_retry_attempt";
inline constexpr const char* kWaitingReplay = "runnable/unowned/eligible_now/waiting_for_worker/none/pending_replay_attempt";
inline constexpr const char* kPausedByDelay =
    "runnable/unowned/not_eligible_until_time/waiting_for_delay/none/attempt_interrupted";
inline constexpr const char* kResumable = "runnable/unowned/eligible_now/waiting_for_worker/none/attempt_interrupted";
inline constexpr const char* kLeaseLost =
    "active/lease_expired_reclaimable/not_applicable/waiting_for_worker/none/attempt_interrupted";
inline constexpr const char* kLeaseRevoked =
    "active/lease_revoked/not_applicable/waiting_for_worker/none/attempt_interrupted";
inline constexpr const char* kEndedSuccess = "terminal/unowned/not_applicable/none/success/attempt_terminal";
inline constexpr const char* kEndedFailed = "terminal/unowned/not_applicable/none/failed/attempt_terminal";
inline constexpr const char* kEndedExpired = "terminal/unowned/not_applicable/none/expired/attempt_terminal";
inline constexpr const char* kEndedCancelled = "terminal/unowned/not_applicable/none/cancelled/attempt_terminal";

/// One line per event: `lease acquired`, `lease released completed`, `completion success`, `operator replayed`.
std::vector<std::string> lines_of(const std::vector<Event>& events);
/// One line per attempt: `0 initial ended_failure retry`, the outcome left out while there is none.
std::vector<std::string> lines_of(const std::vector<Attempt>& attempts);

}  // namespace ff::test
