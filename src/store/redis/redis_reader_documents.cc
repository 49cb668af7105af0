// Documents, which all stand in partition 0, and the audit log, which stands in all of them.

#include "core/ids.h"
#include "store/audit.h"
#include "store/redis/index_walk.h"
#include "store/redis/redis_reader.h"

#include <charconv>
#include <limits>

namespace ff::store::redis {
namespace {

/// Entries of the log that are read at once.
constexpr std::size_t kEntriesAtOnce = 64;
constexpr std::size_t kMemberBytes = 16;

/// A place in the audit log: an entry of the index, and how many of its events have been told.
std::string place_text(const IndexEntry& entry, std::size_t told) {
  return fmt::format("{} {} {} {}", entry.at, entry.partition, entry.member, told);
}

struct AuditPlace {
  IndexEntry behind;
  std::size_t told = 0;
};

std::optional<AuditPlace> read_place(const std::string& text) {
  AuditPlace place;
  const char *at = text.data(), *end = at + text.size();
  auto number = [&](auto& value) {
    const auto read = std::from_chars(at, end, value);
    at = read.ptr == end ? end : read.ptr + 1;
    return read.ec == std::errc();
  };
  if (!number(place.behind.at) || !number(place.behind.partition)) return std::nullopt;
  if (static_cast<std::size_t>(end - at) <= kMemberBytes) return std::nullopt;
  place.behind.member.assign(at, kMemberBytes);
  at += kMemberBytes + 1;
  if (!number(place.told)) return std::nullopt;
  return place;
}

}  // namespace

Result<std::optional<core::Document>> RedisReader::document(const core::DocumentId& id) {
  const Place global(0);
  auto value = link_.call(Command(global.slot, "GET").arg(global.document(id)));
  if (!value) return std::unexpected(value.error());
  return read_document(id, value->value());
}

Result<std::vector<core::Document>> RedisReader::documents(core::DocumentKind kind, const std::string& after,
                                                           std::uint32_t limit) {
  const Place global(0);
  std::vector<core::Document> found;
  auto keys = link_.call(Command(global.slot, "ZRANGE")
                             .args(global.documents(kind), after.empty() ? "-" : "(" + after, "+", "BYLEX", "LIMIT", 0, limit));
  if (!keys) return std::unexpected(keys.error());
  if (keys->value().size() == 0) return found;
  Command command(global.slot, "MGET");
  for (std::size_t i = 0; i < keys->value().size(); ++i)
    command.arg(global.document({kind, std::string((*keys)[i].text())}));
  auto values = link_.call(command);
  if (!values) return std::unexpected(values.error());
  for (std::size_t i = 0; i < keys->value().size(); ++i) {
    auto document = read_document({kind, std::string((*keys)[i].text())}, (*values)[i]);
    if (!document) return std::unexpected(document.error());
    if (*document) found.push_back(std::move(**document));
  }
  return found;
}

Result<std::vector<core::DocumentId>> RedisReader::due_documents(core::DocumentKind kind, TimeMs now,
                                                                 std::uint32_t limit) {
  const Place global(0);
  auto keys = link_.call(
      Command(global.slot, "ZRANGE").args(global.documents_due(kind), "-inf", now, "BYSCORE", "LIMIT", 0, limit));
  if (!keys) return std::unexpected(keys.error());
  std::vector<core::DocumentId> found;
  for (std::size_t i = 0; i < keys->value().size(); ++i) found.push_back({kind, std::string((*keys)[i].text())});
  return found;
}

Result<Walk<Event>> RedisReader::audit(const AuditQuery& query) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  const auto from = read_place(query.after);
  IndexWalk::Range range{.from = query.since_ms.value_or(kFirstTime), .to = kLastTime, .descending = true};
  // The entry at which the page before stopped is looked at once more: some of its events may be left.
  std::size_t told = from ? from->told : 0;
  if (from) {
    range.behind = from->behind;
    range.to = from->behind.at;
  }
  IndexWalk index(link_, std::move(*places), [](const Place& place) { return place.audit(); }, range);
  AuditPage page(query);
  std::vector<IndexEntry> entries;
  if (from && told > 0) entries.push_back(from->behind);
  while (true) {
    while (entries.size() < kEntriesAtOnce) {
      auto entry = index.next();
      if (!entry) return std::unexpected(entry.error());
      if (!*entry) break;
      entries.push_back(std::move(**entry));
    }
    if (entries.empty()) return page.take();
    std::vector<Command> commands;
    for (const auto& entry : entries) {
      const Place place(entry.partition);
      const std::string id = "0-" + std::to_string(std::strtoll(entry.member.c_str(), nullptr, 10));
      commands.push_back(Command(place.slot, "XRANGE").args(place.events(), id, id));
    }
    auto replies = link_.run(commands);
    if (!replies) return std::unexpected(replies.error());
    if (auto good = check_all(*replies); !good) return std::unexpected(good.error());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::size_t skip = std::exchange(told, 0);
      if ((*replies)[i].value().size() == 0) continue;  // trimmed meanwhile
      auto events = read_entry((*replies)[i][0], entries[i].partition);
      if (!events) return std::unexpected(events.error());
      for (std::size_t at = skip; at < events->size(); ++at) {
        Event& event = (*events)[events->size() - 1 - at];
        if (!page.add(std::move(event), place_text(entries[i], at + 1))) return page.take();
      }
    }
    entries.clear();
  }
}

}  // namespace ff::store::redis
