#include "core/fence.h"

#include "core/lease.h"

namespace ff::core {
namespace {

bool holds_current_lease(const ExecutionRecord& record, const TaskHandle& handle) {
  return record.lease && record.lease->current_lease_id == handle.lease_id &&
         record.counters.current_lease_epoch == handle.lease_epoch && record.attempt &&
         record.attempt->attempt_index == handle.attempt_index && record.attempt->attempt_id == handle.attempt_id;
}

Error stale(const ExecutionRecord& record, const TaskHandle& handle) {
  return {ErrorCode::stale_lease,
          fmt::format("This lease is no longer the current one (epoch {}, yours is {}). Stop this task; its result "
                      "cannot be stored.",
                      record.counters.current_lease_epoch, handle.lease_epoch),
          {{"execution_id", record.id.to_string()},
           {"lease_epoch", static_cast<std::int64_t>(record.counters.current_lease_epoch)}}};
}

Error expired(const ExecutionRecord& record) {
  return {ErrorCode::lease_expired,
          "The lease ran out before this call. Stop this task; another worker may take it over.",
          {{"execution_id", record.id.to_string()},
           {"lease_epoch", static_cast<std::int64_t>(record.counters.current_lease_epoch)}}};
}

}  // namespace

Error not_found(const ExecutionId& id) {
  return {ErrorCode::execution_not_found,
          fmt::format("There is no execution {}. It was never submitted here, or its retention is over.", id.to_string()),
          {{"execution_id", id.to_string()}}};
}

Error not_active(const ExecutionRecord& record) {
  ErrorContext context{{"terminal_outcome", std::string(name_of(record.state.terminal_outcome))},
                       {"lease_epoch", static_cast<std::int64_t>(record.counters.current_lease_epoch)},
                       {"lifecycle_phase", std::string(name_of(record.state.lifecycle_phase))}};
  if (record.current_attempt_id) context.set("attempt_id", record.current_attempt_id->to_string());
  context.set("execution_id", record.id.to_string());
  std::string message =
      record.is_terminal()
          ? fmt::format("The execution has ended ({}). Its outcome stays as it is.", name_of(record.state.public_state))
          : fmt::format("The execution is not running now: it is {}.", name_of(record.state.public_state));
  return {ErrorCode::execution_not_active, std::move(message), std::move(context)};
}

void read_fenced(const TaskHandle& handle, const Records& in, Reads& out) {
  out.execution(handle.execution_id);
  const ExecutionRecord* record = in.execution(handle.execution_id);
  if (record && record->attempt && record->attempt->attempt_index > handle.attempt_index)
    out.attempt({handle.execution_id, handle.attempt_index});
}

Result<const Attempt*> own_attempt(const TaskHandle& handle, const Records& in) {
  const ExecutionRecord* record = in.execution(handle.execution_id);
  const bool is_elsewhere = record && handle.namespace_scope && record->namespace_() != *handle.namespace_scope;
  if (!record || is_elsewhere) return std::unexpected(not_found(handle.execution_id));
  const Attempt* attempt = in.attempt(handle.execution_id, handle.attempt_index);
  if (!attempt)
    return fail(ErrorCode::attempt_not_found,
                fmt::format("Execution {} has no attempt {}.", handle.execution_id.to_string(), handle.attempt_index),
                {{"execution_id", handle.execution_id.to_string()}});
  if (attempt->attempt_id != handle.attempt_id) return std::unexpected(stale(*record, handle));
  return attempt;
}

bool is_repeat(const Attempt& attempt, const TaskHandle& handle, ReleaseOp op) {
  return attempt.release_op == op && attempt.released_lease_id == handle.lease_id &&
         attempt.released_lease_epoch == handle.lease_epoch;
}

Result<const ExecutionRecord*> holder_check(const TaskHandle& handle, const Records& in, Writes& writes) {
  const ExecutionRecord* record = in.execution(handle.execution_id);
  if (record->state.lifecycle_phase != LifecyclePhase::active) return std::unexpected(not_active(*record));
  if (!holds_current_lease(*record, handle)) return std::unexpected(stale(*record, handle));
  if (record->state.ownership_state == OwnershipState::lease_revoked)
    return fail(ErrorCode::lease_revoked,
                fmt::format("An operator took this lease away ({}). Stop this task.",
                            record->hold.lease_revoke_reason.value_or("operator")),
                {{"execution_id", record->id.to_string()}});
  if (record->state.ownership_state == OwnershipState::lease_expired_reclaimable)
    return std::unexpected(expired(*record));
  if (!record->is_live(writes.now())) {
    ExecutionRecord lost = *record;
    lose_lease(lost, writes);
    Error error = expired(*record);
    writes.update(*record, std::move(lost));
    return std::unexpected(std::move(error));
  }
  return record;
}

Result<const ExecutionRecord*> fence(const TaskHandle& handle, const Records& in, Writes& writes) {
  if (auto attempt = own_attempt(handle, in); !attempt) return std::unexpected(attempt.error());
  return holder_check(handle, in, writes);
}

}  // namespace ff::core
