// Reads that are taken up where an earlier one stopped: clocks, retention, and everything of a kind for export.

#include "core/errors.h"
#include "core/json.h"
#include "store/postgres/read_statements.h"
#include "store/postgres/reader.h"

#include <charconv>

namespace ff::store::postgres {
namespace {

constexpr TimeMs kFromStart = std::numeric_limits<TimeMs>::min();

/// A place in the order of clocks: a time and the bytes of an id, as text.
std::string place_text(TimeMs at, const ExecutionId& id) { return fmt::format("{} {}", at, id.to_string()); }

std::pair<TimeMs, ExecutionId> read_place(const std::string& text) {
  std::pair<TimeMs, ExecutionId> place{kFromStart, {}};
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return place;
  std::from_chars(text.data(), text.data() + space, place.first);
  if (auto id = ExecutionId::parse(text.substr(space + 1))) place.second = *id;
  return place;
}

}  // namespace

// ---- clocks and retention -----------------------------------------------------------------------------------------

Result<DueResult> PostgresReader::due(const DueQuery& query) {
  auto [after, after_id] = read_place(query.after);
  std::optional<DuePlace::Search> search;
  if (query.after.empty()) after = search.emplace(shared_->due_place.begin()).from_ms;
  const IdBytes bytes(after_id);
  Params params;
  params.number(query.now).number(after).bytes(bytes.view()).number(std::int64_t{kListWalkMax} + 1);
  auto rows = run(sql::kDue, params);
  if (search) {
    std::optional<TimeMs> first = rows ? std::nullopt : std::optional(search->from_ms);
    if (rows && !rows->empty()) first = rows->number(0, kDueColumn);
    shared_->due_place.end(*search, first, query.now);
  }
  if (!rows) return std::unexpected(rows.error());
  DueResult result;
  for (int row = 0; row < rows->size(); ++row) {
    if (row == static_cast<int>(kListWalkMax) || result.due.size() == query.limit) {
      result.next = place_text(rows->number(row - 1, kDueColumn), id_of_row(*rows, row - 1));
      break;
    }
    auto read = read_core(*rows, row, queues_);
    if (!read) {
      if (read.error().code != ErrorCode::corruption) return std::unexpected(read.error());
      continue;
    }
    const ExecutionRecord& record = read->record;
    if (!core::has_rung(record, query.kind, query.now)) continue;
    if (!query.accept(record)) {
      ++result.filtered;
      continue;
    }
    if (!result.oldest_due_at) result.oldest_due_at = core::timer_at(record, query.kind);
    result.due.push_back(record.id);
  }
  return result;
}

Result<std::optional<TimeMs>> PostgresReader::next_due() {
  auto rows = run(sql::kNextDue);
  if (!rows) return std::unexpected(rows.error());
  return rows->empty() ? std::nullopt : rows->number_if(0, 0);
}

Result<std::vector<ExecutionId>> PostgresReader::retired(TimeMs now, std::uint32_t limit,
                                                         const std::function<bool(const ExecutionRecord&)>& accept) {
  if (auto opened = connection_.open(kReconnectMax); !opened) return std::unexpected(opened.error());
  auto all = partitions(connection_, History::executions);
  if (!all) return std::unexpected(all.error());
  Int4Array slots;
  for (const auto& partition : *all)
    if (partition.slot == kFarSlot || partition.bytes <= kSmallPartitionBytes) slots.add(partition.slot);
  Params params;
  params.array(slots).number(now).number(std::int64_t{kListWalkMax});
  auto rows = run(sql::kRetired, params.number(retired_after_.first).bytes(retired_after_.second));
  if (!rows) return std::unexpected(rows.error());
  std::vector<ExecutionId> found;
  for (int row = 0; row < rows->size() && found.size() < limit; ++row) {
    auto read = read_core(*rows, row, queues_);
    if (read && accept(read->record)) found.push_back(read->record.id);
    if (!read && read.error().code != ErrorCode::corruption) return std::unexpected(read.error());
  }
  // What was found goes away, and the next walk begins at the same place; refused rows stay.
  const int last = rows->size() - 1;
  if (rows->size() < static_cast<int>(kListWalkMax))
    retired_after_ = {kFromStart, {}};
  else if (found.empty())
    retired_after_ = {rows->number(last, kRetainColumn), std::string(rows->text(last, 0))};
  return found;
}

Result<std::vector<core::IdempotencyId>> PostgresReader::expired_keys(TimeMs now, std::uint32_t limit) {
  auto rows = run(sql::kKeysExpired, Params().number(now).number(std::int64_t{limit}));
  if (!rows) return std::unexpected(rows.error());
  std::vector<core::IdempotencyId> found;
  for (int row = 0; row < rows->size(); ++row)
    found.push_back(
        {std::string(rows->text(row, 0)), std::string(rows->text(row, 1)), std::string(rows->text(row, 2))});
  return found;
}

// ---- everything of a kind -----------------------------------------------------------------------------------------

Result<Walk<core::IdempotencyRecord>> PostgresReader::keys(const std::string& after, std::uint32_t limit) {
  std::vector<std::string> behind(3);  // key, namespace, operation: the order of the table
  if (!after.empty()) {
    core::JsonReader reader;
    auto parsed = core::parse_json(after);
    if (!parsed || !reader.read(*parsed, behind) || behind.size() != 3)
      return std::unexpected(core::invalid_input("after", "malformed", "This is no place in a walk over keys."));
  }
  Params params;
  params.bytes(behind[0]).bytes(behind[1]).bytes(behind[2]).number(std::int64_t{limit});
  auto rows = run(sql::kKeysAfter, params);
  if (!rows) return std::unexpected(rows.error());
  Walk<core::IdempotencyRecord> walk;
  for (int row = 0; row < rows->size(); ++row) walk.items.push_back(read_key(*rows, row));
  if (walk.items.size() == limit) {
    const core::IdempotencyId& last = walk.items.back().id;
    walk.next = core::json::serialize(
        core::to_value(std::vector<std::string>{last.idempotency_key, last.namespace_, last.operation}));
  }
  return walk;
}

Result<Walk<Event>> PostgresReader::log(const std::string& after, std::uint32_t limit) {
  std::int64_t behind = 0;
  if (std::from_chars(after.data(), after.data() + after.size(), behind).ec != std::errc() && !after.empty())
    return std::unexpected(core::invalid_input("after", "malformed", "This is no place in the log."));
  auto rows = run(sql::kLogBehind, Params().number(behind).number(std::int64_t{limit}));
  if (!rows) return std::unexpected(rows.error());
  Walk<Event> walk;
  for (int row = 0; row < rows->size(); ++row) {
    auto events = read_events(*rows, row, queues_);
    if (!events) return std::unexpected(events.error());
    behind = events->back().event_id;
    walk.items.insert(walk.items.end(), std::make_move_iterator(events->begin()),
                      std::make_move_iterator(events->end()));
    if (walk.items.size() < limit) continue;
    walk.next = std::to_string(behind);
    return walk;
  }
  return walk;
}

}  // namespace ff::store::postgres
