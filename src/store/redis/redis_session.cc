#include "store/redis/redis_session.h"

#include "core/ids.h"
#include "core/ops/keyed.h"

namespace ff::store::redis {
namespace {

Error lost_answer() {
  return {ErrorCode::store_unavailable, "The server that holds this partition does not answer. Try again shortly.", {}};
}

}  // namespace

RedisSession::RedisSession(std::shared_ptr<RedisShared> shared)
    : shared_(std::move(shared)), link_(shared_->link()), random_(std::random_device{}()) {}

Result<Step> RedisSession::begin() {
  release();
  loads_.clear();
  return Step::done;
}

// ---- loading ------------------------------------------------------------------------------------------------------

struct RedisSession::Want {
  enum class Kind : std::uint8_t { execution, info, payload, attempt, lane, key, document } kind;
  std::size_t unit;
  std::size_t at;       ///< which of the unit's reads of that kind
  std::size_t command;  ///< whose reply
  std::size_t part;     ///< which part of it
  const core::Reads* reads;
};

/// Puts what units want to read into few commands: one for all values of a partition.
class RedisSession::ReadPlan {
 public:
  explicit ReadPlan(const core::Partitioning& partitioning) : partitioning_(partitioning) {}

  /// The slot that the unit's clock is that of.
  std::uint16_t add(std::size_t unit, const core::Reads& reads) {
    using Kind = Want::Kind;
    std::optional<std::uint16_t> slot;
    auto value = [&](Kind kind, std::size_t at, const Place& place, const std::string& key) {
      auto [it, added] = values_.try_emplace(place.number, commands.size());
      if (added) {
        commands.emplace_back(place.slot, "MGET");
        parts_.push_back(0);
      }
      commands[it->second].arg(key);
      wants.push_back({kind, unit, at, it->second, parts_[it->second]++, &reads});
      slot = slot.value_or(place.slot);
    };
    auto alone = [&](Kind kind, std::size_t at, Command command) {
      slot = slot.value_or(command.slot());
      wants.push_back({kind, unit, at, commands.size(), 0, &reads});
      commands.push_back(std::move(command));
      parts_.push_back(1);
    };
    for (std::size_t i = 0; i < reads.executions.size(); ++i) {
      const Place place(reads.executions[i].partition);
      value(Kind::execution, i, place, place.record(reads.executions[i].uuid));
    }
    for (std::size_t i = 0; i < reads.infos.size(); ++i) {
      const Place place(reads.infos[i].partition);
      value(Kind::info, i, place, place.data(reads.infos[i].uuid));
    }
    for (std::size_t i = 0; i < reads.payloads.size(); ++i) {
      const Place place(reads.payloads[i].partition);
      value(Kind::payload, i, place, place.data(reads.payloads[i].uuid));
    }
    for (std::size_t i = 0; i < reads.attempts.size(); ++i) {
      const Place place(reads.attempts[i].execution_id.partition);
      alone(Kind::attempt, i,
            Command(place.slot, "HMGET")
                .args(place.attempts(reads.attempts[i].execution_id.uuid), reads.attempts[i].attempt_index));
    }
    for (std::size_t i = 0; i < reads.keys.size(); ++i) {
      const core::IdempotencyId& id = reads.keys[i];
      const Place place(core::partition_of(id, partitioning_));
      value(Kind::key, i, place, place.key(id));
    }
    const Place global(0);
    for (std::size_t i = 0; i < reads.documents.size(); ++i)
      value(Kind::document, i, global, global.document(reads.documents[i]));
    for (std::size_t i = 0; i < reads.lanes.size(); ++i) value(Kind::lane, i, global, global.lane(reads.lanes[i]));
    return slot.value_or(global.slot);
  }

  std::vector<Command> commands;
  std::vector<Want> wants;

