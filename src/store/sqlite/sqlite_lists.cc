#include "core/view.h"
#include "store/audit.h"
#include "store/lease_page.h"
#include "store/sqlite/sqlite_reader.h"

#include <array>
#include <charconv>
#include <limits>

namespace ff::store::sqlite {
namespace {

constexpr auto kHighest = [] {
  std::array<std::uint8_t, 16> bytes{};
  bytes.fill(0xff);
  return bytes;
}();

}  // namespace

Result<ListResult> SqliteReader::list(const ListQuery& query) {
  Snapshot snapshot(*this);
  const bool raised = query.along == ListAlong::raised;
  const bool newest = query.along == ListAlong::newest_first;
  const bool tagged = !raised && !query.filter.tags.empty();
  Statement& rows = raised   ? list_raised_
                    : tagged ? (newest ? tagged_newest_ : tagged_oldest_)
                             : (newest ? list_newest_ : list_oldest_);
  ListPosition from;
  if (query.after)
    from = *query.after;
  else if (newest)
    from = {std::numeric_limits<TimeMs>::max(), {0xffff, Uuid{.bytes = kHighest}}};
  else
    from = {.created_at_ms = std::numeric_limits<TimeMs>::min(), .priority = std::numeric_limits<std::int32_t>::max()};
  const IdBytes from_id(from.id);
  ResetLater reset(rows);
  rows.bind(1, from.created_at_ms).bind_blob(2, from_id.view());
  if (raised) rows.bind(3, std::int64_t{from.priority});
  if (tagged) rows.bind(3, query.filter.tags.begin()->first).bind(4, query.filter.tags.begin()->second);

  ListResult result;
  for (std::uint32_t walked = 0;; ++walked) {
    auto stepped = rows.step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped) {
      result.next.reset();
      return result;
    }
    if (walked == kListWalkMax || result.records.size() == query.limit) return result;
    auto row = tagged ? find(id_from(rows.blob(0))) : read(rows);
    if (!row && row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
    if (!row || !*row) continue;  // a damaged record must not hide the others; `verify` names it
    ExecutionRecord& record = (*row)->record;
    result.next = ListPosition{record.times.created_at_ms, record.id, record.priority};
    if (query.matches(record)) result.records.push_back(std::move(record));
  }
}

Result<std::vector<LeaseItem>> SqliteReader::leases(const LeaseQuery& query) {
  Snapshot snapshot(*this);
  LeasePage page(query);
  ResetLater reset(leases_);
  leases_.bind(1, query.expired_before_ms.value_or(std::numeric_limits<TimeMs>::max()));
  while (true) {
    auto stepped = leases_.step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped) return page.items();
    auto row = read_core(leases_, queues_);
    if (!row && row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
    if (row) page.add(row->record);
  }
}

Result<std::optional<Lane>> SqliteReader::lane(const std::string& lane_id) {
  ResetLater reset(lane_);
  auto row = lane_.bind(1, lane_id).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  auto lane = read_lane(lane_);
  if (!lane) return std::unexpected(lane.error());
  return std::optional(std::move(*lane));
}

Result<std::vector<Lane>> SqliteReader::lanes(const std::string& after, std::uint32_t limit) {
  std::vector<Lane> found;
  ResetLater reset(lanes_after_);
  lanes_after_.bind(1, after).bind(2, std::int64_t{limit});
  while (true) {
    auto row = lanes_after_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return found;
    auto lane = read_lane(lanes_after_);
    if (!lane) return std::unexpected(lane.error());
    found.push_back(std::move(*lane));
  }
}

Result<Walk<Event>> SqliteReader::audit(const AuditQuery& query) {
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  std::from_chars(query.after.data(), query.after.data() + query.after.size(), before);
  AuditPage page(query);
  ResetLater reset(audit_before_);
  audit_before_.bind(1, before);
  while (true) {
    auto row = audit_before_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return page.take();
    auto read = read_events(audit_before_, queues_);
    if (!read) return std::unexpected(read.error());
    Event& event = read->events.front();
    std::string place = std::to_string(event.event_id);
    if (!page.add(std::move(event), std::move(place))) return page.take();
  }
}

}  // namespace ff::store::sqlite
