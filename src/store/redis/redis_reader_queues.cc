// What a reader knows of lanes and their queues.

#include "core/ids.h"
#include "store/redis/redis_reader.h"

#include <array>

namespace ff::store::redis {
namespace {

/// Distinct priorities of a queue that the search for its oldest member looks at.
constexpr int kPrioritiesMax = 64;

}  // namespace

Result<std::vector<Reply>> RedisReader::on_all(const std::vector<Place>& places,
                                               const std::function<Command(const Place&)>& make) {
  std::vector<Command> commands;
  for (const auto& place : places) commands.push_back(make(place));
  auto replies = link_.run(commands);
  if (replies)
    if (auto good = check_all(*replies); !good) return std::unexpected(good.error());
  return replies;
}

Result<std::vector<Reply>> RedisReader::on_most(const std::vector<Place>& places,
                                                const std::function<Command(const Place&)>& make) {
  std::vector<Command> commands;
  for (const auto& place : places) commands.push_back(make(place));
  Link::Answers answers = link_.attempt(commands);
  std::optional<Error> trouble = std::move(answers.trouble);
  std::size_t good = 0;
  for (auto& reply : answers.replies) {
    if (reply && reply.value().is_error()) {
      trouble = error_of(reply.value().text());
      reply = Reply();
    }
    good += reply ? 1 : 0;
  }
  if (trouble && good == 0) return std::unexpected(std::move(*trouble));
  return std::move(answers.replies);
}

Result<std::optional<Lane>> RedisReader::lane(const std::string& lane_id) {
  const Place global(0);
  auto row = link_.call(Command(global.slot, "GET").arg(global.lane(lane_id)));
  if (!row) return std::unexpected(row.error());
  if (row->value().is_nil()) return std::nullopt;
  auto lane = read_lane(row->value().text());
  if (!lane) return std::unexpected(lane.error());
  return std::optional(std::move(*lane));
}

Result<std::vector<Lane>> RedisReader::lanes(const std::string& after, std::uint32_t limit) {
  const Place global(0);
  auto ids = link_.call(
      Command(global.slot, "ZRANGE")
          .args(global.lanes(), after.empty() ? std::string("-") : "(" + after, "+", "BYLEX", "LIMIT", 0, limit));
  if (!ids) return std::unexpected(ids.error());
  std::vector<Command> commands;
  for (std::size_t i = 0; i < ids->value().size(); ++i)
    commands.push_back(Command(global.slot, "GET").arg(global.lane((*ids)[i].text())));
  auto rows = link_.run(commands);
  if (!rows) return std::unexpected(rows.error());
  if (auto good = check_all(*rows); !good) return std::unexpected(good.error());
  std::vector<Lane> found;
  for (const auto& row : *rows) {
    if (row.value().is_nil()) continue;
    auto lane = read_lane(row.value().text());
    if (!lane) return std::unexpected(lane.error());
    found.push_back(std::move(*lane));
  }
  return found;
}

Result<LaneCounts> RedisReader::lane_counts(const std::string& lane_id) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  LaneCounts counts;
  const std::array by_bucket = {&counts.eligible,       &counts.delayed,       &counts.blocked_dependencies,
                                &counts.blocked_budget, &counts.blocked_quota, &counts.blocked_route,
                                &counts.active,         &counts.reclaimable,   &counts.suspended,
                                &counts.terminal};
  auto replies = on_all(*places, [&](const Place& place) {
    Command command(place.slot, "HMGET");
    command.arg(place.counts());
    for (std::size_t i = 0; i < by_bucket.size(); ++i) command.arg(count_field(static_cast<Bucket>(i), lane_id));
    return command;
  });
  if (!replies) return std::unexpected(replies.error());
  for (const auto& reply : *replies)
    for (std::size_t i = 0; i < by_bucket.size(); ++i)
      by_bucket[i]->value += static_cast<std::uint64_t>(reply[i].number());
  for (Count* count : by_bucket) count->estimate = count->value > kCountExactMax;
  return counts;
}

Result<std::optional<TimeMs>> RedisReader::oldest_candidate(const std::string& lane_id) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  auto replies = on_all(*places, [&](const Place& place) {
    return Command(place.slot, "FCALL_RO")
        .args("ff_oldest", 1, place.queues(lane_id), place.queue_start(), Place::queue_end(lane_id), kPrioritiesMax);
  });
  if (!replies) return std::unexpected(replies.error());
  std::optional<TimeMs> oldest;
  for (const auto& reply : *replies)
    if (!reply.value().is_nil() && (!oldest || reply.value().number() < *oldest)) oldest = reply.value().number();
  return oldest;
}

Result<std::uint64_t> RedisReader::ahead_of(const ExecutionRecord& record) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  const std::string bound = "(" + order_bytes(core::order_key(record));
  auto replies = on_all(*places, [&](const Place& place) {
    return Command(place.slot, "ZLEXCOUNT").args(place.queue(*record.queue), "-", bound);
  });
  if (!replies) return std::unexpected(replies.error());
  std::uint64_t ahead = 0;
  for (const auto& reply : *replies) ahead += static_cast<std::uint64_t>(reply.value().number());
  return std::min<std::uint64_t>(ahead, kAheadMax);
}

Result<std::vector<QueueHead>> RedisReader::queue_heads(const std::string& lane_id, std::uint32_t count_max) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  auto replies = on_most(*places, [&](const Place& place) {
    return Command(place.slot, "FCALL_RO")
        .args("ff_heads", 1, place.queues(lane_id), place.queue_start(), Place::queue_end(lane_id), count_max);
  });
  if (!replies) return std::unexpected(replies.error());
  std::map<std::string_view, QueueHead> by_queue;
  for (std::size_t i = 0; i < places->size(); ++i) {
    for (std::size_t j = 0; j < (*replies)[i].value().size(); ++j) {
      const Value row = (*replies)[i][j];
      const OrderKey head = order_from(row[1].text(), (*places)[i].number);
      auto [it, added] = by_queue.try_emplace(row[0].text());
      if (added) {
        auto queue = queues_.get(row[0].text());
        if (!queue) return std::unexpected(queue.error());
        it->second.queue = std::move(*queue);
        it->second.head = head;
      }
      it->second.head = std::min(it->second.head, head);
      it->second.count =
          std::min<std::uint64_t>(it->second.count + static_cast<std::uint64_t>(row[2].number()), count_max);
    }
  }
  std::vector<QueueHead> heads;
  for (auto& [text, head] : by_queue) heads.push_back(std::move(head));
  return heads;
}

}  // namespace ff::store::redis
