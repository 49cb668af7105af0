#pragma once

#include "core/operation.h"

namespace ff::core {

/// Sums of times saturate at the limits of the type.
TimeMs add_ms(TimeMs time, std::uint64_t delta_ms);

/// What the end of a lease is called in the log and in the attempt's receipt.
struct ReleaseWords {
  ReleaseOp op;
  LeaseEventType event;
  std::string_view reason;
};

/// Ends the ownership of an execution: writes the receipt and one lease event and clears the lease fields. A lease
/// that was already marked lost or revoked gets no second event. Without a lease it does nothing.
void release_lease(ExecutionRecord& record, const ReleaseWords& words, Writes& writes);

/// How an attempt that is still open is closed.
struct AttemptEnd {
  AttemptRecordState state;
  AttemptOutcome outcome;
  std::optional<std::string> failure_reason = std::nullopt;
  std::optional<std::string> failure_category = std::nullopt;
  std::optional<FailureClass> failure_class = std::nullopt;
};

/// Ends the newest attempt if it is running or paused; else nothing.
void end_attempt(ExecutionRecord& record, AttemptEnd end, TimeMs now);

/// Makes the execution terminal: the vector, the times, everything cleared that only a live one has, and exactly one
/// completion event. The lease must have been released and the attempt ended before.
void end_execution(ExecutionRecord& record, TerminalOutcome outcome, Writes& writes);

/// Runnable and waiting for a worker, at once. `attempt_state` says what the next claim starts.
void make_eligible(ExecutionRecord& record, AttemptState attempt_state);
/// Runnable at `until`, or at once when that is not in the future.
void make_delayed(ExecutionRecord& record, AttemptState attempt_state, BlockingReason reason, TimeMs until,
                  std::string detail, TimeMs now);

/// The attempt is over and the next one may start at once: counts a retry and remembers where it comes from.
void schedule_retry(ExecutionRecord& record, std::string_view reason);

/// A lease ran out: the one rule behind the sweep and behind every call that meets a lapsed lease. By the policy it
/// becomes reclaimable, starts its next attempt, or ends. Precondition: leased and not live.
void lose_lease(ExecutionRecord& record, Writes& writes);

}  // namespace ff::core
