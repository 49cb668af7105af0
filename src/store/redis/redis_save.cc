// How a batch is saved: one call of the commit function for the units of a partition.

#include "core/ids.h"
#include "store/redis/redis_session.h"

namespace ff::store::redis {
namespace {

/// A decision that is older than this by the server's clock is made again: what it saw of the time no longer holds.
constexpr TimeMs kDecisionMs = 1'000;
/// How long the replicas may take to confirm a commit, where that is asked for.
constexpr int kReplicasMs = 2'000;
/// Units of one partition that share a call; others of the server's clients wait for no longer than these take.
constexpr std::uint32_t kUnitsPerCall = 128;
/// Units that share a call wait for the next when one of them has to be decided again.
constexpr int kSaveRounds = 4;

}  // namespace

struct RedisSession::Plan {
  std::vector<CommitCall> calls;
  struct Where {
    std::size_t call;
    std::uint32_t at;  ///< which of the call's units
    Witness witness;
  };
  std::vector<Where> units;
};

Result<RedisSession::Plan> RedisSession::prepare(std::span<Unit* const> units) {
  const std::uint64_t drawn = random_();
  static_assert(sizeof drawn == kMarkBytes);
  mark_.assign(reinterpret_cast<const char*>(&drawn), sizeof drawn);
  Plan plan;
  std::map<std::pair<std::uint16_t, bool>, std::size_t> open;
  std::vector<std::uint16_t> partitions;
  for (Unit* unit : units) {
    auto partition = Commit::partition_of(*unit, shared_->partitioning);
    if (!partition) return std::unexpected(partition.error());
    const bool only_erases = Commit::only_erases(*unit);
    auto [it, added] = open.try_emplace({*partition, only_erases}, plan.calls.size());
    if (added || plan.calls[it->second].units() >= kUnitsPerCall) {
      it->second = plan.calls.size();
      plan.calls.emplace_back(*partition, only_erases);
      partitions.push_back(*partition);
    }
    Commit::Context context{loads_, reserved_, 0, mark_};
    const auto& slots = unit->set.executions().slots();
    const bool relies = std::any_of(slots.begin(), slots.end(), [](const auto& slot) { return slot.stored; });
    if (relies && !shared_->options.clock) context.latest_ms = unit->now + kDecisionMs;
    CommitCall& call = plan.calls[it->second];
    const std::uint32_t at = call.units();
    plan.units.push_back({it->second, at, Commit(*unit, context, call).witness()});
  }
  // Before anything stands in a partition, the partition is known to whoever reads over all of them.
  if (auto added = shared_->places.add(link_, partitions); !added) return std::unexpected(added.error());
  return plan;
}

/// What came of one try: units whose call was refused because of others wait for the next.
struct RedisSession::Round {
  std::vector<Unit*> held_up;
  std::optional<Error> refused;
  bool confirmed = true;  ///< by as many replicas as were asked for
};

Result<RedisSession::Round> RedisSession::save_round(std::span<Unit* const> units) {
  auto plan = prepare(units);
  if (!plan) return std::unexpected(plan.error());
  std::vector<Command> commands;
  for (const auto& call : plan->calls) commands.push_back(call.command());
  const std::vector<std::size_t> waits = add_waits(*plan, commands);
  add_wakes(*plan, commands);
  Link::Answers answers = link_.attempt(commands);

  Round round;
  round.refused = std::move(answers.trouble);
  std::vector<std::set<std::uint32_t>> changed(plan->calls.size());  // units of each call whose records are others now
  for (std::size_t i = 0; i < plan->calls.size(); ++i) {
    const Value reply = answers.replies[i].value();
    for (std::size_t j = 0; j < reply.size(); ++j) changed[i].insert(plan->calls[i].unit_of(reply[j].number()));
  }
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto& [call, at, witness] = plan->units[i];
    const Reply& reply = answers.replies[call];
    units[i]->outcome = Unit::Outcome::conflict;
    if (!reply)
      unknown.push_back(i);
    else if (reply.value().is_error())
      round.refused = error_of(reply.value().text());
    else if (reply.value().number() == 1)
      units[i]->outcome = Unit::Outcome::committed;
    else if (!changed[call].empty() && !changed[call].contains(at))
      round.held_up.push_back(units[i]);
  }
  if (!unknown.empty())
    if (auto resolved = resolve(units, *plan, unknown); !resolved) round.refused = resolved.error();
  for (std::size_t wait : waits)
    if (const Reply& reply = answers.replies[wait]; !reply || reply.value().number() < shared_->replicas)
      round.confirmed = false;
  return round;
}

