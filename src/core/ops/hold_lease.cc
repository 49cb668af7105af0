#include "core/ops/hold_lease.h"

#include "core/fence.h"
#include "core/lease.h"

namespace ff::core {

void reads(const Renew& op, const Records& in, Reads& out) { read_fenced(op.handle, in, out); }

Decision<LeaseRenewed> decide(const Renew& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto held = fence(op.handle, in, writes);
  if (!held) return {std::unexpected(held.error()), std::move(writes)};

  ExecutionRecord renewed = **held;
  LeaseFields& lease = *renewed.lease;
  if (op.lease_ttl_ms) lease.lease_ttl_ms = *op.lease_ttl_ms;
  lease.lease_last_renewed_at_ms = now;
  lease.lease_expires_at_ms = add_ms(now, lease.lease_ttl_ms);
  lease.lease_renewal_deadline_ms = add_ms(now, lease.lease_ttl_ms * 2ULL / 3);
  if (op.write_event) writes.append(lease_event(renewed, LeaseEventType::renewed, "", now));
  const LeaseRenewed reply{lease.lease_expires_at_ms, renewed.counters.current_lease_epoch};
  writes.update(**held, std::move(renewed));
  return {reply, std::move(writes)};
}

void reads(const ReportProgressOp& op, const Records& in, Reads& out) { read_fenced(op.handle, in, out); }

Decision<Done> decide(const ReportProgressOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  auto held = fence(op.handle, in, writes);
  if (!held) return {std::unexpected(held.error()), std::move(writes)};
  if (!op.progress_pct && !op.progress_message) return {Done{}, std::move(writes)};

  ExecutionRecord changed = **held;
  if (op.progress_pct) changed.progress.progress_pct = op.progress_pct;
  if (op.progress_message) changed.progress.progress_message = op.progress_message;
  changed.progress.progress_updated_at_ms = now;
  writes.update(**held, std::move(changed));
  return {Done{}, std::move(writes)};
}

}  // namespace ff::core
