#include "core/records/event.h"

namespace ff::core {
namespace {

EventRecord about(const ExecutionRecord& record, EventKind kind, TimeMs now) {
  EventRecord event;
  event.kind = kind;
  event.partition = record.id.partition;
  event.execution_id = record.id;
  event.queue = record.queue;
  event.tags = record.tags;
  event.occurred_at_ms = now;
  return event;
}

void set_act(EventRecord& event, std::string_view event_type, const Caller& caller, json::object details) {
  if (!caller.request_id.empty()) details["request_id"] = caller.request_id;
  if (!caller.remote.empty()) details["remote"] = caller.remote;
  event.event_type = event_type;
  event.actor = caller.actor;
  event.details = json::serialize(details);
}

}  // namespace

EventRecord completion_event(const ExecutionRecord& ended, TimeMs now) {
  EventRecord event = about(ended, EventKind::completion, now);
  event.outcome = ended.state.terminal_outcome;
  event.cancelled_by = ended.ending.cancelled_by;
  if (ended.attempt) event.attempt_index = ended.attempt->attempt_index;
  return event;
}

EventRecord lease_event(const ExecutionRecord& record, LeaseEventType type, std::string_view reason, TimeMs now) {
  EventRecord event = about(record, EventKind::lease, now);
  event.lease_event = type;
  event.lease_id = record.lease->current_lease_id;
  event.lease_epoch = record.counters.current_lease_epoch;
  event.attempt_index = record.attempt->attempt_index;
  event.attempt_id = record.attempt->attempt_id;
  event.worker_id = record.lease->current_worker_id;
  event.worker_instance_id = record.lease->current_worker_instance_id;
  event.reason = reason;
  return event;
}

EventRecord operator_event(const ExecutionRecord& record, std::string_view event_type, const Caller& caller,
                           json::object details, TimeMs now) {
  EventRecord event = about(record, EventKind::operator_, now);
  set_act(event, event_type, caller, std::move(details));
  return event;
}

EventRecord operator_event(std::string_view namespace_, std::string_view event_type, const Caller& caller,
                           json::object details, TimeMs now) {
  EventRecord event;
  event.kind = EventKind::operator_;
  event.namespace_ = namespace_;
  event.occurred_at_ms = now;
  set_act(event, event_type, caller, std::move(details));
  return event;
}

Event to_event(const EventRecord& record, std::int64_t event_id) {
  auto text = [](const std::string& value) { return value.empty() ? std::nullopt : std::optional(value); };
  Event event;
  event.partition = record.partition;
  event.event_id = event_id;
  event.kind = record.kind;
  event.execution_id = record.execution_id;
  event.namespace_ = record.queue ? record.queue->namespace_ : record.namespace_;
  if (record.tags) event.tags = *record.tags;
  event.occurred_at_ms = record.occurred_at_ms;
  event.attempt_index = record.attempt_index;
  switch (record.kind) {
    case EventKind::completion:
      event.outcome = record.outcome;
      event.cancelled_by = record.cancelled_by;
      break;
    case EventKind::lease:
      event.event_type = name_of(record.lease_event);
      event.lease_id = record.lease_id;
      event.lease_epoch = record.lease_epoch;
      event.attempt_id = record.attempt_id;
      event.worker_id = record.worker_id;
      event.worker_instance_id = record.worker_instance_id;
      event.reason = text(record.reason);
      break;
    case EventKind::signal: break;
    case EventKind::operator_:
      event.event_type = record.event_type;
      event.actor = record.actor;
      event.details = text(record.details);
      break;
  }
  return event;
}

EventRecord from_event(const Event& event, QueueRef queue) {
  EventRecord record;
  record.kind = event.kind;
  record.partition = event.partition;
  record.execution_id = event.execution_id;
  record.queue = std::move(queue);
  record.namespace_ = event.namespace_;
  if (!event.tags.empty()) record.tags = std::make_shared<const Tags>(event.tags);
  record.occurred_at_ms = event.occurred_at_ms;
  record.attempt_index = event.attempt_index;
  record.outcome = event.outcome.value_or(TerminalOutcome::none);
  record.cancelled_by = event.cancelled_by;
  if (event.kind == EventKind::lease)
    record.lease_event = enum_from<LeaseEventType>(event.event_type).value_or(LeaseEventType::acquired);
  else
    record.event_type = event.event_type;
  record.lease_id = event.lease_id.value_or(Uuid{});
  record.lease_epoch = event.lease_epoch.value_or(0);
  record.attempt_id = event.attempt_id.value_or(Uuid{});
  record.worker_id = event.worker_id.value_or("");
  record.worker_instance_id = event.worker_instance_id.value_or("");
  record.reason = event.reason.value_or("");
  record.actor = event.actor.value_or("");
  record.details = event.details.value_or("");
  return record;
}

bool is_pair(const EventRecord& lease, const EventRecord& completion) {
  const bool same_tags = lease.tags == completion.tags || (lease.tags && completion.tags && *lease.tags == *completion.tags);
  return lease.kind == EventKind::lease && completion.kind == EventKind::completion &&
         lease.execution_id == completion.execution_id && lease.occurred_at_ms == completion.occurred_at_ms &&
         lease.attempt_index == completion.attempt_index && same_tags;
}

}  // namespace ff::core
