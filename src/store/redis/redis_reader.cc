#include "store/redis/redis_reader.h"

#include "core/view.h"
#include "store/lease_page.h"

#include <cstdlib>
#include <limits>

namespace ff::store::redis {
namespace {

/// Entries whose records are loaded together.
constexpr std::size_t kLoadTogether = 128;

}  // namespace

Result<TimeMs> RedisReader::clock() {
  if (shared_->options.clock) return shared_->options.clock->now_ms();
  auto time = link_.call(Command(Place(0).slot, "TIME"));
  if (!time) return std::unexpected(time.error());
  return time_of(time->value());
}

// ---- one execution ------------------------------------------------------------------------------------------------

Result<std::optional<ExecutionSnapshot>> RedisReader::execution(const ExecutionId& id) {
  const Place place(id.partition);
  // The data is written once, so that two reads are as good as one; the payload behind the info is left out.
  const std::string data = place.data(id.uuid);
  const Command commands[] = {Command(place.slot, "GET").arg(place.record(id.uuid)),
                              Command(place.slot, "GETRANGE").args(data, 0, kDataStart - 1)};
  auto replies = link_.run(commands);
  if (!replies) return std::unexpected(replies.error());
  if (auto good = check_all(*replies); !good) return std::unexpected(good.error());
  auto stored = read_execution(id, (*replies)[0].value(), queues_);
  if (!stored) return std::unexpected(stored.error());
  if (!*stored) return std::nullopt;
  Reply start = std::move((*replies)[1]);
  if (start.value().text().empty()) return std::nullopt;  // it went in between
  if (!has_info(start.value().text())) {
    auto whole = link_.call(Command(place.slot, "GET").arg(data));
    if (!whole) return std::unexpected(whole.error());
    start = std::move(*whole);
  }
  auto info = read_info(start.value().text());
  if (!info) return std::unexpected(info.error());
  ExecutionSnapshot snapshot;
  snapshot.record = std::move((*stored)->record);
  snapshot.info = std::move(*info);
  if (auto& result = (*stored)->result) {
    snapshot.result_bytes = result->bytes;
    snapshot.result_content_type = std::move(result->content_type);
  }
  return snapshot;
}

Result<std::optional<std::optional<Blob>>> RedisReader::payload(const ExecutionId& id) {
  const Place place(id.partition);
  auto row = link_.call(Command(place.slot, "MGET").args(place.record(id.uuid), place.data(id.uuid)));
  if (!row) return std::unexpected(row.error());
  if ((*row)[0].is_nil()) return std::nullopt;
  std::optional<Blob> blob;
  if (const auto payload = payload_of((*row)[1].text())) {
    auto info = read_info((*row)[1].text());
    if (!info) return std::unexpected(info.error());
    blob = Blob{Bytes(*payload), info->payload_content_type};
  }
  return std::optional(std::move(blob));
}

Result<std::optional<std::optional<Blob>>> RedisReader::result(const ExecutionId& id) {
  const Place place(id.partition);
  auto row = link_.call(Command(place.slot, "MGET").args(place.record(id.uuid), place.result(id.uuid)));
  if (!row) return std::unexpected(row.error());
  if ((*row)[0].is_nil()) return std::nullopt;
  if ((*row)[1].is_nil()) return std::optional(std::optional<Blob>());
  auto blob = read_result((*row)[1].text());
  if (!blob) return std::unexpected(blob.error());
  return std::optional(std::optional(std::move(*blob)));
}

Result<std::optional<std::vector<Attempt>>> RedisReader::attempts(const ExecutionId& id,
                                                                  std::optional<std::uint32_t> after,
                                                                  std::uint32_t limit) {
  auto found = load(std::span(&id, 1));
  if (!found) return std::unexpected(found.error());
  if (!found->front()) return std::unexpected(found->front().error());
  const auto& record = *found->front();
  if (!record) return std::nullopt;
  std::vector<Attempt> attempts;
  if (!record->attempt || limit == 0) return attempts;
  const Place place(id.partition);
  const std::uint32_t first = after ? *after + 1 : 0, newest = record->attempt->attempt_index;
  const std::uint32_t end = first < newest ? std::min(newest, first + limit) : first;
  if (first < end) {
    Command command(place.slot, "HMGET");
    command.arg(place.attempts(id.uuid));
    for (std::uint32_t index = first; index < end; ++index) command.arg(index);
    auto row = link_.call(command);
    if (!row) return std::unexpected(row.error());
    for (std::size_t i = 0; i < row->value().size(); ++i) {
      if ((*row)[i].is_nil()) continue;
      auto attempt = unpack_attempt((*row)[i].text());
      if (!attempt) return std::unexpected(attempt.error());
      attempts.push_back(std::move(*attempt));
    }
  }
  if (attempts.size() < limit && newest >= first) attempts.push_back(*record->attempt);
  return attempts;
}

// ---- lists --------------------------------------------------------------------------------------------------------

Result<RedisReader::Found> RedisReader::load(std::span<const ExecutionId> ids) {
  std::vector<Command> commands;
  for (const auto& id : ids) {
    const Place place(id.partition);
    commands.push_back(Command(place.slot, "GET").arg(place.record(id.uuid)));
  }
  auto replies = link_.run(commands);
  if (!replies) return std::unexpected(replies.error());
  if (auto good = check_all(*replies); !good) return std::unexpected(good.error());
  Found found;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto stored = read_execution(ids[i], (*replies)[i].value(), queues_);
    if (!stored)
      found.push_back(std::unexpected(stored.error()));
    else if (*stored)
      found.push_back(std::optional(std::move((*stored)->record)));
    else
      found.push_back(std::nullopt);
  }
  return found;
}

