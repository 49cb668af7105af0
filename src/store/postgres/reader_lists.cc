// Reads that walk: lists of executions, and the check of everything that is stored.

#include "core/access.h"
#include "core/state.h"
#include "core/view.h"
#include "store/postgres/read_statements.h"
#include "store/postgres/reader.h"

#include <limits>

namespace ff::store::postgres {
namespace {

constexpr auto kLastUuid = [] {
  std::array<std::uint8_t, 16> bytes{};
  bytes.fill(0xff);
  return bytes;
}();
/// Rows per statement of a long walk.
constexpr std::uint32_t kWalkRows = 1'000;

ListPosition position_of(const ExecutionRecord& record) {
  return {record.times.created_at_ms, record.id, record.priority};
}

}  // namespace

Result<PostgresReader::ListPart> PostgresReader::walk(const ListQuery& query, const ListPosition& from,
                                                      std::uint32_t count) {
  const IdBytes bytes(from.id);
  Params params;
  params.bytes(bytes.view()).number(shared_->manual_now()).number(from.created_at_ms).number(std::int64_t{count});
  const Sql* statement = &sql::kListRaised;
  std::string bound;
  if (query.along == ListAlong::raised) {
    params.number4(from.priority);
  } else {
    // Ids from here on, in the direction of the list, may belong behind `from`.
    const bool newest = query.along == ListAlong::newest_first;
    constexpr TimeMs kFar = std::numeric_limits<TimeMs>::max() / 2;
    const TimeMs time = std::clamp(from.created_at_ms, -kFar, kFar);
    bound = ids_from(newest ? time + kNearMs : time - kNearMs);
    params.bytes(bound);
    statement = newest ? &sql::kListNewest : &sql::kListOldest;
  }
  auto rows = run(*statement, params);
  if (!rows) return std::unexpected(rows.error());
  ListPart walked;
  for (int row = 0; row < rows->size(); ++row) {
    auto read = read_core(*rows, row, queues_);
    if (!read) return std::unexpected(read.error());
    walked.records.push_back(std::move(read->record));
  }
  walked.walked = walked.records.size();
  if (!walked.records.empty()) walked.last = position_of(walked.records.back());
  return walked;
}

Result<PostgresReader::ListPart> PostgresReader::walk_tagged(const ListQuery& query, const ListPosition& from,
                                                         std::uint32_t count) {
  const IdBytes bytes(from.id);
  const auto& [key, value] = *query.filter.tags.begin();
  Params params;
  params.bytes(bytes.view()).number(from.created_at_ms).bytes(key).bytes(value).number(std::int64_t{count});
  auto entries = run(query.along == ListAlong::newest_first ? sql::kTaggedNewest : sql::kTaggedOldest, params);
  if (!entries) return std::unexpected(entries.error());
  ListPart walked;
  walked.walked = static_cast<std::size_t>(entries->size());
  if (entries->empty()) return walked;
  ByteaArray ids;
  for (int row = 0; row < entries->size(); ++row) ids.add(entries->text(row, 0));
  auto rows = run(sql::kLookAtAll, Params().array(ids).number(shared_->manual_now()));
  if (!rows) return std::unexpected(rows.error());
  std::map<ExecutionId, ExecutionRecord> found;
  for (int row = 0; row < rows->size(); ++row) {
    auto read = read_core(*rows, row, queues_);
    if (!read) return std::unexpected(read.error());
    const ExecutionId id = read->record.id;
    found.insert_or_assign(id, std::move(read->record));
  }
  for (int row = 0; row < entries->size(); ++row)
    if (auto it = found.find(id_of_row(*entries, row)); it != found.end())
      walked.records.push_back(std::move(it->second));
  const int last = entries->size() - 1;
  walked.last = ListPosition{entries->number(last, 1), id_of_row(*entries, last)};
  return walked;
}

Result<ListResult> PostgresReader::list(const ListQuery& query) {
  ListPosition from;
  if (query.after)
    from = *query.after;
  else if (query.along == ListAlong::newest_first)
    from = {std::numeric_limits<TimeMs>::max(), {0xffff, Uuid{.bytes = kLastUuid}}};
  else
    from = {.created_at_ms = std::numeric_limits<TimeMs>::min(), .priority = std::numeric_limits<std::int32_t>::max()};
  const bool tagged = query.along != ListAlong::raised && !query.filter.tags.empty();

  ListResult result;
  for (std::size_t walked = 0; walked < kListWalkMax;) {
    // Most pages are filled by the first rows; one that is not goes on in larger steps.
    const std::uint32_t page = walked == 0 ? query.limit + 1 : kWalkRows;
    auto part = tagged ? walk_tagged(query, from, page) : walk(query, from, page);
    if (!part) return std::unexpected(part.error());
    for (auto& record : part->records) {
      if (result.records.size() == query.limit) return result;
      result.next = position_of(record);
      if (query.matches(record)) result.records.push_back(std::move(record));
    }
    if (part->walked < page) {
      result.next.reset();
      return result;
    }
    walked += part->walked;
    from = *part->last;
    result.next = from;
  }
  return result;
}

// ---- the check ----------------------------------------------------------------------------------------------------

Result<bool> PostgresReader::verify_live(std::vector<std::string>& faults, std::uint32_t limit) {
  std::string after;
  while (faults.size() < limit) {
    auto rows = run(sql::kAllCore, Params().bytes(after).number(std::int64_t{kWalkRows}));
    if (!rows) return std::unexpected(rows.error());
    if (rows->empty()) break;
    for (int row = 0; row < rows->size() && faults.size() < limit; ++row) {
      after = rows->text(row, 0);
      const std::string id = id_of_row(*rows, row).to_string();
      auto read = read_core(*rows, row, queues_);
      if (!read) {
        faults.push_back(id + ": " + read.error().message);
        continue;
      }
      const ExecutionRecord& record = read->record;
      if (auto bad = core::illegality(record); !bad.empty()) faults.push_back(id + ": " + bad);
      if (core::is_candidate(record) == rows->is_null(row, 4)) faults.push_back(id + ": candidate is not as derived");
      if (core::due_at(record) != rows->number_if(row, 5)) faults.push_back(id + ": due_at_ms is not as derived");
      if (static_cast<std::int64_t>(core::bucket_of(record)) != rows->number(row, 6))
        faults.push_back(id + ": bucket is not as derived");
      if (record.is_terminal()) faults.push_back(id + ": it has ended and is not in ff_exec_done");
    }
  }
  return true;
}

Result<bool> PostgresReader::verify_ended(std::vector<std::string>& faults, std::uint32_t limit) {
  std::string after;
  std::int32_t after_slot = 0;
  while (faults.size() < limit) {
    Params params;
    params.bytes(after).number(shared_->manual_now()).number4(after_slot).number(std::int64_t{kWalkRows});
    auto rows = run(sql::kAllDone, params);
    if (!rows) return std::unexpected(rows.error());
    if (rows->empty()) break;
    for (int row = 0; row < rows->size() && faults.size() < limit; ++row) {
      after = rows->text(row, 0);
      after_slot = static_cast<std::int32_t>(rows->number(row, 19));
      const std::string id = id_of_row(*rows, row).to_string();
      auto read = read_core(*rows, row, queues_);
      if (!read) {
        faults.push_back(id + ": " + read.error().message);
        continue;
      }
      const ExecutionRecord& record = read->record;
      if (auto bad = core::illegality(record); !bad.empty()) faults.push_back(id + ": " + bad);
      if (!record.is_terminal()) faults.push_back(id + ": it has not ended and is in ff_exec_done");
      if (rows->number(row, kCoreColumns) != 0) faults.push_back(id + ": it is in ff_exec_core and in ff_exec_done");
    }
  }
  return true;
}

Result<std::vector<std::string>> PostgresReader::verify(std::uint32_t limit) {
  std::vector<std::string> faults;
  if (auto live = verify_live(faults, limit); !live) return std::unexpected(live.error());
  if (auto ended = verify_ended(faults, limit); !ended) return std::unexpected(ended.error());
  return faults;
}

}  // namespace ff::store::postgres
