#include "core/records/worker.h"

#include "core/lease.h"

#include <algorithm>

namespace ff::core {
namespace {

bool has(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

DocumentId worker_key(std::string_view namespace_, std::string_view worker_instance_id) {
  return {DocumentKind::worker, fmt::format("{} {}", namespace_, worker_instance_id)};
}

TimeMs expires_at(const WorkerRecord& worker) { return add_ms(worker.last_heartbeat_at_ms, worker.liveness_ttl_ms); }

bool serves(const WorkerRecord& worker, std::string_view lane_id, std::string_view namespace_) {
  return has(worker.lanes, lane_id) && (worker.namespace_.empty() || worker.namespace_ == namespace_);
}

bool covers(const WorkerRecord& worker, const Queue& queue) {
  const auto& required = queue.required_capabilities;
  return serves(worker, queue.lane_id, queue.namespace_) &&
         (worker.kinds.empty() || has(worker.kinds, queue.execution_kind)) &&
         std::all_of(required.begin(), required.end(), [&](const auto& token) { return has(worker.capabilities, token); });
}

WorkerInfo to_view(const WorkerRecord& worker) {
  WorkerInfo info;
  info.worker_id = worker.worker_id;
  info.worker_instance_id = worker.worker_instance_id;
  if (!worker.namespace_.empty()) info.namespace_ = worker.namespace_;
  info.lanes = worker.lanes;
  info.capabilities = worker.capabilities;
  info.kinds = worker.kinds;
  info.max_concurrent_tasks = worker.max_concurrent_tasks;
  info.client_version = worker.client_version;
  info.boot_id = worker.boot_id;
  info.liveness_ttl_ms = worker.liveness_ttl_ms;
  info.registered_at_ms = worker.registered_at_ms;
  info.last_heartbeat_at_ms = worker.last_heartbeat_at_ms;
  return info;
}

}  // namespace ff::core