Result<bool> RedisReader::walk(IndexWalk& index, std::uint32_t entries_max, const Visit& visit, bool skip_unreadable) {
  std::uint32_t walked = 0;
  bool at_end = false;
  while (!at_end && walked < entries_max) {
    std::vector<IndexEntry> entries;
    std::vector<ExecutionId> ids;
    while (entries.size() < kLoadTogether && walked < entries_max) {
      auto entry = index.next();
      if (!entry) return std::unexpected(entry.error());
      at_end = !*entry;
      if (at_end) break;
      ids.push_back((*entry)->id());
      entries.push_back(std::move(**entry));
      ++walked;
    }
    auto records = load(ids);
    if (!records) return std::unexpected(records.error());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto& record = (*records)[i];
      if (!record && !skip_unreadable) return std::unexpected(record.error());
      if (!record || !*record) continue;
      auto more = visit(entries[i], **record);
      if (!more) return std::unexpected(more.error());
      if (!*more) return false;
    }
  }
  return at_end;
}

Result<ListResult> RedisReader::list(const ListQuery& query) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  // Of several tags any one leads to all that match.
  const auto tag = query.filter.tags.begin();
  const bool tagged = tag != query.filter.tags.end();
  const bool raised = query.along == ListAlong::raised;
  IndexWalk::Range range{kFirstTime, kLastTime, query.along == ListAlong::newest_first};
  range.by_member = raised;
  if (query.after) {
    const auto& [created_at_ms, id, priority] = *query.after;
    range.behind = raised ? IndexEntry{0, id.partition, order_bytes({priority, created_at_ms, id})}
                          : IndexEntry::of(created_at_ms, id);
  }
  range.first_page = std::clamp<std::uint32_t>(query.limit / 4, 16, 128);
  IndexWalk index(
      link_, std::move(*places),
      [&](const Place& place) {
        if (raised) return place.raised();
        return tagged ? place.tagged(tag->first, tag->second) : place.created();
      },
      std::move(range));
  ListResult result;
  bool full = false;
  auto at_end = walk(
      index, kListWalkMax,
      [&](const IndexEntry& entry, ExecutionRecord& record) -> Result<bool> {
        // Only what comes behind a full page tells that there is more.
        full = result.records.size() == query.limit;
        if (full) return false;
        result.next = ListPosition{entry.at, entry.id()};
        if (raised) {
          const OrderKey key = order_from(entry.member, entry.partition);
          result.next = ListPosition{key.created_at_ms, key.id, key.priority};
        }
        if (query.matches(record)) result.records.push_back(std::move(record));
        return true;
      },
      false);
  if (!at_end) return std::unexpected(at_end.error());
  if (*at_end && !full) result.next.reset();
  return result;
}

