#pragma once

#include "store/redis/commit.h"
#include "store/redis/redis_store.h"

#include <random>

namespace ff::store::redis {

/// One executor's way into the store. Nothing is locked: a load reads, each unit is committed by one call that checks
/// the versions of what it relied on, and units fail alone.
class RedisSession final : public Session {
 public:
  explicit RedisSession(std::shared_ptr<RedisShared> shared);
  ~RedisSession() override { release(); }

  Result<Step> begin() override;
  Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) override;
  Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) override;
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                 const std::string& claim_key) override;
  Result<Step> save(std::span<Unit* const> units) override;
  void rollback() override { release(); }
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override;

 private:
  /// Which part of a reply belongs to which part of a working set.
  struct Want;
  class ReadPlan;
  Result<void> keep(core::WorkingSet& set, const Want& want, const Reply& reply);
  Result<void> keep_missed(core::WorkingSet& set, const Want& want, Error error);
  void keep_execution(core::WorkingSet& set, const ExecutionId& id, const Value& value);
  void keep_info(core::WorkingSet& set, const ExecutionId& id, const Value& data);
  void keep_payload(core::WorkingSet& set, const ExecutionId& id, const Value& data);

  /// Asks the servers of these slots for their time, once each; the place of the answer for each slot.
  std::vector<std::size_t> add_clocks(std::span<const std::uint16_t> slots, std::vector<Command>& commands);
  void set_clock(Unit& unit, TimeMs server_ms);

  // Taking.
  struct Part;
  struct Choice;
  static Choice choose(const TakeRow& row, const std::vector<Part>& parts);
  Result<void> look(std::span<const TakeRow> plan, const std::vector<Place>& places, const std::set<ExecutionId>& moved,
                    bool all, std::vector<std::size_t>& rows, std::vector<Choice>& choices);
  Result<void> reserve(const std::vector<Choice>& choices, std::deque<Unit>& units, std::span<Taken> taken);

  /// The calls of a save, and where in them each unit stands.
  struct Plan;
  Result<Plan> prepare(std::span<Unit* const> units);
  struct Round;
  Result<Round> save_round(std::span<Unit* const> units);
  Result<void> resolve(std::span<Unit* const> units, const Plan& plan, const std::vector<std::size_t>& unknown);
  std::vector<std::size_t> add_waits(const Plan& plan, std::vector<Command>& commands) const;
  void add_wakes(const Plan& plan, std::vector<Command>& commands) const;
  void release();

  std::shared_ptr<RedisShared> shared_;
  Link link_;
  QueueCache queues_;
  Loads loads_;
  std::set<ExecutionId> reserved_;
  std::mt19937_64 random_;
  std::string mark_;
};

}  // namespace ff::store::redis
