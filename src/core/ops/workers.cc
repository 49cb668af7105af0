#include "core/ops/workers.h"

#include "core/lease.h"

namespace ff::core {
namespace {

void append(Writes& writes, const WorkerRecord& worker, WorkerEventKind kind, const WorkerEvents& events,
            std::optional<std::string> reason = std::nullopt) {
  const TimeMs now = writes.now();
  const WorkerEventRecord event{worker.namespace_, worker.worker_instance_id, kind, now, std::move(reason)};
  writes.document(make_document({DocumentKind::worker_event, events.event_id.to_string()}, event,
                                add_ms(now, events.retention_ms)));
}

void save(Writes& writes, const WorkerRecord& worker) {
  writes.document(
      make_document(worker_key(worker.namespace_, worker.worker_instance_id), worker, expires_at(worker)));
}

/// What is stored of it, if it lives. A record that cannot be read counts as none: the next one replaces it.
std::optional<WorkerRecord> live(const Records& in, const DocumentId& id, TimeMs now) {
  const Document* document = in.document(id);
  if (!document) return std::nullopt;
  auto worker = read_document<WorkerRecord>(*document);
  if (!worker || !is_live(*worker, now)) return std::nullopt;
  return std::move(*worker);
}

DocumentId id_of(const WorkerRecord& worker) { return worker_key(worker.namespace_, worker.worker_instance_id); }

Error not_registered(std::string_view worker_instance_id) {
  return {ErrorCode::worker_not_found,
          fmt::format("There is no live worker '{}'. A worker that was silent for too long registers again.",
                      worker_instance_id),
          {{"worker_instance_id", std::string(worker_instance_id)}}};
}

WorkerRegistered enter(Writes& writes, WorkerRecord worker, const std::optional<WorkerRecord>& known,
                       const WorkerEvents& events) {
  worker.registered_at_ms = known ? known->registered_at_ms : writes.now();
  worker.last_heartbeat_at_ms = writes.now();
  if (known) worker.heartbeat_event_at_ms = known->heartbeat_event_at_ms;
  append(writes, worker, WorkerEventKind::registered, events);
  save(writes, worker);
  return {known ? RegisterStatus::refreshed : RegisterStatus::registered, expires_at(worker),
          worker.liveness_ttl_ms / kHeartbeatPart};
}

WorkerAlive refresh(Writes& writes, WorkerRecord worker, const WorkerEvents& events) {
  worker.last_heartbeat_at_ms = writes.now();
  const TimeMs last = worker.heartbeat_event_at_ms.value_or(worker.registered_at_ms);
  if (add_ms(last, kHeartbeatEventMs) <= writes.now()) {
    worker.heartbeat_event_at_ms = writes.now();
    append(writes, worker, WorkerEventKind::heartbeat, events);
  }
  save(writes, worker);
  return {expires_at(worker)};
}

}  // namespace

void reads(const RegisterWorkerOp& op, const Records&, Reads& out) { out.document(id_of(op.worker)); }

Decision<WorkerRegistered> decide(const RegisterWorkerOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const auto known = live(in, id_of(op.worker), now);
  if (known && known->worker_id != op.worker.worker_id)
    return {std::unexpected(invalid_input(
                "worker_instance_id", "instance_id reassigned",
                fmt::format("The instance '{}' lives and belongs to '{}'. Give each process an instance id of its own.",
                            op.worker.worker_instance_id, known->worker_id))),
            std::move(writes)};
  const WorkerRegistered reply = enter(writes, op.worker, known, op.events);
  return {reply, std::move(writes)};
}

void reads(const HeartbeatWorkerOp& op, const Records&, Reads& out) {
  out.document(worker_key(op.namespace_, op.worker_instance_id));
}

Decision<WorkerAlive> decide(const HeartbeatWorkerOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const auto known = live(in, worker_key(op.namespace_, op.worker_instance_id), now);
  if (!known) return {std::unexpected(not_registered(op.worker_instance_id)), std::move(writes)};
  const WorkerAlive reply = refresh(writes, *known, op.events);
  return {reply, std::move(writes)};
}

void reads(const NoteClaimer& op, const Records&, Reads& out) { out.document(id_of(op.worker)); }

Decision<bool> decide(const NoteClaimer& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const auto known = live(in, id_of(op.worker), now);
  if (!known) {
    enter(writes, op.worker, known, op.events);
    return {true, std::move(writes)};
  }
  if (add_ms(known->last_heartbeat_at_ms, known->liveness_ttl_ms / kHeartbeatPart) > now)
    return {false, std::move(writes)};
  refresh(writes, *known, op.events);
  return {true, std::move(writes)};
}

void reads(const MarkWorkerDeadOp& op, const Records&, Reads& out) {
  out.document(worker_key(op.namespace_, op.worker_instance_id));
}

Decision<WorkerMarkedDead> decide(const MarkWorkerDeadOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const DocumentId id = worker_key(op.namespace_, op.worker_instance_id);
  const auto known = live(in, id, now);
  if (!known) return {std::unexpected(not_registered(op.worker_instance_id)), std::move(writes)};
  writes.erase(id);
  append(writes, *known, WorkerEventKind::marked_dead, op.events, op.reason);
  json::object details{{"worker_instance_id", op.worker_instance_id}, {"reason", op.reason}};
  writes.append(operator_event(op.namespace_.empty() ? "default" : op.namespace_, "worker_marked_dead", op.caller,
                               std::move(details), now));
  return {WorkerMarkedDead{}, std::move(writes)};
}

void reads(const DeregisterWorkerOp& op, const Records&, Reads& out) {
  out.document(worker_key(op.namespace_, op.worker_instance_id));
}

Decision<Done> decide(const DeregisterWorkerOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const DocumentId id = worker_key(op.namespace_, op.worker_instance_id);
  const auto known = live(in, id, now);
  if (!known) return {Done{}, std::move(writes)};  // a lapsed record is the sweep's, with the event that says so
  writes.erase(id);
  append(writes, *known, WorkerEventKind::marked_dead, op.events, "shutdown");
  return {Done{}, std::move(writes)};
}

void reads(const SweepWorker& op, const Records&, Reads& out) { out.document(op.id); }

Decision<bool> decide(const SweepWorker& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const Document* document = in.document(op.id);
  if (!document || !document->due_at_ms || *document->due_at_ms > now) return {false, std::move(writes)};
  writes.erase(op.id);
  if (auto worker = read_document<WorkerRecord>(*document)) append(writes, *worker, WorkerEventKind::ttl_swept, op.events);
  return {true, std::move(writes)};
}

}  // namespace ff::core
