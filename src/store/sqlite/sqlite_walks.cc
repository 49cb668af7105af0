// Walks over everything of a kind, for export.

#include "core/json.h"
#include "store/sqlite/sqlite_reader.h"

#include <charconv>

namespace ff::store::sqlite {

Result<Walk<core::IdempotencyRecord>> SqliteReader::keys(const std::string& after, std::uint32_t limit) {
  std::vector<std::string> behind(3);  // key, namespace, operation: the order of the table
  if (!after.empty()) {
    core::JsonReader reader;
    auto parsed = core::parse_json(after);
    if (!parsed || !reader.read(*parsed, behind) || behind.size() != 3)
      return std::unexpected(core::invalid_input("after", "malformed", "This is no place in a walk over keys."));
  }
  Walk<core::IdempotencyRecord> walk;
  ResetLater reset(keys_after_);
  keys_after_.bind(1, behind[0]).bind(2, behind[1]).bind(3, behind[2]).bind(4, std::int64_t{limit});
  while (true) {
    auto row = keys_after_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    auto record = read_key(keys_after_, {std::string(keys_after_.text(6)), std::string(keys_after_.text(7)),
                                         std::string(keys_after_.text(8))});
    if (!record) return std::unexpected(record.error());
    walk.items.push_back(std::move(*record));
  }
  if (walk.items.size() == limit) {
    const core::IdempotencyId& last = walk.items.back().id;
    walk.next = core::json::serialize(
        core::to_value(std::vector<std::string>{last.idempotency_key, last.namespace_, last.operation}));
  }
  return walk;
}

Result<Walk<Event>> SqliteReader::log(const std::string& after, std::uint32_t limit) {
  std::int64_t behind = 0;
  if (std::from_chars(after.data(), after.data() + after.size(), behind).ec != std::errc() && !after.empty())
    return std::unexpected(core::invalid_input("after", "malformed", "This is no place in the log."));
  Snapshot snapshot(*this);
  Walk<Event> walk;
  ResetLater reset(events_after_);
  events_after_.bind(1, behind).bind(2, std::int64_t{limit});
  while (walk.items.size() < limit) {
    auto row = events_after_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return walk;
    auto read = read_events(events_after_, queues_);
    if (!read) return std::unexpected(read.error());
    walk.items.insert(walk.items.end(), std::make_move_iterator(read->events.begin()),
                      std::make_move_iterator(read->events.end()));
  }
  walk.next = std::to_string(walk.items.back().event_id);
  return walk;
}

}  // namespace ff::store::sqlite
