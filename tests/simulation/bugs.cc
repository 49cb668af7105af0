#include "bugs.h"

namespace ff::sim {
namespace {

using namespace store;

/// How often a bug shows.
constexpr double kRate = 0.1;

class BuggySession final : public Session {
 public:
  BuggySession(std::unique_ptr<Session> inner, MemoryData& data, Bug bug, Random random)
      : inner_(std::move(inner)), data_(data), bug_(bug), random_(random) {}

  Result<Step> begin() override { return inner_->begin(); }
  Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) override {
    auto loaded = inner_->load(units, reads, mode);
    for (Unit* unit : units)
      if (bug_ == Bug::turns_time_back && shows()) unit->now -= 60'000;
    return loaded;
  }
  Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) override {
    auto done = inner_->take(plan, units, taken);
    for (const auto& row : taken)
      for (const auto& [unit, id] : row.candidates)
        if (const auto* slot = unit->set.payloads().find(id); bug_ == Bug::mixes_up_payloads && slot->value && shows())
          const_cast<core::PayloadPart&>(*slot->value).payload = std::make_shared<const Bytes>("of another");
    return done;
  }
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                 const std::string& claim_key) override {
    return inner_->claimed_under(worker_instance_id, claim_key);
  }
  Result<Step> save(std::span<Unit* const> units) override;
  void rollback() override { inner_->rollback(); }
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override {
    return inner_->trim_events(before, audit_before, limit);
  }

 private:
  bool shows() { return random_.chance(kRate); }
  void spoil(Unit& unit);
  void spoil_stored(Unit& unit);
  void ignore_versions(Unit& unit);
  void store_again(const ExecutionId& id, const core::ExecutionRecord& record);

  std::unique_ptr<Session> inner_;
  MemoryData& data_;
  Bug bug_;
  Random random_;
};

bool is_completion(const core::EventRecord& event) { return event.kind == EventKind::completion; }

/// Before the save: what is about to be written is not what was decided.
void BuggySession::spoil(Unit& unit) {
  auto& events = unit.set.events();
  const auto completion = std::find_if(events.begin(), events.end(), is_completion);
  if (completion == events.end() || !shows()) return;
  if (bug_ == Bug::forgets_completion) events.erase(completion);
  if (bug_ == Bug::doubles_completion) events.push_back(core::EventRecord(*completion));
}

/// After the save: what is stored is not what was written.
void BuggySession::spoil_stored(Unit& unit) {
  for (const auto& slot : unit.set.executions().slots()) {
    if (!slot.dirty || !slot.value || !slot.before || !shows()) continue;
    const bool leased = slot.value->is_leased() && !slot.before->is_leased();
    if (bug_ == Bug::forgets_record) return store_again(slot.key, *slot.before);
    if (bug_ == Bug::undoes_lease && leased) {
      store_again(slot.key, *slot.before);
      for (; data_.events.back().event.execution_id == slot.key; data_.events.pop_back())
        std::erase(data_.events_of[slot.key], data_.events.back().event_id);
      return;
    }
    if (bug_ == Bug::forgets_index && !data_.queues.empty()) {
      data_.queues.erase(data_.queues.begin());
      return;
    }
    if (bug_ == Bug::forgets_event_index) data_.events_of.erase(slot.key);
  }
}

void BuggySession::store_again(const ExecutionId& id, const core::ExecutionRecord& record) {
  core::WorkingSet old;
  old.executions().write(id, std::make_shared<core::ExecutionRecord>(record));
  data_.save(old);
}

/// Makes the records look as if they had been loaded just now.
void BuggySession::ignore_versions(Unit& unit) {
  for (const auto& slot : unit.set.executions().slots()) {
    const auto stored = data_.executions.find(slot.key);
    const core::ExecutionRecord* loaded = slot.dirty ? slot.before.get() : slot.value.get();
    if (loaded && stored != data_.executions.end())
      const_cast<core::ExecutionRecord&>(*loaded) = stored->second.record;
  }
}

Result<Step> BuggySession::save(std::span<Unit* const> units) {
  if (bug_ == Bug::forgets_commit && shows()) {
    inner_->rollback();
    for (Unit* unit : units) unit->outcome = Unit::Outcome::committed;
    return Step::done;
  }
  for (Unit* unit : units) {
    spoil(*unit);
    if (bug_ == Bug::ignores_versions) ignore_versions(*unit);
  }
  auto saved = inner_->save(units);
  for (Unit* unit : units)
    if (unit->outcome == Unit::Outcome::committed) spoil_stored(*unit);
  return saved;
}

}  // namespace

std::string_view name_of(Bug bug) {
  switch (bug) {
    case Bug::none: return "none";
    case Bug::forgets_commit: return "forgets_commit";
    case Bug::forgets_record: return "forgets_record";
    case Bug::forgets_completion: return "forgets_completion";
    case Bug::doubles_completion: return "doubles_completion";
    case Bug::forgets_index: return "forgets_index";
    case Bug::forgets_event_index: return "forgets_event_index";
    case Bug::undoes_lease: return "undoes_lease";
    case Bug::ignores_versions: return "ignores_versions";
    case Bug::turns_time_back: return "turns_time_back";
    case Bug::mixes_up_payloads: return "mixes_up_payloads";
    case Bug::hides_queues: return "hides_queues";
    case Bug::never_sweeps: return "never_sweeps";
  }
  return "?";
}

std::unique_ptr<Session> with_bug(std::unique_ptr<Session> session, MemoryData& data, Bug bug, Random random) {
  if (bug == Bug::none) return session;
  return std::make_unique<BuggySession>(std::move(session), data, bug, random);
}

}  // namespace ff::sim
