#include "store/packed_event.h"

#include "core/ids.h"
#include "core/json.h"
#include "store/packed_row.h"

namespace ff::store {

IdBytes::IdBytes(const ExecutionId& id) {
  std::copy(id.uuid.bytes.begin(), id.uuid.bytes.end(), bytes_.begin());
  bytes_[16] = static_cast<char>(id.partition >> 8);
  bytes_[17] = static_cast<char>(id.partition & 0xff);
}

ExecutionId id_from(std::string_view bytes) {
  ExecutionId id;
  if (bytes.size() != 18) return id;
  std::copy_n(bytes.begin(), 16, id.uuid.bytes.begin());
  id.partition =
      static_cast<std::uint16_t>((static_cast<std::uint8_t>(bytes[16]) << 8) | static_cast<std::uint8_t>(bytes[17]));
  return id;
}

namespace {

// Where each fact stands in the column `what`; lease event and source are one more than their number, 0 is none.
constexpr StateBits kKindBits{0, 2}, kLeaseEventBits{2, 3}, kEventOutcomeBits{5, 3}, kCancelledByBits{8, 3};

Result<void> unpack_extra(std::string_view text, core::EventRecord& event) {
  if (text.empty()) return {};
  auto parsed = core::parse_json(text);
  if (!parsed || !parsed->is_object()) return std::unexpected(core::corruption("ff_event", "extra", "not JSON"));
  const boost::json::object& extra = parsed->get_object();
  auto take = [&](std::string_view name, auto& to) {
    const boost::json::value* item = extra.if_contains(name);
    core::JsonReader reader;
    return !item || reader.read(*item, to);
  };
  Tags tags;
  const bool good = take("tags", tags) && take("namespace", event.namespace_) && take("partition", event.partition) &&
                    take("event_type", event.event_type) && take("actor", event.actor) &&
                    take("details", event.details);
  if (!good) return std::unexpected(core::corruption("ff_event", "extra", text));
  if (!tags.empty()) event.tags = std::make_shared<const Tags>(std::move(tags));
  return {};
}

}  // namespace

EventRow event_row(const std::deque<core::EventRecord>& events, std::size_t at) {
  const core::EventRecord& first = events[at];
  const bool pair = at + 1 < events.size() && core::is_pair(first, events[at + 1]);
  return pair ? EventRow{&first, &events[at + 1]} : EventRow{nullptr, &first};
}

const core::EventRecord* lease_of(const EventRow& row) {
  if (row.lease) return row.lease;
  return row.event->kind == EventKind::lease ? row.event : nullptr;
}

std::int64_t pack_what(const EventRow& row) {
  const core::EventRecord& event = *row.event;
  std::int64_t what = static_cast<std::int64_t>(event.kind) << kKindBits.shift;
  if (const core::EventRecord* lease = lease_of(row))
    what |= (static_cast<std::int64_t>(lease->lease_event) + 1) << kLeaseEventBits.shift;
  if (event.kind == EventKind::completion) what |= static_cast<std::int64_t>(event.outcome) << kEventOutcomeBits.shift;
  if (event.cancelled_by) what |= (static_cast<std::int64_t>(*event.cancelled_by) + 1) << kCancelledByBits.shift;
  return what;
}

std::string pack_extra(const core::EventRecord& event) {
  if (!event.tags && event.queue && event.event_type.empty()) return {};
  boost::json::object extra;
  if (event.tags) extra["tags"] = core::to_value(*event.tags);
  if (!event.queue) extra["namespace"] = event.namespace_;
  if (!event.execution_id) extra["partition"] = event.partition;
  if (!event.event_type.empty()) extra["event_type"] = event.event_type;
  if (!event.actor.empty()) extra["actor"] = event.actor;
  if (!event.details.empty()) extra["details"] = event.details;
  return boost::json::serialize(extra);
}

Result<std::vector<Event>> unpack_events(const PackedEvent& row) {
  std::vector<Event> read;
  core::EventRecord event;
  event.kind = static_cast<EventKind>(get_bits(row.what, kKindBits));
  event.execution_id = row.execution_id;
  if (row.execution_id) event.partition = row.execution_id->partition;
  event.queue = row.queue;
  event.occurred_at_ms = row.occurred_at_ms;
  event.attempt_index = row.attempt_index;
  if (auto extra = unpack_extra(row.extra, event); !extra) return std::unexpected(extra.error());
  if (const std::int64_t type = get_bits(row.what, kLeaseEventBits); type > 0) {
    core::EventRecord lease = event;
    const std::size_t newline = row.worker.find('\n');
    if (row.lease.size() != 32 || newline == std::string_view::npos ||
        type - 1 > static_cast<std::int64_t>(LeaseEventType::released))
      return std::unexpected(core::corruption("ff_event", "lease", std::to_string(row.event_id)));
    lease.kind = EventKind::lease;
    lease.lease_event = static_cast<LeaseEventType>(type - 1);
    std::copy_n(row.lease.begin(), 16, lease.lease_id.bytes.begin());
    std::copy_n(row.lease.begin() + 16, 16, lease.attempt_id.bytes.begin());
    lease.lease_epoch = row.lease_epoch;
    lease.worker_id = row.worker.substr(0, newline);
    lease.worker_instance_id = row.worker.substr(newline + 1);
    lease.reason = row.reason;
    read.push_back(core::to_event(lease, row.event_id - (event.kind == EventKind::lease ? 0 : 1)));
    if (event.kind == EventKind::lease) return read;
  }
  if (event.kind == EventKind::completion) {
    const std::int64_t outcome = get_bits(row.what, kEventOutcomeBits), source = get_bits(row.what, kCancelledByBits);
    if (outcome > static_cast<std::int64_t>(TerminalOutcome::skipped) ||
        source - 1 > static_cast<std::int64_t>(CancelSource::system_timeout))
      return std::unexpected(core::corruption("ff_event", "what", std::to_string(row.what)));
    event.outcome = static_cast<TerminalOutcome>(outcome);
    if (source > 0) event.cancelled_by = static_cast<CancelSource>(source - 1);
  }
  read.push_back(core::to_event(event, row.event_id));
  return read;
}

}  // namespace ff::store
