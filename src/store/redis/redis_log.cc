// Reads of the log, and walks over everything of a kind for export.

#include "core/errors.h"
#include "store/redis/redis_reader.h"

#include <charconv>
#include <limits>

namespace ff::store::redis {
namespace {

/// How many events of an execution one call follows back; others of the server's clients wait meanwhile.
constexpr int kLinksPerCall = 256;
constexpr std::uint32_t kEntriesPerPage = 32;

/// A place in a walk over all partitions: which one, and a number there.
struct WalkPlace {
  std::uint16_t partition = 0;
  std::int64_t at = 0;

  std::string to_string() const { return fmt::format("{} {}", partition, at); }
  static Result<WalkPlace> parse(const std::string& text) {
    WalkPlace place;
    if (text.empty()) return place;
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, place.partition);
    const bool good = first.ec == std::errc() && first.ptr != end && *first.ptr == ' ' &&
                      std::from_chars(first.ptr + 1, end, place.at).ptr == end;
    if (!good) return std::unexpected(core::invalid_input("after", "malformed", "This is no place in such a walk."));
    return place;
  }
};

}  // namespace

Result<RedisReader::Chain> RedisReader::follow(const Place& place, EventPlace from, const EventPlace& behind,
                                               bool by_operator) {
  Chain chain;
  while (from.entry > 0) {
    auto reply = link_.call(Command(place.slot, "FCALL_RO")
                                .args("ff_history", 1, place.events(), from.entry, from.place, behind.entry,
                                      behind.place, kLinksPerCall, by_operator ? 1 : 0));
    if (!reply) return std::unexpected(reply.error());
    from = {(*reply)[0].number(), static_cast<std::uint32_t>((*reply)[1].number())};
    chain.cut = (*reply)[2].number() == 1;
    const Value found = (*reply)[3];
    for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
      auto events = read_events(found[i + 1].text(), found[i].number(), place.number);
      if (!events) return std::unexpected(events.error());
      std::move(events->rbegin(), events->rend(), std::back_inserter(chain.newest_first));
    }
  }
  return chain;
}

/// Events are chained from the newest back, so the walk meets the oldest last.
Result<std::optional<HistoryPage>> RedisReader::history(const ExecutionId& id, std::int64_t after_event_id,
                                                        std::uint32_t limit) {
  const Place place(id.partition);
  auto value = link_.call(Command(place.slot, "GET").arg(place.record(id.uuid)));
  if (!value) return std::unexpected(value.error());
  auto stored = read_execution(id, value->value(), queues_);
  if (!stored) return std::unexpected(stored.error());
  if (!*stored) return std::nullopt;
  const EventPlace behind = EventPlace::of(after_event_id);
  auto chain = follow(place, (*stored)->last_events.any, behind, false);
  if (!chain) return std::unexpected(chain.error());
  if (chain->cut) {
    // Events past their retention are gone; those of operators before them are kept longer.
    const std::int64_t oldest =
        chain->newest_first.empty() ? std::numeric_limits<std::int64_t>::max() : chain->newest_first.back().event_id;
    auto operators = follow(place, (*stored)->last_events.by_operator, behind, true);
    if (!operators) return std::unexpected(operators.error());
    for (auto& event : operators->newest_first)
      if (event.event_id < oldest) chain->newest_first.push_back(std::move(event));
  }
  HistoryPage page;
  for (auto event = chain->newest_first.rbegin(); event != chain->newest_first.rend(); ++event) {
    if (event->event_id <= after_event_id || event->event_type == core::name_of(LeaseEventType::renewed)) continue;
    page.more = page.events.size() == limit;
    if (page.more) break;
    page.events.push_back(std::move(*event));
  }
  return page;
}

Result<Walk<Event>> RedisReader::log(const std::string& after, std::uint32_t limit) {
  auto from = WalkPlace::parse(after);
  if (!from) return std::unexpected(from.error());
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  Walk<Event> walk;
  for (const auto& place : *places) {
    if (place.number < from->partition) continue;
    std::int64_t behind = place.number == from->partition ? from->at : 0;
    std::int64_t entry = EventPlace::of(behind).entry;
    while (true) {
      auto page = link_.call(Command(place.slot, "XRANGE")
                                 .args(place.events(), fmt::format("0-{}", entry), "+", "COUNT", kEntriesPerPage));
      if (!page) return std::unexpected(page.error());
      for (std::size_t i = 0; i < page->value().size(); ++i) {
        auto events = read_entry((*page)[i], place.number);
        if (!events) return std::unexpected(events.error());
        for (auto& event : *events) {
          if (event.event_id <= behind) continue;
          behind = event.event_id;
          walk.items.push_back(std::move(event));
          if (walk.items.size() < limit) continue;
          walk.next = WalkPlace{place.number, behind}.to_string();
          return walk;
        }
      }
      if (page->value().size() < kEntriesPerPage) break;
      entry = EventPlace::of(behind).entry + 1;
    }
  }
  return walk;
}

Result<Walk<core::IdempotencyRecord>> RedisReader::keys(const std::string& after, std::uint32_t limit) {
  auto from = WalkPlace::parse(after);
  if (!from) return std::unexpected(from.error());
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  Walk<core::IdempotencyRecord> walk;
  for (const auto& place : *places) {
    if (place.number < from->partition) continue;
    const std::int64_t rank = place.number == from->partition ? from->at : 0;
    const auto count = static_cast<std::int64_t>(limit - walk.items.size());
    auto page = link_.call(Command(place.slot, "ZRANGE").args(place.key_expiry(), rank, rank + count - 1));
    if (!page) return std::unexpected(page.error());
    std::vector<core::IdempotencyId> ids;
    std::vector<Command> commands;
    for (std::size_t i = 0; i < page->value().size(); ++i) {
      const std::string_view member = (*page)[i].text();
      auto id = key_from(member);
      if (!id) return std::unexpected(core::corruption("ff_idempotency", "key", member));
      commands.push_back(Command(place.slot, "GET").arg(place.key(*id)));
      ids.push_back(std::move(*id));
    }
    auto values = link_.run(commands);
    if (!values) return std::unexpected(values.error());
    if (auto good = check_all(*values); !good) return std::unexpected(good.error());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto record = read_key(ids[i], place.number, (*values)[i].value());
      if (!record) return std::unexpected(record.error());
      if (*record) walk.items.push_back(std::move(**record));
    }
    if (static_cast<std::int64_t>(ids.size()) < count) continue;
    walk.next = WalkPlace{place.number, rank + count}.to_string();
    return walk;
  }
  return walk;
}

}  // namespace ff::store::redis
