#include "core/ops/expiry.h"

#include "core/lease.h"

namespace ff::core {
namespace {

/// A delay is over: eligible, and what the next claim starts stays as it was.
void promote(ExecutionRecord& record) { make_eligible(record, record.state.attempt_state); }

/// The attempt took too long: the next one while retries remain, else the end.
void expire_attempt(ExecutionRecord& record, Writes& writes) {
  const bool again = record.counters.retry_count < record.limits.max_retries;
  release_lease(record, {ReleaseOp::expire, LeaseEventType::expired, "expired:attempt_timeout"}, writes);
  end_attempt(record,
              {AttemptRecordState::ended_failure, again ? AttemptOutcome::interrupted : AttemptOutcome::expired,
               "attempt_timeout", "timeout", FailureClass::timeout},
              writes.now());
  record.ending.last_failure_message = "attempt_timeout";
  if (again) {
    schedule_retry(record, "attempt_timeout");
    make_eligible(record, AttemptState::pending_retry_attempt);
    return;
  }
  record.ending.failure_reason = "attempt_timeout";
  record.ending.failure_category = "timeout";
  end_execution(record, TerminalOutcome::expired, writes);
}

/// The execution took too long, wherever it stands.
void expire_execution(ExecutionRecord& record, Writes& writes) {
  release_lease(record, {ReleaseOp::expire, LeaseEventType::expired, "expired:execution_deadline"}, writes);
  end_attempt(record,
              {AttemptRecordState::ended_failure, AttemptOutcome::expired, "execution_deadline", "timeout",
               FailureClass::timeout},
              writes.now());
  record.ending.failure_reason = record.ending.last_failure_message = "execution_deadline";
  record.ending.failure_category = "timeout";
  end_execution(record, TerminalOutcome::expired, writes);
}

}  // namespace

void reads(const RingTimer& op, const Records&, Reads& out) { out.execution(op.id); }

Decision<bool> decide(const RingTimer& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const ExecutionRecord* record = in.execution(op.id);
  if (!record || !has_rung(*record, op.kind, now)) return {false, std::move(writes)};

  ExecutionRecord after = *record;
  switch (op.kind) {
    case TimerKind::delay: promote(after); break;
    case TimerKind::lease: lose_lease(after, writes); break;
    case TimerKind::attempt_timeout: expire_attempt(after, writes); break;
    case TimerKind::deadline: expire_execution(after, writes); break;
  }
  writes.update(*record, std::move(after));
  return {true, std::move(writes)};
}

}  // namespace ff::core
