// Two operations that meet on one execution: the first commit wins, nothing is merged. One case per row of the
// table of races.

#include "support/situations.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::bytes;
using test::job;
using test::Rules;

struct Race : Rules {
  explicit Race(std::string_view policy = "") : id(submit(job(policy))) {}

  template <class Op>
  std::string answer(const Op& op) {
    auto reply = run(op);
    if (reply) return wrote() ? "done" : "nothing";
    std::string text(traits(reply.error().code).name);
    for (std::string_view fact : {"terminal_outcome", "lifecycle_phase"})
      if (auto word = reply.error().context.text(fact); !word.empty()) text += fmt::format(" {}", word);
    return text;
  }
  std::size_t completions() {
    const auto all = history();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& e) { return e.starts_with("completion"); }));
  }

  ExecutionId id;
};

TEST(Executions, T26_renew_before_the_lease_sweep) {
  Race race;
  const TaskHandle handle = race.claim(race.id);
  race.now = race.record(race.id).lease->lease_expires_at_ms - 1;
  EXPECT_EQ(race.answer(Renew{handle, {}, false}), "done");
  race.now += 2;
  EXPECT_EQ(race.answer(RingTimer{race.id, TimerKind::lease}), "nothing");
}

TEST(Background, T19_the_lease_sweep_after_anything_else_writes_nothing) {
  auto swept_after = [](auto first) {
    Race race;
    const TaskHandle handle = race.claim(race.id);
    first(race, handle);
    race.now += 1'000'000;
    return race.answer(RingTimer{race.id, TimerKind::lease});
  };
  EXPECT_EQ(swept_after([](Race& r, auto& h) { r.must(Complete{h, nullptr, ""}); }), "nothing");
  EXPECT_EQ(swept_after([](Race& r, auto&) { ASSERT_TRUE(r.cancel(r.id)); }), "nothing");
  EXPECT_EQ(swept_after([](Race& r, auto& h) { ASSERT_TRUE(r.fail(h)); }), "nothing");
  EXPECT_EQ(swept_after([](Race& r, auto& h) { r.must(Delay{h, {}, 0}); }), "nothing");
  EXPECT_EQ(swept_after([](Race& r, auto&) { test::suspend(r, r.id); }), "nothing");
  EXPECT_EQ(swept_after([](Race& r, auto&) { r.must(Revoke{{}, {.execution_id = r.id}}); }), "nothing");
}

TEST(Executions, lost_lease_before_the_holders_calls) {
  Race race;
  const TaskHandle handle = race.claim(race.id);
  race.lose(race.id);
  EXPECT_EQ(race.answer(Renew{handle, {}, false}), "lease_expired");
  EXPECT_EQ(race.answer(Complete{handle, nullptr, ""}), "lease_expired");
  EXPECT_EQ(race.answer(Fail{handle, "m", FailureClass::transient, "c", 0}), "lease_expired");
  Race retried(R"({"lease_loss_policy":"retry"})");
  const TaskHandle old = retried.claim(retried.id);
  retried.lose(retried.id);
  EXPECT_EQ(retried.answer(Complete{old, nullptr, ""}), "execution_not_active none runnable");
}

TEST(Executions, takeover_before_the_old_holders_calls) {
  Race race;
  const TaskHandle handle = race.claim(race.id, "w1");
  race.lose(race.id);
  race.claim(race.id, "w2");
  EXPECT_EQ(race.answer(Renew{handle, {}, false}), "stale_lease");
  EXPECT_EQ(race.answer(Complete{handle, nullptr, ""}), "stale_lease");
}

TEST(Executions, T54_complete_before_cancel_and_operator_finish) {
  Race race;
  ASSERT_TRUE(race.complete(race.claim(race.id)));
  EXPECT_EQ(race.answer(CancelByOperator{{}, race.id, "r"}), "execution_not_active success terminal");
  EXPECT_EQ(race.answer(FailByOperator{{}, race.id, "m", "c", {}}), "execution_not_active success terminal");
  EXPECT_EQ(race.answer(CompleteByOperator{{}, race.id, nullptr, "", {}}), "execution_not_active success terminal");
  EXPECT_EQ(race.completions(), 1U);
}

TEST(Executions, complete_before_timeout_and_deadline) {
  Race race(R"({"timeout_policy":{"attempt_timeout_ms":10,"execution_deadline_ms":20}})");
  ASSERT_TRUE(race.complete(race.claim(race.id)));
  race.now += 1'000;
  EXPECT_EQ(race.answer(RingTimer{race.id, TimerKind::attempt_timeout}), "nothing");
  EXPECT_EQ(race.answer(RingTimer{race.id, TimerKind::deadline}), "nothing");
  EXPECT_EQ(race.completions(), 1U);
}

TEST(Executions, attempt_timeout_before_complete) {
  Race race(R"({"timeout_policy":{"attempt_timeout_ms":10}})");
  const TaskHandle handle = race.claim(race.id);
  race.now += 11;
  EXPECT_EQ(race.answer(RingTimer{race.id, TimerKind::attempt_timeout}), "done");
  EXPECT_EQ(race.answer(Complete{handle, nullptr, ""}), "execution_not_active none runnable");
  race.claim(race.id);
  EXPECT_EQ(race.answer(Complete{handle, nullptr, ""}), "stale_lease") << "after the next claim";
}

