#pragma once

#include "store/store.h"

#include <mutex>
#include <set>

namespace ff::store {

/// Everything that a memory store holds: plain maps, and sets for the access paths, kept by the index functions.
/// Guarded by `mutex`; every function expects it to be held.
class MemoryData {
 public:
  struct Row {
    ExecutionRecord record;
    ExecutionInfo info;
    core::SharedBytes payload;
    std::optional<core::ResultPart> result;
  };
  struct StoredEvent {
    std::int64_t event_id = 0;
    core::EventRecord event;
  };
  struct QueueName {
    std::string lane_id, namespace_, queue_class;
    auto operator<=>(const QueueName&) const = default;
  };

  std::mutex mutex;
  std::optional<core::Dataset> dataset;
  std::map<ExecutionId, Row> executions;
  std::map<core::AttemptKey, Attempt> attempts;
  std::map<std::string, Lane> lanes;
  std::map<core::IdempotencyId, core::IdempotencyRecord> keys;
  std::map<core::DocumentId, core::Document> documents;
  std::deque<StoredEvent> events;
  std::map<ExecutionId, std::vector<std::int64_t>> events_of;
  std::int64_t last_event_id = 0;

  std::map<QueueName, std::set<OrderKey>> queues;
  std::set<std::pair<TimeMs, ExecutionId>> due;
  std::set<std::pair<TimeMs, ExecutionId>> retention;
  std::set<std::pair<TimeMs, ExecutionId>> by_created;
  std::set<OrderKey> raised;  ///< those whose priority is above 0

  static QueueName name_of(const core::Queue& queue) { return {queue.lane_id, queue.namespace_, queue.queue_class}; }

  /// Writes the changes of a working set, indexes and events included.
  void save(const core::WorkingSet& set);
  std::uint64_t trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit);

 private:
  void index(const ExecutionRecord& record);
  void unindex(const ExecutionRecord& record);
  void append(const core::EventRecord& event);
};

}  // namespace ff::store
