// Random histories of one execution, made from a seed: whatever is done to it, in whatever order, the record stays
// legal and the promises of its life hold.

#include "core/why.h"
#include "support/rules.h"

#include <gtest/gtest.h>

#include <random>

namespace ff::core {
namespace {

using test::job;
using test::Rules;

class History {
 public:
  explicit History(std::uint64_t seed) : chance_(seed) {
    constexpr const char* kPolicies[] = {
        "",
        R"({"lease_loss_policy":"retry","retry_policy":{"max_retries":2}})",
        R"({"max_reclaim_count":1,"max_replay_count":3})",
        R"({"retry_policy":{"max_retries":0},"timeout_policy":{"attempt_timeout_ms":40000}})",
        R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":0}},"timeout_policy":{"execution_deadline_ms":90000}})",
        R"({"timeout_policy":{"attempt_timeout_ms":5000,"execution_deadline_ms":500000},"max_reclaim_count":3})",
    };
    Submission s = job(kPolicies[pick(std::size(kPolicies))]);
    if (pick(4) == 0) s.delay_ms = pick(20'000);
    id_ = rules_.submit(std::move(s));
    log_.push_back("submit");
  }

  void step() {
    rules_.now += static_cast<TimeMs>(pick(3) == 0 ? pick(60'000) : pick(500));
    const ExecutionRecord before = rules_.record(id_);
    const std::size_t events_before = rules_.set.events().size();
    refused_ = false;
    claimed_ = false;
    log_.push_back(act());
    check(before, events_before);
  }

  const std::vector<std::string>& log() const { return log_; }
  const Rules& rules() const { return rules_; }

 private:
  std::size_t pick(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(chance_); }

  /// A handle that was once given, now and then with one thing forged.
  TaskHandle any_handle() {
    TaskHandle handle;
    if (handles_.empty())
      handle.execution_id = id_;
    else
      handle = pick(3) > 0 ? handles_.back() : handles_[pick(handles_.size())];
    switch (pick(20)) {
      case 0: ++handle.lease_epoch; break;
      case 1: handle.lease_id = Uuid{}; break;
      case 2: handle.attempt_id = Uuid{}; break;
      case 3: ++handle.attempt_index; break;
      default: break;
    }
    return handle;
  }

  template <class Op>
  std::string run(const Op& op) {
    auto reply = rules_.run(op);
    refused_ = !reply;
    return fmt::format("{} -> {}", Op::kName, reply ? "ok" : traits(reply.error().code).name);
  }

  std::string claim() {
    auto task = rules_.offer(id_, rules_.claim_of("w" + std::to_string(pick(3)), static_cast<std::uint32_t>(1'000 + pick(30'000))));
    if (!task) return "claim -> nothing";
    take(task->handle);
    return fmt::format("claim -> {} {}", name_of(task->handle.kind), task->handle.attempt_index);
  }
  std::string claim_named() {
    ClaimNamed op{id_, rules_.claim_of("n" + std::to_string(pick(2))), std::nullopt};
    if (pick(3) == 0) op.claim.claim_key = "key";
    const std::uint64_t epoch = rules_.record(id_).counters.current_lease_epoch;
    auto reply = rules_.run(op);
    refused_ = !reply;
    if (reply && !reply->empty() && reply->front().handle.lease_epoch != epoch) take(reply->front().handle);
    return fmt::format("claim_named -> {}", reply ? std::to_string(reply->size()) : traits(reply.error().code).name);
  }
  void take(const TaskHandle& handle) {
    claimed_ = true;
    handles_.push_back(handle);
  }

  std::string act() {
    switch (pick(20)) {
      case 0:
      case 1:
      case 2:
      case 3: return claim();
      case 4: return claim_named();
      case 5: return run(Renew{any_handle(), std::nullopt, pick(2) == 0});
      case 6: return run(ReportProgressOp{any_handle(), static_cast<std::uint32_t>(pick(101)), std::nullopt});
      case 7: return run(Complete{any_handle(), pick(2) == 0 ? test::bytes("result") : nullptr, "text/plain"});
      case 8: {
        const auto failure_class = static_cast<FailureClass>(pick(5));
        return run(Fail{any_handle(), "failed", failure_class, std::string(name_of(failure_class)),
                        static_cast<double>(pick(1000)) / 1000});
      }
      case 9: return run(Delay{any_handle(), std::nullopt, pick(2) == 0 ? 0 : pick(30'000)});
      case 10: return run(WaitForChildren{any_handle(), pick(4) == 0});
      case 11: return pick(3) == 0 ? run(CancelByHolder{any_handle(), "by holder"}) : claim();
      case 12: return pick(3) == 0 ? run(CancelByOperator{{}, id_, "by operator"}) : claim();
      case 13: return run(Revoke{{}, {.execution_id = id_}});
      case 14: return run(Replay{{}, id_, "again", std::nullopt});
      case 15: return run(ChangePriorityOp{{}, id_, static_cast<std::int32_t>(pick(10))});
      case 16: return run(SetTagsOp{{}, id_, {{"k" + std::to_string(pick(3)), pick(2) == 0 ? std::nullopt : std::optional<std::string>("v")}}});
      case 17: return pick(4) == 0 ? run(FailByOperator{{}, id_, "by operator", "operator", std::nullopt})
                                   : run(RingTimer{id_, TimerKind::lease});
      case 18: return pick(4) == 0 ? run(CompleteByOperator{{}, id_, nullptr, "", std::nullopt})
                                   : run(RingTimer{id_, TimerKind::delay});
      default: return run(RingTimer{id_, static_cast<TimerKind>(pick(kTimerKinds))});
    }
  }

  void check(const ExecutionRecord& before, std::size_t events_before) {
    const ExecutionRecord& after = rules_.record(id_);
    ASSERT_EQ(illegality(after), "");
    const bool same = same_record(before, after);

    // A version for every change, and a change for every version.
    ASSERT_EQ(after.version, before.version + (same ? 0 : 1));
    ASSERT_EQ(rules_.wrote(), !same);
    // A refusal changes nothing, but for the loss that a late call discovers and the stamp of a mismatch.
    if (refused_ && !same) {
      ASSERT_TRUE(before.is_leased() && !before.is_live(rules_.now)) << "refused, and yet it wrote";
    }

    const std::uint64_t rise = after.counters.current_lease_epoch - before.counters.current_lease_epoch;
    ASSERT_EQ(rise, claimed_ ? 1U : 0U) << "the epoch rises at a lease issue and at nothing else";
    ASSERT_EQ(after.times.created_at_ms, before.times.created_at_ms);
    if (before.times.started_at_ms) {
      ASSERT_EQ(after.times.started_at_ms, before.times.started_at_ms);
    }

    // Attempts are dense: each index is used once, and none that is over changes again, but for its receipt.
    ASSERT_GE(after.counters.total_attempt_count, before.counters.total_attempt_count);
    ASSERT_LE(after.counters.total_attempt_count, before.counters.total_attempt_count + 1);
    for (std::uint32_t i = 0; i < after.counters.total_attempt_count; ++i) {
      const Attempt* attempt = rules_.set.attempt(id_, i);
      ASSERT_TRUE(attempt) << i;
      ASSERT_EQ(attempt->attempt_index, i);
      auto [known, added] = attempt_ids_.try_emplace(i, attempt->attempt_id);
      ASSERT_EQ(known->second, attempt->attempt_id) << "an index belongs to one attempt for ever";
      const bool newest = i + 1 == after.counters.total_attempt_count;
      ASSERT_TRUE(newest || attempt->ended_at_ms) << "only the newest attempt may be open";
    }

    // One completion per end, none in between.
    for (std::size_t i = events_before; i < rules_.set.events().size(); ++i) {
      const EventRecord& event = rules_.set.events()[i];
      if (event.kind == EventKind::completion) ++completions_;
    }
    const bool ended_now = after.is_terminal() && !before.is_terminal();
    ends_ += ended_now ? 1 : 0;
    ASSERT_EQ(completions_, ends_);
    ASSERT_LE(ends_, after.counters.replay_count + 1U);
    if (before.is_terminal() && after.is_terminal()) {
      ASSERT_EQ(after.state, before.state) << "what has ended stays ended";
    }

    const Why why = explain(after, {}, rules_.now);
    ASSERT_FALSE(why.text.empty());
    ASSERT_FALSE(why.reason.empty());
    ASSERT_FALSE(is_candidate(after) && after.is_live(rules_.now)) << "never claimable and owned at once";
  }

  std::mt19937_64 chance_;
  Rules rules_;
  ExecutionId id_;
  std::vector<TaskHandle> handles_;
  std::vector<std::string> log_;
  std::map<std::uint32_t, Uuid> attempt_ids_;
  std::size_t completions_ = 0, ends_ = 0;
  bool refused_ = false, claimed_ = false;
};

/// FF_SEED=<n> runs that history alone.
std::pair<std::uint64_t, std::uint64_t> seeds() {
  if (const char* given = std::getenv("FF_SEED")) {
    const std::uint64_t seed = std::strtoull(given, nullptr, 10);
    return {seed, seed + 1};
  }
  return {1, 1001};
}

TEST(Domain, T15_random_histories_of_one_execution) {
  std::set<PublicState> seen;
  const auto [first, end] = seeds();
  for (std::uint64_t seed = first; seed < end; ++seed) {
    History history(seed);
    for (int i = 0; i < 120; ++i) {
      history.step();
      if (testing::Test::HasFailure()) break;
      for (const auto& slot : const_cast<Rules&>(history.rules()).set.executions().slots())
        seen.insert(slot.value->state.public_state);
    }
    if (testing::Test::HasFailure()) {
      FAIL() << "seed " << seed << " (run it alone with FF_SEED=" << seed << "):\n"
             << fmt::format("{}", fmt::join(history.log(), "\n"));
    }
  }
  if (end - first > 1) {
    EXPECT_EQ(seen, (std::set{PublicState::waiting, PublicState::delayed, PublicState::active, PublicState::resumable,
                              PublicState::completed, PublicState::failed, PublicState::cancelled,
                              PublicState::expired}))
        << "the histories reach every state that there is without flows, suspension and budgets";
  }
}

TEST(Domain, T15_the_same_seed_gives_the_same_history) {
  History one(7), two(7);
  for (int i = 0; i < 200; ++i) {
    one.step();
    two.step();
  }
  EXPECT_EQ(one.log(), two.log());
}

}  // namespace
}  // namespace ff::core