TEST(Executions, fail_with_retry_before_the_deadline) {
  Race race(R"({"timeout_policy":{"execution_deadline_ms":20}})");
  ASSERT_TRUE(race.fail(race.claim(race.id)));
  race.now += 21;
  EXPECT_EQ(race.answer(RingTimer{race.id, TimerKind::deadline}), "done");
  EXPECT_EQ(race.record(race.id).state.public_state, PublicState::expired);
}

TEST(Executions, T54_cancel_before_promotion_and_claim) {
  Rules rules;
  Submission s = job();
  s.delay_ms = 10;
  const ExecutionId id = rules.submit(s);
  ASSERT_TRUE(rules.cancel(id));
  rules.now += 100;
  EXPECT_FALSE(*rules.ring(id, TimerKind::delay));
  EXPECT_FALSE(rules.offer(id, rules.claim_of()));
  EXPECT_FALSE(rules.wrote());
}

TEST(Executions, T54_claim_before_cancel) {
  Race race;
  const TaskHandle handle = race.claim(race.id);
  EXPECT_EQ(race.answer(CancelByOperator{{}, race.id, "r"}), "done") << "ends the fresh attempt";
  EXPECT_EQ(race.record(race.id).attempt->attempt_state, AttemptRecordState::ended_cancelled);
  EXPECT_EQ(race.answer(Complete{handle, nullptr, ""}), "execution_not_active cancelled terminal");
}

TEST(Executions, T54_cancel_against_cancel) {
  Race race;
  EXPECT_EQ(race.answer(CancelByOperator{{}, race.id, "one"}), "done");
  EXPECT_EQ(race.answer(CancelByOperator{{}, race.id, "two"}), "nothing");
  EXPECT_EQ(race.completions(), 1U);
}

TEST(Executions, T54_cancel_against_expiry_both_ways) {
  Race first;
  first.claim(first.id);
  first.lose(first.id);
  EXPECT_EQ(first.answer(CancelByOperator{{}, first.id, "r"}), "done");
  EXPECT_EQ(first.completions(), 1U);
  Race second(R"({"max_reclaim_count":0})");
  second.claim(second.id);
  second.lose(second.id);
  EXPECT_EQ(second.answer(CancelByOperator{{}, second.id, "r"}), "execution_not_active failed terminal");
  EXPECT_EQ(second.completions(), 1U);
}

TEST(Executions, revoke_before_the_lease_sweep) {
  Race race;
  race.claim(race.id);
  EXPECT_EQ(race.answer(Revoke{{}, {.execution_id = race.id}}), "done");
  race.now += 1'000'000;
  EXPECT_EQ(race.answer(RingTimer{race.id, TimerKind::lease}), "nothing");
}

TEST(Executions, deletion_before_anything) {
  Race race;
  const TaskHandle handle = race.claim(race.id);
  ASSERT_TRUE(race.complete(handle));
  race.must(DeleteExecution{{}, race.id});
  EXPECT_EQ(race.answer(Complete{handle, nullptr, ""}), "execution_not_found");
  EXPECT_EQ(race.answer(Renew{handle, {}, false}), "execution_not_found");
  EXPECT_EQ(race.answer(CancelByOperator{{}, race.id, "r"}), "execution_not_found");
  EXPECT_EQ(race.answer(Replay{{}, race.id, {}, {}}), "execution_not_found");
  EXPECT_EQ(race.answer(SetTagsOp{{}, race.id, {{"a", "b"}}}), "execution_not_found");
  EXPECT_EQ(race.answer(ChangePriorityOp{{}, race.id, 1}), "execution_not_found");
  EXPECT_EQ(race.answer(Revoke{{}, {.execution_id = race.id}}), "execution_not_found");
  EXPECT_EQ(race.answer(RingTimer{race.id, TimerKind::deadline}), "nothing");
}

TEST(Executions, T30_a_repeat_of_another_operation_is_no_repeat) {
  // What the lease really did is what every other call learns.
  auto after = [](auto first) {
    Race race(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":5}}})");
    const TaskHandle handle = race.claim(race.id);
    first(race, handle);
    return race.answer(Complete{handle, bytes("x"), ""});
  };
  EXPECT_EQ(after([](Race& r, auto& h) { ASSERT_TRUE(r.fail(h)); }), "execution_not_active none runnable");
  EXPECT_EQ(after([](Race& r, auto& h) { ASSERT_TRUE(r.fail(h, "m", FailureClass::permanent)); }),
            "execution_not_active failed terminal");
  EXPECT_EQ(after([](Race& r, auto& h) { r.must(Delay{h, {}, 5}); }), "execution_not_active none runnable");
  EXPECT_EQ(after([](Race& r, auto& h) { r.must(CancelByHolder{h, "r"}); }), "execution_not_active cancelled terminal");
  EXPECT_EQ(after([](Race& r, auto& h) { r.must(WaitForChildren{h, false}); }), "execution_not_active none runnable");
}

}  // namespace
}  // namespace ff::core
