#include "worker/task_state.h"

namespace ff {
namespace worker {

StopReason loss_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::execution_not_active:
      return error.context.text("terminal_outcome") == "cancelled" ? StopReason::cancelled : StopReason::lost;
    case ErrorCode::lease_revoked: return StopReason::revoked;
    case ErrorCode::stale_lease:
    case ErrorCode::lease_expired:
    case ErrorCode::execution_not_found:
    case ErrorCode::attempt_not_found:
    case ErrorCode::invalid_handle: return StopReason::lost;
    default: return StopReason::none;
  }
}

}  // namespace worker

const ExecutionId& Task::execution_id() const { return state_->task.execution.execution_id; }
const std::string& Task::kind() const { return state_->task.execution.execution_kind; }
const std::string& Task::lane() const { return state_->task.execution.lane_id; }
const std::string& Task::namespace_() const { return state_->task.execution.namespace_; }
const Tags& Task::tags() const { return state_->task.execution.tags; }
const std::optional<std::string>& Task::traceparent() const { return state_->task.execution.traceparent; }
std::uint32_t Task::attempt_index() const { return state_->task.attempt.attempt_index; }
AttemptType Task::attempt_type() const { return state_->task.attempt.attempt_type; }
HandleKind Task::claim_kind() const { return state_->task.kind; }
bool Task::has_payload() const { return state_->task.payload.has_value(); }
const Bytes& Task::payload() const {
  static const Bytes kNone;
  return state_->task.payload ? *state_->task.payload : kNone;
}
const std::string& Task::content_type() const { return state_->task.payload_content_type; }

Result<Done> Task::progress(std::uint32_t pct, std::string message) const {
  ReportProgress request{.handle = state_->task.handle, .progress_pct = pct};
  if (!message.empty()) request.progress_message = std::move(message);
  auto done = state_->fabric.progress(std::move(request));
  if (!done)
    if (StopReason reason = worker::loss_of(done.error()); reason != StopReason::none) state_->lose(reason);
  return done;
}

std::stop_token Task::cancelled() const { return state_->stop_source.get_token(); }
StopReason Task::stop_reason() const { return state_->stop_reason.load(); }
bool Task::lease_healthy() const { return !state_->lost.load() && state_->renewal_failures.load() < 3; }

}  // namespace ff
