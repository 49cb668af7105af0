#pragma once

// Events in the log of their partition, a stream. The events of one commit share an entry, which has the fields `t`
// (the latest time of any), `n` or `a` (how many; `a` for those of operators, which are kept longer) and `b` (the
// events).

#include "core/records/event.h"
#include "store/redis/wire.h"

namespace ff::store::redis {

/// Places in one entry; a bound of the ids of events, and known to flowfabric.lua.
inline constexpr std::uint32_t kPlacesPerEntry = 1'024;

/// Where an event stands: the number of its entry and its place there. No event has the entry 0.
struct EventPlace {
  std::int64_t entry = 0;
  std::uint32_t place = 0;

  bool operator==(const EventPlace&) const = default;
  std::int64_t id() const { return entry * kPlacesPerEntry + place; }
  static EventPlace of(std::int64_t event_id) {
    return {event_id / kPlacesPerEntry, static_cast<std::uint32_t>(event_id % kPlacesPerEntry)};
  }
};

/// The newest events of an execution. Those of operators are kept longer and have a chain of their own.
struct LastEvents {
  EventPlace any, by_operator;
};

/// Collects the events of a commit into entries. The number of an entry is not known before the server has added it,
/// but those of one commit follow each other.
class EventEntries {
 public:
  /// An event of this commit: which of its entries, and the place there.
  struct At {
    std::size_t entry = 0;
    std::uint32_t place = 0;
  };
  /// The newest events of an execution, where they are of this commit.
  struct Newest {
    At any;
    std::optional<At> by_operator;
  };
  struct Entry {
    TimeMs first_ms = 0, latest_ms = 0;
    bool by_operator = false;
    std::uint32_t count = 0;
    std::string body;
  };

  /// Adds one event, or with `lease` that and the completion that followed it at once. It is chained to those before it
  /// of the same execution: `stored` in the log, `here` in this commit.
  Newest add(const core::EventRecord* lease, const core::EventRecord& event, const LastEvents& stored,
             const std::optional<Newest>& here);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// The events of the bytes of one or more, which stand in that entry.
Result<std::vector<Event>> read_events(std::string_view body, std::int64_t entry, std::uint16_t partition);
/// The same for an entry as the server shows it, `[id, [field, value, ...]]`.
Result<std::vector<Event>> read_entry(const Value& entry, std::uint16_t partition);

}  // namespace ff::store::redis
