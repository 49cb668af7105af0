#pragma once

#include "core/caller.h"
#include "core/json.h"
#include "core/records/execution.h"

namespace ff::core {

/// An event on its way into the log. The store gives it its id; what it shares with its execution it points to.
struct EventRecord {
  EventKind kind = EventKind::completion;
  std::uint16_t partition = 0;
  std::optional<ExecutionId> execution_id;
  QueueRef queue;          ///< gives the namespace; null for an event about no execution
  std::string namespace_;  ///< used when there is no queue
  std::shared_ptr<const Tags> tags;
  TimeMs occurred_at_ms = 0;

  TerminalOutcome outcome = TerminalOutcome::none;  ///< completion
  std::optional<CancelSource> cancelled_by;         ///< completion

  LeaseEventType lease_event = LeaseEventType::acquired;  ///< lease
  Uuid lease_id;
  std::uint64_t lease_epoch = 0;
  Uuid attempt_id;
  std::string worker_id;
  std::string worker_instance_id;
  std::string reason;
  std::optional<std::uint32_t> attempt_index;  ///< completion and lease

  std::string event_type;  ///< operator
  std::string actor;
  std::string details;  ///< a JSON object
};

/// The events that rules write.
EventRecord completion_event(const ExecutionRecord& ended, TimeMs now);
/// About the lease that `record` holds; call it before the lease is cleared.
EventRecord lease_event(const ExecutionRecord& record, LeaseEventType type, std::string_view reason, TimeMs now);
/// What an operator did; `details` is added to by where the call came from.
EventRecord operator_event(const ExecutionRecord& record, std::string_view event_type, const Caller& caller,
                           json::object details, TimeMs now);
/// An event about no execution; it stands in the log of partition 0.
EventRecord operator_event(std::string_view namespace_, std::string_view event_type, const Caller& caller,
                           json::object details, TimeMs now);

/// The event as readers see it.
Event to_event(const EventRecord& record, std::int64_t event_id);
/// The inverse, for events that come from another store. `queue` is that of its execution, null when it has none.
EventRecord from_event(const Event& event, QueueRef queue);

/// A lease event and the completion that the same decision wrote after it: a store may keep the two as one.
bool is_pair(const EventRecord& lease, const EventRecord& completion);

}  // namespace ff::core
