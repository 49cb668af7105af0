#pragma once

// What stores share for the audit log.

#include "store/store.h"

namespace ff::store {

/// Whether an operator event belongs into the list.
inline bool matches(const AuditQuery& query, const Event& event) {
  return (!query.namespace_ || *query.namespace_ == event.namespace_) &&
         (!query.actor || (event.actor && *query.actor == *event.actor)) &&
         (!query.event_type || *query.event_type == event.event_type) &&
         (!query.execution_id || query.execution_id == event.execution_id) &&
         (!query.since_ms || event.occurred_at_ms >= *query.since_ms);
}

/// A page of the list while it is put together from events that come newest first.
class AuditPage {
 public:
  explicit AuditPage(const AuditQuery& query) : query_(query) {}

  /// Takes the next event, which stands at that place; false when the page is full.
  bool add(Event event, std::string place) {
    if (query_.since_ms && event.occurred_at_ms < *query_.since_ms) return false;
    ++walked_;
    if (matches(query_, event)) walk_.items.push_back(std::move(event));
    const bool full = walk_.items.size() == query_.limit || walked_ == kListWalkMax;
    if (full) walk_.next = std::move(place);
    return !full;
  }
  Walk<Event> take() { return std::move(walk_); }

 private:
  const AuditQuery& query_;
  Walk<Event> walk_;
  std::uint32_t walked_ = 0;
};

}  // namespace ff::store
