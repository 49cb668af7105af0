// Walks everything that is stored and compares what is derived with what should be.

#include "core/ids.h"
#include "core/state.h"
#include "store/redis/redis_reader.h"

namespace ff::store::redis {
namespace {

constexpr int kPage = 1'000;

/// The index entries of a partition: those that are stored and those that the records call for, both as lines of text.
struct Entries {
  std::set<std::string> stored, derived;
};

std::string entry_text(std::string_view index, TimeMs at, const Uuid& uuid) {
  return fmt::format("{} at {}: {}", index, at, uuid.to_string());
}

void derive(const ExecutionRecord& record, const Place& place, std::set<std::string>& entries,
            std::map<std::string, std::int64_t>& counts) {
  entries.insert(entry_text(place.created(), record.times.created_at_ms, record.id.uuid));
  if (record.priority > 0)
    entries.insert(entry_text(fmt::format("{} priority {}", place.raised(), record.priority), record.times.created_at_ms,
                              record.id.uuid));
  if (auto at = core::due_at(record)) entries.insert(entry_text(place.due(), *at, record.id.uuid));
  if (record.times.retain_until_ms)
    entries.insert(entry_text(place.retention(), *record.times.retain_until_ms, record.id.uuid));
  if (core::is_candidate(record))
    entries.insert(entry_text(fmt::format("{} priority {}", place.queue(*record.queue), record.priority),
                              record.times.created_at_ms, record.id.uuid));
  ++counts[count_field(core::bucket_of(record), record.lane_id())];
}

}  // namespace

Result<void> RedisReader::verify_place(const Place& place, std::uint32_t limit, std::vector<std::string>& faults) {
  Entries entries;
  std::map<std::string, std::int64_t> counts;
  std::set<std::string> lanes;
  for (const auto& index : {place.created(), place.due(), place.retention()}) {
    for (std::int64_t from = 0;; from += kPage) {
      auto page = link_.call(Command(place.slot, "ZRANGE").args(index, from, from + kPage - 1, "WITHSCORES"));
      if (!page) return std::unexpected(page.error());
      const std::size_t count = page->value().size() / 2;
      std::vector<ExecutionId> ids;
      for (std::size_t i = 0; i < count; ++i) {
        const ExecutionId id{place.number, uuid_from((*page)[2 * i].text())};
        entries.stored.insert(entry_text(index, (*page)[2 * i + 1].number(), id.uuid));
        ids.push_back(id);
      }
      if (index == place.created()) {
        auto records = load(ids);
        if (!records) return std::unexpected(records.error());
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const auto& record = (*records)[i];
          if (!record) faults.push_back(ids[i].to_string() + ": " + record.error().message);
          if (!record || !*record) continue;
          if (auto bad = core::illegality(**record); !bad.empty()) faults.push_back(ids[i].to_string() + ": " + bad);
          lanes.insert((*record)->lane_id());
          derive(**record, place, entries.derived, counts);
        }
      }
      if (count < kPage || faults.size() >= limit) break;
    }
  }
  auto add_members = [&](const std::string& index) -> Result<std::size_t> {
    auto members = link_.call(Command(place.slot, "ZRANGE").args(index, 0, -1));
    if (!members) return std::unexpected(members.error());
    for (std::size_t i = 0; i < members->value().size(); ++i) {
      const OrderKey key = order_from((*members)[i].text(), place.number);
      entries.stored.insert(
          entry_text(fmt::format("{} priority {}", index, key.priority), key.created_at_ms, key.id.uuid));
    }
    return members->value().size();
  };
  if (auto raised = add_members(place.raised()); !raised) return std::unexpected(raised.error());
  for (const auto& lane : lanes) {
    auto fields = link_.call(Command(place.slot, "HGETALL").arg(place.queues(lane)));
    if (!fields) return std::unexpected(fields.error());
    for (std::size_t i = 0; i + 1 < fields->value().size(); i += 2) {
      const std::string queue = place.queue_start() + std::string((*fields)[i].text()) + Place::queue_end(lane);
      auto members = add_members(queue);
      if (!members) return std::unexpected(members.error());
      if (*members == 0) faults.push_back(queue + ": listed with its lane, but empty");
    }
  }
  auto stored_counts = link_.call(Command(place.slot, "HGETALL").arg(place.counts()));
  if (!stored_counts) return std::unexpected(stored_counts.error());
  std::map<std::string, std::int64_t> counted;
  for (std::size_t i = 0; i + 1 < stored_counts->value().size(); i += 2)
    counted[std::string((*stored_counts)[i].text())] = (*stored_counts)[i + 1].number();
  for (const auto& line : entries.derived)
    if (!entries.stored.contains(line)) faults.push_back("an index lacks an entry: " + line);
  for (const auto& line : entries.stored)
    if (!entries.derived.contains(line)) faults.push_back("an index has an entry too many: " + line);
  if (counted != counts) faults.push_back(place.counts() + ": is not what the records add up to");
  return {};
}

/// Meant for a store at rest: what others change while it walks shows as a fault.
Result<std::vector<std::string>> RedisReader::verify(std::uint32_t limit) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  std::vector<std::string> faults;
  for (const auto& place : *places) {
    std::vector<std::string> found;
    // A second look tells what is wrong from what was just changing.
    for (int looks = 0; looks < 3; ++looks) {
      found.clear();
      if (auto looked = verify_place(place, limit, found); !looked) return std::unexpected(looked.error());
      if (found.empty()) break;
    }
    faults.insert(faults.end(), found.begin(), found.end());
    if (faults.size() >= limit) break;
  }
  if (faults.size() > limit) faults.resize(limit);
  return faults;
}

}  // namespace ff::store::redis
