// How a batch of claims gets its candidates: look at the queues, choose in the order of all partitions, reserve.

#include "core/ids.h"
#include "store/redis/redis_session.h"

#include <numeric>

namespace ff::store::redis {
namespace {

/// For how long others pass over what a take has chosen. A batch needs milliseconds; whoever dies in between hides his
/// candidates no longer than this.
constexpr TimeMs kReservationMs = 2'000;
/// The first look at a queue asks each partition for twice its share of what is wanted, and some more.
constexpr std::uint32_t kLookMore = 8;
/// What a claim needs of a candidate: its record and its data.
constexpr std::size_t kParts = 2;

}  // namespace

/// What one partition's part of a queue begins with.
struct RedisSession::Part {
  std::vector<OrderKey> keys;
  bool more = false;
};

/// The first keys of all parts together, and the one behind them.
struct RedisSession::Choice {
  std::vector<OrderKey> chosen;
  std::optional<OrderKey> next;
  bool sure = true;  ///< false: a part ended too early to tell
};

RedisSession::Choice RedisSession::choose(const TakeRow& row, const std::vector<Part>& parts) {
  Choice choice;
  std::vector<std::size_t> at(parts.size(), 0);
  while (true) {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (at[i] == parts[i].keys.size()) {
        if (parts[i].more) choice.sure = false;
        continue;
      }
      if (!first || parts[i].keys[at[i]] < parts[*first].keys[at[*first]]) first = i;
    }
    if (!first || !choice.sure) return choice;
    const OrderKey& key = parts[*first].keys[at[*first]++];
    if (choice.chosen.size() == row.count || key.priority < row.priority_floor) {
      choice.next = key;
      return choice;
    }
    choice.chosen.push_back(key);
  }
}

Result<Step> RedisSession::take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) {
  const std::vector<Place> places = shared_->places.known();
  taken.resize(taken.size() + plan.size());
  if (places.empty()) return Step::done;
  std::vector<Choice> choices(plan.size());
  std::vector<std::size_t> rows(plan.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::set<ExecutionId> moved;  // out of its queue by this batch, which has not committed it yet
  for (auto& unit : units)
    for (const auto& slot : unit.set.executions().slots())
      if (slot.dirty && slot.before && core::is_candidate(*slot.before)) moved.insert(slot.key);
  for (const bool all : {false, true})
    if (auto looked = look(plan, places, moved, all, rows, choices); !looked) return std::unexpected(looked.error());
  if (auto done = reserve(choices, units, std::span(taken).last(plan.size())); !done)
    return std::unexpected(done.error());
  return Step::done;
}

/// Chooses for these rows of the plan; those that it could not be sure about remain.
Result<void> RedisSession::look(std::span<const TakeRow> plan, const std::vector<Place>& places,
                                const std::set<ExecutionId>& moved, bool all, std::vector<std::size_t>& rows,
                                std::vector<Choice>& choices) {
  if (rows.empty()) return {};
  const auto parts_count = static_cast<std::uint32_t>(places.size());
  std::vector<Command> commands;
  for (std::size_t row : rows) {
    const std::uint32_t wanted = plan[row].count + 1 + static_cast<std::uint32_t>(moved.size());
    const std::uint32_t look = all ? wanted : std::min(wanted, 2 * wanted / parts_count + kLookMore);
    for (const auto& place : places)
      commands.push_back(
          Command(place.slot, "FCALL_RO").args("ff_peek", 2, place.queue(*plan[row].queue), place.reserved(), look));
  }
  // A server that is gone has nothing to offer; the others go on.
  const Link::Answers answers = link_.attempt(commands);
  if (std::none_of(answers.replies.begin(), answers.replies.end(), [](const Reply& reply) { return bool(reply); }))
    return std::unexpected(answers.trouble.value_or(Error{ErrorCode::store_unavailable, "No server answered.", {}}));
  std::vector<std::size_t> unsure;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Part> parts(places.size());
    for (std::size_t j = 0; j < places.size(); ++j) {
      const Reply& reply = answers.replies[i * places.size() + j];
      const std::string_view members = reply[0].text();
      parts[j].more = reply[1].number() == 1;
      for (std::size_t at = 0; at + kOrderBytes <= members.size(); at += kOrderBytes) {
        const OrderKey key = order_from(members.substr(at, kOrderBytes), places[j].number);
        if (!moved.contains(key.id)) parts[j].keys.push_back(key);
      }
    }
    choices[rows[i]] = choose(plan[rows[i]], parts);
    if (!choices[rows[i]].sure) unsure.push_back(rows[i]);
  }
  rows = std::move(unsure);
  return {};
}

/// Reserves and loads what was chosen, each into a unit of its own. What somebody else got meanwhile is left out.
Result<void> RedisSession::reserve(const std::vector<Choice>& choices, std::deque<Unit>& units,
                                   std::span<Taken> taken) {
  std::map<std::uint16_t, std::vector<ExecutionId>> by_partition;
  for (const auto& choice : choices)
    for (const auto& key : choice.chosen) by_partition[key.id.partition].push_back(key.id);
  std::vector<Command> commands;
  std::vector<std::uint16_t> slots;
  for (const auto& [partition, ids] : by_partition) {
    const Place place(partition);
    slots.push_back(place.slot);
    Command& command = commands.emplace_back(place.slot, "FCALL");
    command.args("ff_reserve", kParts * ids.size() + 1, place.reserved()).once();
    for (const auto& id : ids) command.args(place.record(id.uuid), place.data(id.uuid));
    command.args(kReservationMs, kParts);
    for (const auto& id : ids) command.arg(core::raw_bytes(id.uuid));
    reserved_.insert(ids.begin(), ids.end());
  }
  const std::vector<std::size_t> clocks = add_clocks(slots, commands);
  const Link::Answers answers = link_.attempt(commands);

  std::map<ExecutionId, Unit*> loaded;
  std::size_t at = 0;
  for (const auto& [partition, ids] : by_partition) {
    const Value rows = answers.replies[at].value();
    const Reply& clock = answers.replies[clocks[at++]];
    if (!shared_->options.clock && !clock) continue;
    const TimeMs now = shared_->options.clock ? shared_->options.clock->now_ms() : time_of(clock.value());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Value record = rows[kParts * i], data = rows[kParts * i + 1];
      if (record.is_nil()) {
        if (rows.size() > 0) reserved_.erase(ids[i]);  // somebody else's
        continue;
      }
      Unit& unit = units.emplace_back();
      keep_execution(unit.set, ids[i], record);
      keep_info(unit.set, ids[i], data);
      keep_payload(unit.set, ids[i], data);
      set_clock(unit, now);
      loaded.emplace(ids[i], &unit);
    }
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const auto& key : choices[i].chosen)
      if (auto it = loaded.find(key.id); it != loaded.end() && it->second->set.execution(key.id))
        taken[i].candidates.emplace_back(it->second, key.id);
    taken[i].next_head = choices[i].next;
  }
  return {};
}

}  // namespace ff::store::redis
