#include "store/sqlite/sqlite_reader.h"

namespace ff::store::sqlite {

Result<DueResult> SqliteReader::due(const DueQuery& query) {
  Snapshot snapshot(*this);
  DueResult result;
  ResetLater reset(due_);
  due_.bind(1, query.now);
  for (std::uint32_t walked = 0; walked < kListWalkMax && result.due.size() < query.limit; ++walked) {
    auto stepped = due_.step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped) break;
    auto row = read(due_);
    if (!row) {
      if (row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
      continue;
    }
    const ExecutionRecord& record = (*row)->record;
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

Result<std::vector<ExecutionId>> SqliteReader::retired(TimeMs now, std::uint32_t limit,
                                                       const std::function<bool(const ExecutionRecord&)>& accept) {
  Snapshot snapshot(*this);
  std::vector<std::int64_t> queue_ids;
  {
    ResetLater reset(queue_ids_);
    while (true) {
      auto row = queue_ids_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      queue_ids.push_back(queue_ids_.number(0));
    }
  }
  std::multimap<TimeMs, ExecutionId> oldest;
  for (std::int64_t queue_id : queue_ids) {
    ResetLater reset(retired_);
    retired_.bind(1, queue_id).bind(2, now);
    for (std::uint32_t taken = 0, walked = 0; taken < limit && walked < kListWalkMax; ++walked) {
      auto stepped = retired_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) break;
      auto row = read(retired_);
      if (!row) {
        if (row.error().code != ErrorCode::corruption) return std::unexpected(row.error());
        continue;
      }
      if (!accept((*row)->record)) continue;
      oldest.emplace(*(*row)->record.times.retain_until_ms, (*row)->record.id);
      ++taken;
    }
  }
  std::vector<ExecutionId> found;
  for (const auto& [at, id] : oldest) {
    if (found.size() == limit) break;
    found.push_back(id);
  }
  return found;
}

Result<std::vector<core::IdempotencyId>> SqliteReader::expired_keys(TimeMs now, std::uint32_t limit) {
  std::vector<core::IdempotencyId> found;
  ResetLater reset(keys_expired_);
  keys_expired_.bind(1, now).bind(2, std::int64_t{limit});
  while (true) {
    auto row = keys_expired_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return found;
    found.push_back(
        {std::string(keys_expired_.text(0)), std::string(keys_expired_.text(1)), std::string(keys_expired_.text(2))});
  }
}

}  // namespace ff::store::sqlite
