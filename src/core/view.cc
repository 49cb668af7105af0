#include "core/view.h"

#include <algorithm>

namespace ff::core {

Execution to_view(const ExecutionRecord& record, const ExecutionInfo& info) {
  Execution view;
  view.execution_id = record.id;
  view.namespace_ = record.queue->namespace_;
  view.lane_id = record.queue->lane_id;
  view.execution_kind = record.queue->execution_kind;
  view.creator_identity = info.creator_identity;
  view.idempotency_key = info.idempotency_key;
  view.traceparent = info.traceparent;
  view.priority = record.priority;
  view.required_capabilities = record.queue->required_capabilities;
  view.queue_class = record.queue->queue_class;
  view.policy = *info.policy;
  if (record.tags) view.tags = *record.tags;
  view.payload_bytes = info.payload_bytes;
  view.payload_content_type = info.payload_content_type;
  view.state = record.state;
  view.hold = record.hold;
  view.counters = record.counters;
  view.timers = record.timers;
  view.times = record.times;
  view.progress = record.progress;
  view.ending = record.ending;
  if (record.attempt)
    view.current_attempt =
        AttemptRef{record.attempt->attempt_index, record.attempt->attempt_id, record.attempt->attempt_type};
  if (record.is_leased() && record.lease)
    view.lease = LeaseInfo{record.lease->current_lease_id,
                           record.counters.current_lease_epoch,
                           record.lease->current_worker_id,
                           record.lease->current_worker_instance_id,
                           record.lease->lease_acquired_at_ms,
                           record.lease->lease_expires_at_ms,
                           record.lease->lease_last_renewed_at_ms};
  view.version = record.version;
  return view;
}

ExecutionSummary summarize(const ExecutionRecord& record) {
  ExecutionSummary item;
  item.execution_id = record.id;
  item.namespace_ = record.queue->namespace_;
  item.lane_id = record.queue->lane_id;
  item.execution_kind = record.queue->execution_kind;
  item.public_state = record.state.public_state;
  item.blocking_reason = record.state.blocking_reason;
  item.priority = record.priority;
  if (record.tags) item.tags = *record.tags;
  item.created_at_ms = record.times.created_at_ms;
  item.started_at_ms = record.times.started_at_ms;
  item.completed_at_ms = record.times.completed_at_ms;
  item.total_attempt_count = record.counters.total_attempt_count;
  return item;
}

LeaseItem lease_item(const ExecutionRecord& record) {
  LeaseItem item;
  item.execution_id = record.id;
  item.lease_id = record.lease->current_lease_id;
  item.lease_epoch = record.counters.current_lease_epoch;
  item.worker_instance_id = record.lease->current_worker_instance_id;
  item.expires_at_ms = record.lease->lease_expires_at_ms;
  item.attempt_index = record.attempt->attempt_index;
  item.namespace_ = record.queue->namespace_;
  item.lane_id = record.queue->lane_id;
  return item;
}

bool matches(const ExecutionRecord& record, const ExecutionFilter& filter) {
  if (filter.namespace_ && *filter.namespace_ != record.queue->namespace_) return false;
  if (filter.lane && *filter.lane != record.queue->lane_id) return false;
  if (filter.kind && *filter.kind != record.queue->execution_kind) return false;
  if (filter.flow_id) return false;
  if (!filter.state.empty() &&
      std::find(filter.state.begin(), filter.state.end(), record.state.public_state) == filter.state.end())
    return false;
  if (filter.blocking_reason && *filter.blocking_reason != record.state.blocking_reason) return false;
  if (filter.worker &&
      !(record.is_leased() && record.lease && record.lease->current_worker_instance_id == *filter.worker))
    return false;
  if (filter.created_after_ms && record.times.created_at_ms <= *filter.created_after_ms) return false;
  if (filter.created_before_ms && record.times.created_at_ms >= *filter.created_before_ms) return false;
  for (const auto& [key, value] : filter.tags) {
    if (!record.tags) return false;
    const auto it = record.tags->find(key);
    if (it == record.tags->end() || it->second != value) return false;
  }
  return true;
}

}  // namespace ff::core