Result<Step> RedisSession::save(std::span<Unit* const> units) {
  std::optional<Error> refused;
  bool confirmed = true;
  std::vector<Unit*> left(units.begin(), units.end());
  for (int rounds = 0; !left.empty() && rounds < kSaveRounds; ++rounds) {
    auto round = save_round(left);
    if (!round) {
      refused = round.error();
      break;
    }
    if (round->refused) refused = std::move(round->refused);
    confirmed = confirmed && round->confirmed;
    left = std::move(round->held_up);
  }
  bool any = false;
  for (Unit* unit : units) {
    if (unit->outcome != Unit::Outcome::committed) {
      unit->outcome = Unit::Outcome::conflict;
      continue;
    }
    any = true;
    for (const auto& slot : unit->set.executions().slots())
      if (slot.dirty) reserved_.erase(slot.key);
  }
  release();
  // What is committed but not safe yet is not acknowledged: the callers repeat, and hear the same once it is.
  if (any && !confirmed)
    return core::fail(
        ErrorCode::store_unavailable,
        fmt::format("Fewer than {} replicas confirmed the commit in time. Repeat the call.", shared_->replicas));
  // Where some units are committed their callers must hear of it; the others are decided again and meet the error
  // there.
  if (refused && !any) return std::unexpected(std::move(*refused));
  return Step::done;
}

/// Finds out about commits whose replies were lost. One that cannot be told is decided again on what is stored then:
/// the rules answer a repeat like the first call, and the version check keeps it from being applied twice.
Result<void> RedisSession::resolve(std::span<Unit* const> units, const Plan& plan,
                                   const std::vector<std::size_t>& unknown) {
  std::vector<Command> commands;
  std::vector<std::size_t> asked;
  for (std::size_t i : unknown) {
    const auto& [call, at, witness] = plan.units[i];
    if (witness.key.empty()) continue;
    commands.push_back(Command(plan.calls[call].place().slot, "GET").arg(witness.key));
    asked.push_back(i);
  }
  const Link::Answers answers = link_.attempt(commands);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Reply& reply = answers.replies[i];
    if (reply && !reply.value().is_error() && plan.units[asked[i]].witness.tells(reply.value(), mark_))
      units[asked[i]]->outcome = Unit::Outcome::committed;
  }
  if (answers.trouble) return std::unexpected(*answers.trouble);
  return {};
}

/// One wait per server, after its commits.
std::vector<std::size_t> RedisSession::add_waits(const Plan& plan, std::vector<Command>& commands) const {
  std::vector<std::size_t> waits;
  if (shared_->replicas == 0) return waits;
  std::set<Address> asked;
  for (const auto& call : plan.calls) {
    if (!asked.insert(shared_->topology->owner(call.place().slot)).second) continue;
    waits.push_back(commands.size());
    commands.push_back(Command(call.place().slot, "WAIT").args(shared_->replicas, kReplicasMs));
  }
  return waits;
}

/// One wake-up per partition, after its commits.
void RedisSession::add_wakes(const Plan& plan, std::vector<Command>& commands) const {
  std::set<std::uint16_t> told;
  for (const auto& call : plan.calls)
    if (call.wakes() && told.insert(call.place().number).second)
      commands.push_back(Command(call.place().slot, "SPUBLISH").args(call.place().wake(), shared_->instance));
}

/// Candidates that were reserved and not leased can be taken by others at once. Should this fail they are free when the
/// reservation runs out.
void RedisSession::release() {
  if (reserved_.empty()) return;
  std::map<std::uint16_t, std::vector<Uuid>> by_partition;
  for (const auto& id : std::exchange(reserved_, {})) by_partition[id.partition].push_back(id.uuid);
  std::vector<Command> commands;
  for (const auto& [partition, uuids] : by_partition) {
    const Place place(partition);
    Command& command = commands.emplace_back(place.slot, "ZREM");
    command.arg(place.reserved()).once();
    for (const auto& uuid : uuids) command.arg(core::raw_bytes(uuid));
  }
  (void)link_.attempt(commands, std::chrono::milliseconds(0));
}

}  // namespace ff::store::redis
