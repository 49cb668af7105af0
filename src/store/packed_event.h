#pragma once

// How SQL stores keep the event log: one narrow row for what most events have, and one column for the rest.

#include "core/records/event.h"

#include <flowfabric/error.h>

#include <array>
#include <deque>

namespace ff::store {

/// An execution id as it is stored: the uuid, then the partition. Sorts like the id.
class IdBytes {
 public:
  explicit IdBytes(const ExecutionId& id);
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, 18> bytes_;
};
ExecutionId id_from(std::string_view bytes);

/// One stored row of the log: a single event, or a lease event and the completion that followed it at once.
struct EventRow {
  const core::EventRecord* lease = nullptr;  ///< set when the row carries two
  const core::EventRecord* event = nullptr;
};
/// The row that begins with `events[at]`.
EventRow event_row(const std::deque<core::EventRecord>& events, std::size_t at);
/// The lease event of a row, if it has one.
const core::EventRecord* lease_of(const EventRow& row);
/// Kind, lease event, outcome and source of a cancel in one number.
std::int64_t pack_what(const EventRow& row);
/// What few events have, as JSON; empty when this one has none of it.
std::string pack_extra(const core::EventRecord& event);

/// A row as it was read; views point into the driver's memory.
struct PackedEvent {
  std::int64_t event_id = 0;
  std::optional<ExecutionId> execution_id;
  core::QueueRef queue;
  TimeMs occurred_at_ms = 0;
  std::int64_t what = 0;
  std::optional<std::uint32_t> attempt_index;
  std::uint64_t lease_epoch = 0;
  std::string_view lease;   ///< lease id and attempt id
  std::string_view worker;  ///< `<worker_id>\n<worker_instance_id>`
  std::string_view reason;
  std::string_view extra;
};
/// The one or two events of a row, in order. A row with both a lease event and an outcome is two events: the lease
/// event has the id below the row's.
Result<std::vector<Event>> unpack_events(const PackedEvent& row);

}  // namespace ff::store