Result<std::vector<LeaseItem>> RedisReader::leases(const LeaseQuery& query) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  // The clock of a lease is never earlier than the execution's earliest.
  IndexWalk index(link_, std::move(*places), [](const Place& place) { return place.due(); },
                  {kFirstTime, query.expired_before_ms.value_or(kLastTime)});
  LeasePage page(query);
  auto walked = walk(
      index, std::numeric_limits<std::uint32_t>::max(),
      [&](const IndexEntry&, ExecutionRecord& record) -> Result<bool> {
        page.add(record);
        return true;
      },
      false);
  if (!walked) return std::unexpected(walked.error());
  return page.items();
}

// ---- what is due --------------------------------------------------------------------------------------------------

Result<DueResult> RedisReader::due(const DueQuery& query) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  IndexWalk::Range range{.from = kFirstTime, .to = query.now, .tolerant = true};
  if (!query.after.empty()) {
    // What was written below: the time and the id of the last row.
    auto id = ExecutionId::parse(std::string_view(query.after).substr(query.after.find(' ') + 1));
    if (!id) return std::unexpected(id.error());
    range.behind = IndexEntry::of(std::atoll(query.after.c_str()), *id);
  }
  IndexWalk index(
      link_, std::move(*places), [](const Place& place) { return place.due(); }, std::move(range));
  DueResult result;
  std::optional<IndexEntry> last;
  auto at_end = walk(
      index, kListWalkMax,
      [&](const IndexEntry& entry, ExecutionRecord& record) -> Result<bool> {
        if (result.due.size() == query.limit) return false;
        last = entry;
        if (!core::has_rung(record, query.kind, query.now)) return true;
        if (!query.accept(record)) {
          ++result.filtered;
          return true;
        }
        if (!result.oldest_due_at) result.oldest_due_at = core::timer_at(record, query.kind);
        result.due.push_back(record.id);
        return true;
      },
      true);
  if (!at_end) return std::unexpected(at_end.error());
  if (!*at_end && last) result.next = fmt::format("{} {}", last->at, last->id().to_string());
  return result;
}

Result<std::optional<TimeMs>> RedisReader::next_due() {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  auto replies = on_most(
      *places, [](const Place& place) { return Command(place.slot, "ZRANGE").args(place.due(), 0, 0, "WITHSCORES"); });
  if (!replies) return std::unexpected(replies.error());
  std::optional<TimeMs> earliest;
  for (const auto& reply : *replies)
    if (reply.value().size() == 2 && (!earliest || reply[1].number() < *earliest)) earliest = reply[1].number();
  return earliest;
}

Result<std::vector<ExecutionId>> RedisReader::retired(TimeMs now, std::uint32_t limit,
                                                      const std::function<bool(const ExecutionRecord&)>& accept) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  IndexWalk::Range range{.from = kFirstTime, .to = now, .behind = std::exchange(retired_behind_, std::nullopt)};
  IndexWalk index(
      link_, std::move(*places), [](const Place& place) { return place.retention(); }, std::move(range));
  std::vector<ExecutionId> found;
  std::optional<IndexEntry> last;
  auto at_end = walk(
      index, kListWalkMax,
      [&](const IndexEntry& entry, ExecutionRecord& record) -> Result<bool> {
        last = entry;
        if (accept(record)) found.push_back(record.id);
        return found.size() < limit;
      },
      true);
  if (!at_end) return std::unexpected(at_end.error());
  // Rows that are refused must not hide those behind them for ever.
  if (!*at_end && found.empty()) retired_behind_ = std::move(last);
  return found;
}

Result<std::vector<core::IdempotencyId>> RedisReader::expired_keys(TimeMs now, std::uint32_t limit) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  IndexWalk index(link_, std::move(*places), [](const Place& place) { return place.key_expiry(); },
                  {kFirstTime, now - 1});
  std::vector<core::IdempotencyId> found;
  while (found.size() < limit) {
    auto entry = index.next();
    if (!entry) return std::unexpected(entry.error());
    if (!*entry) break;
    if (auto id = key_from((*entry)->member)) found.push_back(std::move(*id));
  }
  return found;
}

Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<RedisShared> shared) {
  return std::make_unique<RedisReader>(std::move(shared));
}

}  // namespace ff::store::redis