 private:
  const core::Partitioning& partitioning_;
  std::map<std::uint16_t, std::size_t> values_;
  std::vector<std::size_t> parts_;
};

/// A server that is gone harms only who wants something of it.
Result<void> RedisSession::keep_missed(core::WorkingSet& set, const Want& want, Error error) {
  if (want.kind == Want::Kind::execution)
    set.unreadable(want.reads->executions[want.at], std::move(error));
  else if (want.kind == Want::Kind::info)
    set.unreadable(want.reads->infos[want.at], std::move(error));
  else
    return std::unexpected(std::move(error));
  return {};
}

Result<void> RedisSession::keep(core::WorkingSet& set, const Want& want, const Reply& reply) {
  const core::Reads& reads = *want.reads;
  if (!reply) return keep_missed(set, want, lost_answer());
  if (reply.value().is_error()) return keep_missed(set, want, error_of(reply.value().text()));
  const Value value = reply[want.part];
  switch (want.kind) {
    case Want::Kind::execution: keep_execution(set, reads.executions[want.at], value); return {};
    case Want::Kind::info: keep_info(set, reads.infos[want.at], value); return {};
    case Want::Kind::payload: keep_payload(set, reads.payloads[want.at], value); return {};
    case Want::Kind::attempt: {
      std::optional<Attempt> found;
      if (!value.is_nil()) {
        auto attempt = unpack_attempt(value.text());
        if (!attempt) return std::unexpected(attempt.error());
        found = std::move(*attempt);
      }
      set.attempts().loaded(reads.attempts[want.at], std::move(found));
      return {};
    }
    case Want::Kind::lane: {
      std::optional<Lane> found;
      if (!value.is_nil()) {
        auto lane = read_lane(value.text());
        if (!lane) return std::unexpected(lane.error());
        found = std::move(*lane);
        loads_.add(set, Place(0).lane(reads.lanes[want.at]), value.text());
      }
      set.lanes().loaded(reads.lanes[want.at], std::move(found));
      return {};
    }
    case Want::Kind::key: {
      const core::IdempotencyId& id = reads.keys[want.at];
      const Place place(core::partition_of(id, shared_->partitioning));
      auto record = read_key(id, place.number, value);
      if (!record) return std::unexpected(record.error());
      if (*record) loads_.add(set, place.key(id), value.text());
      set.keys().loaded(id, std::move(*record));
      return {};
    }
    case Want::Kind::document: {
      const core::DocumentId& id = reads.documents[want.at];
      auto document = read_document(id, value);
      if (!document) return std::unexpected(document.error());
      if (*document) loads_.add(set, Place(0).document(id), value.text());
      set.documents().loaded(id, std::move(*document));
      return {};
    }
  }
  return {};
}

/// A record that cannot be read is remembered as such and harms only who wants it.
void RedisSession::keep_execution(core::WorkingSet& set, const ExecutionId& id, const Value& value) {
  auto stored = read_execution(id, value, queues_);
  if (!stored) return set.unreadable(id, stored.error());
  if (!*stored) {
    set.executions().loaded(id, nullptr);
    return;
  }
  loads_.add(set, id, {std::string(value.text()), (*stored)->last_events, std::move((*stored)->result)});
  set.executions().loaded(id, std::make_shared<ExecutionRecord>(std::move((*stored)->record)));
}

void RedisSession::keep_info(core::WorkingSet& set, const ExecutionId& id, const Value& data) {
  if (data.is_nil()) {
    set.infos().loaded(id, nullptr);
    return;
  }
  auto info = read_info(data.text());
  if (!info) return set.unreadable(id, info.error());
  set.infos().loaded(id, std::make_shared<core::ExecutionInfo>(std::move(*info)));
}

void RedisSession::keep_payload(core::WorkingSet& set, const ExecutionId& id, const Value& data) {
  const auto payload = data.is_nil() ? std::nullopt : payload_of(data.text());
  if (payload)
    set.payloads().loaded(id, std::make_shared<core::PayloadPart>(std::make_shared<const Bytes>(*payload)));
  else
    set.payloads().loaded(id, nullptr);
}

std::vector<std::size_t> RedisSession::add_clocks(std::span<const std::uint16_t> slots,
                                                  std::vector<Command>& commands) {
  std::vector<std::size_t> places;
  if (shared_->options.clock) return std::vector<std::size_t>(slots.size(), 0);
  std::map<Address, std::size_t> asked;
  std::map<std::uint16_t, std::size_t> by_slot;
  for (std::uint16_t slot : slots) {
    auto [known, fresh] = by_slot.try_emplace(slot, 0);
    if (fresh) {
      auto [it, added] = asked.try_emplace(shared_->topology->owner(slot), commands.size());
      if (added) commands.emplace_back(slot, "TIME");
      known->second = it->second;
    }
    places.push_back(known->second);
  }
  return places;
}

void RedisSession::set_clock(Unit& unit, TimeMs server_ms) {
  unit.now = std::max(unit.now, server_ms);
  for (const auto& slot : unit.set.executions().slots())
    if (slot.value) unit.now = std::max(unit.now, slot.value->times.last_mutation_at_ms);
}

Result<Step> RedisSession::load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode) {
  if (units.empty()) return Step::done;  // a batch of claims alone
  ReadPlan plan(shared_->partitioning);
  std::vector<std::uint16_t> slots;
  for (std::size_t i = 0; i < units.size(); ++i) slots.push_back(plan.add(i, reads[i]));
  const std::vector<std::size_t> clocks = add_clocks(slots, plan.commands);
  const Link::Answers answers = link_.attempt(plan.commands);
  std::optional<TimeMs> any_time;
  if (shared_->options.clock) any_time = shared_->options.clock->now_ms();
  for (std::size_t clock : clocks)
    if (!any_time && answers.replies[clock]) any_time = time_of(answers.replies[clock].value());
  if (!any_time) return std::unexpected(answers.trouble.value_or(lost_answer()));
  for (const auto& want : plan.wants)
    if (auto kept = keep(units[want.unit]->set, want, answers.replies[want.command]); !kept)
      return std::unexpected(kept.error());
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool told = !shared_->options.clock && answers.replies[clocks[i]];
    set_clock(*units[i], told ? time_of(answers.replies[clocks[i]].value()) : *any_time);
  }
  return Step::done;
}

