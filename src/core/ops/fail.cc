#include "core/ops/fail.h"

#include "core/fence.h"
#include "core/lease.h"
#include "core/retry.h"
#include "core/text.h"

namespace ff::core {
namespace {

constexpr std::size_t kBlockingDetailBytesMax = 1024;

TaskFailed scheduled(const Attempt& attempt) {
  return {FailStatus::retry_scheduled, attempt.release_delay_until_ms, attempt.attempt_index + 1};
}

}  // namespace

void reads(const Fail& op, const Records& in, Reads& out) {
  read_fenced(op.handle, in, out);
  out.info(op.handle.execution_id);
}

Decision<TaskFailed> decide(const Fail& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto attempt = own_attempt(op.handle, in);
  if (!attempt) return {std::unexpected(attempt.error()), std::move(writes)};
  if (is_repeat(**attempt, op.handle, ReleaseOp::fail_retry)) return {scheduled(**attempt), std::move(writes)};
  if (is_repeat(**attempt, op.handle, ReleaseOp::fail_terminal))
    return {TaskFailed{FailStatus::failed, std::nullopt, std::nullopt}, std::move(writes)};
  auto held = holder_check(op.handle, in, writes);
  if (!held) return {std::unexpected(held.error()), std::move(writes)};
  const ExecutionInfo* info = in.info(op.handle.execution_id);
  if (!info) return {std::unexpected(corruption("ff_exec_info", "policy", "missing")), std::move(writes)};

  ExecutionRecord failed = **held;
  failed.ending.last_failure_message = op.message;
  const auto delay_ms = retry_delay_ms(info->policy->retry_policy.value_or(RetryPolicy{}), op.failure_class, op.category,
                                       failed.counters.retry_count, op.jitter_draw);
  const AttemptEnd end{AttemptRecordState::ended_failure, delay_ms ? AttemptOutcome::retry : AttemptOutcome::failed,
                       op.message, op.category, op.failure_class};
  if (!delay_ms) {
    release_lease(failed, {ReleaseOp::fail_terminal, LeaseEventType::released, "failed_terminal"}, writes);
    end_attempt(failed, end, now);
    failed.ending.failure_reason = op.message;
    failed.ending.failure_category = op.category;
    end_execution(failed, TerminalOutcome::failed, writes);
    writes.update(**held, std::move(failed));
    return {TaskFailed{FailStatus::failed, std::nullopt, std::nullopt}, std::move(writes)};
  }

  const TimeMs until = add_ms(now, *delay_ms);
  release_lease(failed, {ReleaseOp::fail_retry, LeaseEventType::released, "failed_retry_scheduled"}, writes);
  end_attempt(failed, end, now);
  failed.attempt->release_delay_until_ms = until;
  schedule_retry(failed, op.message);
  std::string detail = fmt::format("retry backoff until {} (attempt {} failed: {})", until,
                                   failed.attempt->attempt_index, op.message);
  make_delayed(failed, AttemptState::pending_retry_attempt, BlockingReason::waiting_for_retry_backoff, until,
               truncate_utf8(std::move(detail), kBlockingDetailBytesMax), now);
  const TaskFailed reply = scheduled(*failed.attempt);
  writes.update(**held, std::move(failed));
  return {reply, std::move(writes)};
}

}  // namespace ff::core
