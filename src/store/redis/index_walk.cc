#include "store/redis/index_walk.h"

namespace ff::store::redis {
namespace {

constexpr std::uint32_t kPageMax = 1'024;

}  // namespace

IndexWalk::IndexWalk(Link& link, std::vector<Place> places, const std::function<std::string(const Place&)>& key_of,
                     Range range)
    : link_(link), range_(std::move(range)) {
  for (const auto& place : places) parts_.push_back({place.number, place.slot, key_of(place)});
}

bool IndexWalk::before(const IndexEntry& a, const IndexEntry& b) const {
  const auto of = [](const IndexEntry& e) { return std::tie(e.at, e.member, e.partition); };
  return range_.descending ? of(b) < of(a) : of(a) < of(b);
}

Command IndexWalk::page_of(const Part& part, std::uint32_t count) const {
  Command command(part.slot, "ZRANGE");
  command.arg(part.key);
  if (range_.by_member) {
    std::string from = range_.behind ? "[" + range_.behind->member : "-";
    if (part.started) from = "(" + part.last_member;
    command.args(from, "+", "BYLEX", "LIMIT", 0, count);
    return command;
  }
  TimeMs from = range_.from, to = range_.to;
  if (range_.behind) (range_.descending ? to : from) = range_.behind->at;
  if (part.started) (range_.descending ? to : from) = part.last_at;
  if (range_.descending)
    command.args(to, from, "BYSCORE", "REV");
  else
    command.args(from, to, "BYSCORE");
  command.args("LIMIT", 0, count, "WITHSCORES");
  return command;
}

/// Reads the next page of every part that has none left. A page begins at the time of the last entry, because several
/// entries may share it; what was seen before is passed over.
Result<void> IndexWalk::fill() {
  while (true) {
    std::vector<Command> commands;
    std::vector<Part*> asked;
    for (auto& part : parts_) {
      if (!part.entries.empty() || part.at_end) continue;
      // Pages grow, and always hold more than what is passed over.
      part.page = part.started ? std::min(part.page * 4, kPageMax) : range_.first_page;
      const auto count = static_cast<std::uint32_t>(part.page + part.seen.size());
      commands.push_back(page_of(part, count));
      asked.push_back(&part);
    }
    if (commands.empty()) return {};
    Link::Answers answers = link_.attempt(commands);
    std::optional<Error> trouble = std::move(answers.trouble);
    std::size_t answered = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const Value reply = answers.replies[i].value();
      if (reply.is_error()) trouble = error_of(reply.text());
      if (reply.is_error() || !answers.replies[i])
        asked[i]->at_end = true;
      else
        ++answered;
    }
    if (trouble && (!range_.tolerant || answered == 0)) return std::unexpected(std::move(*trouble));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      Part& part = *asked[i];
      if (part.at_end) continue;
      const Value page = answers.replies[i].value();
      const std::size_t width = range_.by_member ? 1 : 2;
      const std::size_t count = page.size() / width;
      part.at_end = count < part.page + part.seen.size();
      part.started = true;
      for (std::size_t j = 0; j < count; ++j) {
        const TimeMs at = range_.by_member ? 0 : page[width * j + 1].number();
        IndexEntry entry{at, part.partition, std::string(page[width * j].text())};
        if (range_.by_member) {
          part.last_member = entry.member;
        } else {
          if (entry.at != part.last_at) part.seen.clear();
          part.last_at = entry.at;
          if (!part.seen.insert(entry.member).second) continue;
        }
        if (range_.behind && !before(*range_.behind, entry)) continue;
        part.entries.push_back(std::move(entry));
      }
    }
  }
}

Result<std::optional<IndexEntry>> IndexWalk::next() {
  if (auto filled = fill(); !filled) return std::unexpected(filled.error());
  Part* first = nullptr;
  for (auto& part : parts_)
    if (!part.entries.empty() && (!first || before(part.entries.front(), first->entries.front()))) first = &part;
  if (!first) return std::nullopt;
  IndexEntry entry = std::move(first->entries.front());
  first->entries.pop_front();
  return std::optional(std::move(entry));
}

}  // namespace ff::store::redis
