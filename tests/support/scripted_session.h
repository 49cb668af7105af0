#pragma once

#include "store/store.h"

#include <functional>

namespace ff::test {

/// A session whose steps can be told to go wrong, in front of a real one. It writes down what was asked of it.
class ScriptedSession final : public store::Session {
 public:
  /// What the next calls of one step answer instead of doing it; unset: that call is let through.
  using Answers = std::deque<std::optional<Result<store::Step>>>;
  struct Script {
    Answers begin, load, take, save;
    /// Units that a save finds changed by somebody else.
    std::function<bool(const store::Unit&)> conflicts;
    /// Executions whose load fails with a fault of the store, and such that are stored but cannot be read.
    std::set<ExecutionId> broken, unreadable;
    std::vector<std::string> calls;
  };

  ScriptedSession(std::unique_ptr<store::Session> inner, std::shared_ptr<Script> script)
      : inner_(std::move(inner)), script_(std::move(script)) {}

  Result<store::Step> begin() override {
    script_->calls.emplace_back("begin");
    if (auto told = next(script_->begin)) return *told;
    return inner_->begin();
  }
  Result<store::Step> load(std::span<store::Unit* const> units, std::span<core::Reads> reads,
                           store::LoadMode mode) override {
    script_->calls.emplace_back(mode == store::LoadMode::lock ? "load" : "look");
    if (auto told = next(script_->load)) return *told;
    for (std::size_t i = 0; i < units.size(); ++i)
      std::erase_if(reads[i].executions, [&](const ExecutionId& id) {
        if (!script_->unreadable.contains(id)) return false;
        units[i]->set.unreadable(id, {ErrorCode::corruption, "unreadable", {}});
        return true;
      });
    for (const auto& wanted : reads)
      for (const auto& id : wanted.executions)
        if (script_->broken.contains(id)) return std::unexpected(Error{ErrorCode::corruption, "broken", {}});
    return inner_->load(units, reads, mode);
  }
  Result<store::Step> take(std::span<const store::TakeRow> plan, std::deque<store::Unit>& units,
                           std::vector<store::Taken>& taken) override {
    script_->calls.emplace_back("take");
    if (auto told = next(script_->take)) return *told;
    return inner_->take(plan, units, taken);
  }
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker, const std::string& key) override {
    return inner_->claimed_under(worker, key);
  }
  Result<store::Step> save(std::span<store::Unit* const> units) override {
    script_->calls.emplace_back("save");
    if (auto told = next(script_->save)) return *told;
    std::vector<store::Unit*> good;
    for (store::Unit* unit : units) {
      if (script_->conflicts && script_->conflicts(*unit))
        unit->outcome = store::Unit::Outcome::conflict;
      else
        good.push_back(unit);
    }
    if (!good.empty()) return inner_->save(good);
    inner_->rollback();
    return store::Step::done;
  }
  void rollback() override {
    script_->calls.emplace_back("rollback");
    inner_->rollback();
  }
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override {
    return inner_->trim_events(before, audit_before, limit);
  }

 private:
  static std::optional<Result<store::Step>> next(Answers& answers) {
    if (answers.empty()) return std::nullopt;
    auto answer = std::move(answers.front());
    answers.pop_front();
    return answer;
  }

  std::unique_ptr<store::Session> inner_;
  std::shared_ptr<Script> script_;
};

}  // namespace ff::test
