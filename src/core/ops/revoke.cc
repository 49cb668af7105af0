#include "core/ops/revoke.h"

#include "core/lease.h"
#include "core/ops/visible.h"

namespace ff::core {
namespace {

Revoked nothing_to_revoke(std::string_view why) { return {std::nullopt, 0, std::string(why)}; }

}  // namespace

void reads(const Revoke& op, const Records&, Reads& out) { out.execution(op.request.execution_id); }

Decision<Revoked> decide(const Revoke& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto found = visible(in, op.request.execution_id, op.caller);
  if (!found) return {std::unexpected(found.error()), std::move(writes)};
  const ExecutionRecord& record = **found;
  if (record.state.lifecycle_phase != LifecyclePhase::active)
    return {nothing_to_revoke("no_active_lease"), std::move(writes)};
  if (record.state.ownership_state == OwnershipState::lease_revoked)
    return {nothing_to_revoke("already_revoked"), std::move(writes)};
  if (record.state.ownership_state == OwnershipState::lease_expired_reclaimable)
    return {nothing_to_revoke("already_expired"), std::move(writes)};
  if (!record.is_live(now)) {
    ExecutionRecord lost = record;
    lose_lease(lost, writes);
    writes.update(record, std::move(lost));
    return {nothing_to_revoke("already_expired"), std::move(writes)};
  }
  if (op.request.worker_instance_id && *op.request.worker_instance_id != record.lease->current_worker_instance_id)
    return {nothing_to_revoke("different_worker_instance_id"), std::move(writes)};
  if (op.request.expected_lease_id && *op.request.expected_lease_id != record.lease->current_lease_id)
    return {nothing_to_revoke("lease_id_mismatch"), std::move(writes)};

  const std::string reason = op.request.reason.value_or("operator");
  ExecutionRecord revoked = record;
  writes.append(lease_event(record, LeaseEventType::revoked, reason, now));
  revoked.state.ownership_state = OwnershipState::lease_revoked;
  revoked.state.blocking_reason = BlockingReason::waiting_for_worker;
  revoked.state.attempt_state = AttemptState::attempt_interrupted;
  revoked.hold.blocking_detail = fmt::format("lease revoked: {}", reason);
  revoked.hold.interrupt_kind = InterruptKind::lease_lost;
  revoked.hold.lease_revoked_at_ms = now;
  revoked.hold.lease_revoke_reason = reason;
  revoked.attempt->released_lease_id = record.lease->current_lease_id;
  revoked.attempt->released_lease_epoch = record.counters.current_lease_epoch;
  revoked.attempt->release_op = ReleaseOp::revoke;
  revoked.attempt->release_delay_until_ms.reset();
  writes.append(operator_event(record, "lease_revoked", op.caller, reason_details(reason), now));
  const Revoked reply{record.lease->current_lease_id, record.counters.current_lease_epoch, {}};
  writes.update(record, std::move(revoked));
  return {reply, std::move(writes)};
}

}  // namespace ff::core