Result<std::vector<ExecutionId>> RedisSession::claimed_under(const std::string&, const std::string& claim_key) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  std::vector<Command> commands;
  for (const auto& place : *places) commands.push_back(Command(place.slot, "SMEMBERS").arg(place.claim(claim_key)));
  auto replies = link_.run(commands);
  if (!replies) return std::unexpected(replies.error());
  if (auto good = check_all(*replies); !good) return std::unexpected(good.error());
  std::vector<ExecutionId> held;
  for (std::size_t i = 0; i < commands.size(); ++i)
    for (std::size_t j = 0; j < (*replies)[i].value().size(); ++j)
      held.push_back({(*places)[i].number, uuid_from((*replies)[i][j].text())});
  return held;
}

Result<std::uint64_t> RedisSession::trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) {
  auto places = shared_->places.current(link_);
  if (!places) return std::unexpected(places.error());
  std::uint64_t removed = 0;
  for (const auto& place : *places) {
    if (removed >= limit) break;
    auto reply = link_.call(Command(place.slot, "FCALL")
                                .args("ff_trim", 2, place.events(), place.event_head(), before, audit_before,
                                      std::uint64_t{limit} - removed));
    if (!reply) return std::unexpected(reply.error());
    removed += static_cast<std::uint64_t>(reply->value().number());
  }
  return removed;
}

Result<std::unique_ptr<Session>> open_session(std::shared_ptr<RedisShared> shared) {
  return std::make_unique<RedisSession>(std::move(shared));
}

}  // namespace ff::store::redis
