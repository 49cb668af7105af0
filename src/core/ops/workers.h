#pragma once

#include "core/operation.h"
#include "core/records/worker.h"

namespace ff::core {

/// How much of the time to live may pass before the next sign of life is wanted: a third.
inline constexpr std::uint64_t kHeartbeatPart = 3;
/// An instance has at most one event `heartbeat` in so long.
inline constexpr std::uint64_t kHeartbeatEventMs = 60'000;
/// How long the events of the registry are kept.
struct WorkerEvents {
  Uuid event_id;  ///< for the event that the operation may write
  std::uint64_t retention_ms = 86'400'000;
};

/// Makes a worker known, or brings what is known of it up to date. An instance that lives belongs to its pool.
struct RegisterWorkerOp {
  using Reply = WorkerRegistered;
  static constexpr std::string_view kName = "register_worker";

  WorkerRecord worker;  ///< as given; the times are the operation's
  WorkerEvents events;
};
void reads(const RegisterWorkerOp& op, const Records& in, Reads& out);
Decision<WorkerRegistered> decide(const RegisterWorkerOp& op, const Records& in, TimeMs now);

/// A sign of life. One that has been silent for too long is not revived: it has to register.
struct HeartbeatWorkerOp {
  using Reply = WorkerAlive;
  static constexpr std::string_view kName = "heartbeat_worker";

  std::string namespace_;
  std::string worker_instance_id;
  WorkerEvents events;
};
void reads(const HeartbeatWorkerOp& op, const Records& in, Reads& out);
Decision<WorkerAlive> decide(const HeartbeatWorkerOp& op, const Records& in, TimeMs now);

/// A claim is a sign of life too: who is not known is registered with what the claim says, and who was not heard of for
/// a third of its time to live is refreshed.
struct NoteClaimer {
  using Reply = bool;
  static constexpr std::string_view kName = "note_claimer";

  WorkerRecord worker;
  WorkerEvents events;
};
void reads(const NoteClaimer& op, const Records& in, Reads& out);
Decision<bool> decide(const NoteClaimer& op, const Records& in, TimeMs now);

/// Strikes a worker off the list; its leases are left alone.
struct MarkWorkerDeadOp {
  using Reply = WorkerMarkedDead;
  static constexpr std::string_view kName = "mark_worker_dead";

  Caller caller;
  std::string namespace_;
  std::string worker_instance_id;
  std::string reason;
  WorkerEvents events;
};
void reads(const MarkWorkerDeadOp& op, const Records& in, Reads& out);
Decision<WorkerMarkedDead> decide(const MarkWorkerDeadOp& op, const Records& in, TimeMs now);

/// A worker that ends in order takes itself off the list; it holds nothing any more. Who is not on it is done already.
struct DeregisterWorkerOp {
  using Reply = Done;
  static constexpr std::string_view kName = "deregister_worker";

  std::string namespace_;
  std::string worker_instance_id;
  WorkerEvents events;
};
void reads(const DeregisterWorkerOp& op, const Records& in, Reads& out);
Decision<Done> decide(const DeregisterWorkerOp& op, const Records& in, TimeMs now);

/// The time of a worker is over: its record goes, and one event says so. Of a sweep and an operator one does it.
struct SweepWorker {
  using Reply = bool;
  static constexpr std::string_view kName = "sweep_worker";

  DocumentId id;
  WorkerEvents events;
};
void reads(const SweepWorker& op, const Records& in, Reads& out);
Decision<bool> decide(const SweepWorker& op, const Records& in, TimeMs now);

}  // namespace ff::core
