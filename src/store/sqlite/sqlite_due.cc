#include "store/sqlite/sqlite_reader.h"

#include <limits>
#include <sstream>

namespace ff::store::sqlite {
namespace {

/// A place in the index of clocks.
struct DuePosition {
  std::int64_t due_at_ms = std::numeric_limits<TimeMs>::min(), queue_id = 0, bucket = 0, seq = 0;

  std::string text() const { return fmt::format("{} {} {} {}", due_at_ms, queue_id, bucket, seq); }
  /// The beginning when there is none.
  static DuePosition parse(const std::string& text) {
    DuePosition position;
    if (!text.empty())
      std::istringstream(text) >> position.due_at_ms >> position.queue_id >> position.bucket >> position.seq;
    return position;
  }
};

constexpr std::pair<TimeMs, std::int64_t> kFromStart{std::numeric_limits<TimeMs>::min(), 0};

}  // namespace

Result<DueResult> SqliteReader::due(const DueQuery& query) {
  Snapshot snapshot(*this);
  DueResult result;
  ResetLater reset(due_);
  const DuePosition from = DuePosition::parse(query.after);
  due_.bind(1, query.now).bind(2, from.due_at_ms).bind(3, from.queue_id).bind(4, from.bucket).bind(5, from.seq);
  DuePosition last;
  for (std::uint32_t walked = 0;; ++walked) {
    auto stepped = due_.step();
    if (!stepped) return std::unexpected(stepped.error());
    if (!*stepped) break;
    if (walked == kListWalkMax || result.due.size() == query.limit) {
      result.next = last.text();
      break;
    }
    last = {due_.number(6), due_.number(2), due_.number(8), due_.number(0)};
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
    auto& [after_ms, after_seq] = retired_after_.try_emplace(queue_id, kFromStart).first->second;
    retired_.bind(1, queue_id).bind(2, now).bind(3, after_ms).bind(4, after_seq);
    auto last = kFromStart;
    for (std::uint32_t taken = 0, walked = 0; taken < limit; ++walked) {
      auto stepped = retired_.step();
      if (!stepped) return std::unexpected(stepped.error());
      if (!*stepped) {
        std::tie(after_ms, after_seq) = kFromStart;
        break;
      }
      if (walked == kListWalkMax) {
        // What was taken goes away, and the next walk begins at the same place; refused rows stay.
        if (taken == 0) std::tie(after_ms, after_seq) = last;
        break;
      }
      last = {retired_.number(7), retired_.number(0)};
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
