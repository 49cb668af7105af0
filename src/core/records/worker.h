#pragma once

// The registry of workers.

#include "core/records/document.h"
#include "core/records/queue.h"

namespace ff::core {

/// A worker as it made itself known.
struct WorkerRecord {
  std::string worker_id;
  std::string worker_instance_id;
  std::string namespace_;  ///< empty: it works for all
  std::optional<Uuid> boot_id;
  std::vector<std::string> lanes;
  std::vector<std::string> capabilities;
  std::vector<std::string> kinds;  ///< empty: all
  std::optional<std::uint32_t> max_concurrent_tasks;
  std::optional<std::string> client_version;
  std::uint64_t liveness_ttl_ms = 0;
  TimeMs registered_at_ms = 0;
  TimeMs last_heartbeat_at_ms = 0;
  std::optional<TimeMs> heartbeat_event_at_ms;  ///< when its last event `heartbeat` was written

  bool operator==(const WorkerRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkerRecord, (),
                      (worker_id, worker_instance_id, namespace_, boot_id, lanes, capabilities, kinds,
                       max_concurrent_tasks, client_version, liveness_ttl_ms, registered_at_ms, last_heartbeat_at_ms,
                       heartbeat_event_at_ms))

enum class WorkerEventKind : std::uint8_t { registered, heartbeat, marked_dead, ttl_swept };
BOOST_DESCRIBE_ENUM(WorkerEventKind, registered, heartbeat, marked_dead, ttl_swept)

struct WorkerEventRecord {
  std::string namespace_;
  std::string worker_instance_id;
  WorkerEventKind event_kind = WorkerEventKind::registered;
  TimeMs event_at_ms = 0;
  std::optional<std::string> reason;

  bool operator==(const WorkerEventRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkerEventRecord, (), (namespace_, worker_instance_id, event_kind, event_at_ms, reason))

/// Sorts by namespace, then by instance: neither has blanks.
DocumentId worker_key(std::string_view namespace_, std::string_view worker_instance_id);

TimeMs expires_at(const WorkerRecord& worker);
/// A worker that was silent for too long counts as absent, swept or not.
inline bool is_live(const WorkerRecord& worker, TimeMs now) { return expires_at(worker) > now; }

/// Whether it works on the lane for that namespace.
bool serves(const WorkerRecord& worker, std::string_view lane_id, std::string_view namespace_);
/// Whether it may be given the members of the queue.
bool covers(const WorkerRecord& worker, const Queue& queue);

WorkerInfo to_view(const WorkerRecord& worker);

}  // namespace ff::core
