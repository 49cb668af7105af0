#include "store/redis/events.h"

#include "core/bytes.h"
#include "core/ids.h"
#include "store/packed_row.h"
#include "store/redis/layout.h"
#include "store/redis/packer.h"

#include <charconv>

namespace ff::store::redis {
namespace {

// Where each fact stands in `what`; lease event and source are one more than their number, 0 is none.
constexpr StateBits kKindBits{0, 2}, kLeaseEventBits{2, 3}, kEventOutcomeBits{5, 3}, kCancelledByBits{8, 3};

// What the body has besides what every event has.
constexpr std::uint64_t kHasExecution = 1, kHasAttempt = 2, kHasTags = 4, kHasOperator = 8;

// How far apart the events of an entry may lie: it is removed as a whole.
constexpr TimeMs kEntrySpanMs = 1'000;

// Before the body of each event stand its place and the size of the rest, then where the event before it is: what that
// is named by, its entry and its place. Behind the body of an operator's event stands where the operator's event before
// it is. flowfabric.lua follows these.
using Place16 = std::uint16_t;
using Size32 = std::uint32_t;
using Entry64 = std::uint64_t;
constexpr std::size_t kHeadBytes = sizeof(Place16) + sizeof(Size32);
constexpr std::size_t kLinkBytes = 1 + sizeof(Entry64) + sizeof(Place16);
enum class Named : char { none = 0, in_log = 1, entries_back = 2 };

void put_link(std::string& out, const EventPlace& stored, const std::optional<EventEntries::At>& here,
              std::size_t entry) {
  out.push_back(static_cast<char>(here ? Named::entries_back : stored.entry > 0 ? Named::in_log : Named::none));
  core::put(out, here ? Entry64{entry - here->entry} : static_cast<Entry64>(stored.entry));
  core::put(out, static_cast<Place16>(here ? here->place : stored.place));
}

template <class Enum>
bool to_enum(std::int64_t number, Enum last, Enum& to) {
  to = static_cast<Enum>(number);
  return number >= 0 && number <= static_cast<std::int64_t>(last);
}

const core::EventRecord* lease_part(const core::EventRecord* lease, const core::EventRecord& event) {
  if (lease) return lease;
  return event.kind == EventKind::lease ? &event : nullptr;
}

std::int64_t what_of(const core::EventRecord* lease, const core::EventRecord& event) {
  std::int64_t what = static_cast<std::int64_t>(event.kind) << kKindBits.shift;
  if (const core::EventRecord* part = lease_part(lease, event))
    what |= (static_cast<std::int64_t>(part->lease_event) + 1) << kLeaseEventBits.shift;
  if (event.kind == EventKind::completion) what |= static_cast<std::int64_t>(event.outcome) << kEventOutcomeBits.shift;
  if (event.cancelled_by) what |= (static_cast<std::int64_t>(*event.cancelled_by) + 1) << kCancelledByBits.shift;
  return what;
}

std::string body_of(const core::EventRecord* lease, const core::EventRecord& event) {
  const bool by_operator = event.kind == EventKind::operator_;
  Packer packer;
  packer.signed_number(event.occurred_at_ms).number(static_cast<std::uint64_t>(what_of(lease, event)));
  packer.number((event.execution_id ? kHasExecution : 0) | (event.attempt_index ? kHasAttempt : 0) |
                (event.tags ? kHasTags : 0) | (by_operator ? kHasOperator : 0));
  packer.text(event.queue ? event.queue->namespace_ : event.namespace_);
  if (event.execution_id) packer.raw(core::raw_bytes(event.execution_id->uuid));
  if (event.attempt_index) packer.number(*event.attempt_index);
  if (event.tags) packer.text(pack_tags(*event.tags));
  if (by_operator) packer.text(event.event_type).text(event.actor).text(event.details);
  if (const core::EventRecord* part = lease_part(lease, event)) {
    packer.number(part->lease_epoch).raw(core::raw_bytes(part->lease_id)).raw(core::raw_bytes(part->attempt_id));
    packer.text(part->worker_id).text(part->worker_instance_id).text(part->reason);
  }
  return packer.take();
}

/// Adds the one or two events of these bytes.
bool read_event(std::string_view bytes, const EventPlace& at, std::uint16_t partition, std::vector<Event>& events) {
  core::EventRecord event;
  event.partition = partition;
  Unpacker unpacker(bytes);
  event.occurred_at_ms = unpacker.signed_number();
  const auto what = static_cast<std::int64_t>(unpacker.number());
  if (!to_enum(get_bits(what, kKindBits), EventKind::operator_, event.kind)) return false;
  const std::uint64_t has = unpacker.number();
  event.namespace_ = unpacker.text();
  if (has & kHasExecution) event.execution_id = ExecutionId{partition, uuid_from(unpacker.raw(16))};
  if (has & kHasAttempt) event.attempt_index = static_cast<std::uint32_t>(unpacker.number());
  if (has & kHasTags) {
    auto tags = unpack_tags(unpacker.text());
    if (!tags) return false;
    event.tags = std::move(*tags);
  }
  if (has & kHasOperator) {
    event.event_type = unpacker.text();
    event.actor = unpacker.text();
    event.details = unpacker.text();
    unpacker.raw(kLinkBytes);
  }
  if (const std::int64_t type = get_bits(what, kLeaseEventBits); type > 0) {
    core::EventRecord lease = event;
    lease.kind = EventKind::lease;
    if (!to_enum(type - 1, LeaseEventType::released, lease.lease_event)) return false;
    lease.lease_epoch = unpacker.number();
    lease.lease_id = uuid_from(unpacker.raw(16));
    lease.attempt_id = uuid_from(unpacker.raw(16));
    lease.worker_id = unpacker.text();
    lease.worker_instance_id = unpacker.text();
    lease.reason = unpacker.text();
    events.push_back(core::to_event(lease, at.id() - (event.kind == EventKind::lease ? 0 : 1)));
  }
  if (!unpacker.complete()) return false;
  if (event.kind == EventKind::lease) return true;
  if (event.kind == EventKind::completion) {
    if (!to_enum(get_bits(what, kEventOutcomeBits), TerminalOutcome::skipped, event.outcome)) return false;
    if (const std::int64_t source = get_bits(what, kCancelledByBits); source > 0)
      if (!to_enum(source - 1, CancelSource::system_timeout, event.cancelled_by.emplace())) return false;
  }
  events.push_back(core::to_event(event, at.id()));
  return true;
}

}  // namespace

EventEntries::Newest EventEntries::add(const core::EventRecord* lease, const core::EventRecord& event,
                                       const LastEvents& stored, const std::optional<Newest>& here) {
  const bool by_operator = event.kind == EventKind::operator_;
  const TimeMs at_ms = event.occurred_at_ms;
  const std::uint32_t count = lease ? 2 : 1;
  auto fits = [&](const Entry& entry) {
    return entry.by_operator == by_operator && entry.count + count <= kPlacesPerEntry &&
           at_ms <= entry.first_ms + kEntrySpanMs && at_ms >= entry.first_ms - kEntrySpanMs;
  };
  if (entries_.empty() || !fits(entries_.back())) entries_.push_back({at_ms, at_ms, by_operator, 0, {}});
  Entry& entry = entries_.back();
  entry.count += count;
  entry.latest_ms = std::max(entry.latest_ms, at_ms);
  Newest newest{{entries_.size() - 1, entry.count - 1}, here ? here->by_operator : std::nullopt};

  const std::string body = body_of(lease, event);
  core::put(entry.body, static_cast<Place16>(newest.any.place));
  core::put(entry.body, static_cast<Size32>(body.size() + (by_operator ? 2 : 1) * kLinkBytes));
  put_link(entry.body, stored.any, here ? std::optional(here->any) : std::nullopt, newest.any.entry);
  entry.body += body;
  if (by_operator) {
    put_link(entry.body, stored.by_operator, newest.by_operator, newest.any.entry);
    newest.by_operator = newest.any;
  }
  return newest;
}

Result<std::vector<Event>> read_events(std::string_view body, std::int64_t entry, std::uint16_t partition) {
  std::vector<Event> events;
  while (!body.empty()) {
    const std::size_t size = body.size() < kHeadBytes ? 0 : core::get<Size32>(body, sizeof(Place16));
    if (size < kLinkBytes || size > body.size() - kHeadBytes)
      return std::unexpected(core::corruption("ff_event", "entry", std::to_string(entry)));
    const EventPlace at{entry, core::get<Place16>(body, 0)};
    if (!read_event(body.substr(kHeadBytes + kLinkBytes, size - kLinkBytes), at, partition, events))
      return std::unexpected(core::corruption("ff_event", "event", std::to_string(at.id())));
    body.remove_prefix(kHeadBytes + size);
  }
  return events;
}

Result<std::vector<Event>> read_entry(const Value& entry, std::uint16_t partition) {
  const std::string_view id = entry[0].text();
  std::int64_t number = 0;
  if (id.size() < 3 || std::from_chars(id.data() + 2, id.data() + id.size(), number).ec != std::errc())
    return std::unexpected(core::corruption("ff_event", "entry", id));
  return read_events(entry[1][5].text(), number, partition);
}

}  // namespace ff::store::redis
