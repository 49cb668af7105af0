#include "core/ops/cancel.h"

#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::bytes;
using test::job;
using test::Rules;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Executions, T52_cancel_ends_it_wherever_it_stands) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job(R"({"timeout_policy":{"attempt_timeout_ms":900000}})"));
    const ExecutionRecord before = rules.record(id);
    rules.now += 1;
    EXPECT_EQ(rules.must(CancelByOperator{{std::nullopt, "ops"}, id, "not needed"}),
              (Changed{id, PublicState::cancelled, false}))
        << situation.name;
    EXPECT_EQ(rules.vector(id), fmt::format("terminal / unowned / not_applicable / none / cancelled / {}",
                                            before.attempt ? "attempt_terminal" : "none"))
        << situation.name;
    std::vector<std::string> expected = {"completion cancelled", "operator execution_cancelled"};
    if (before.is_leased()) expected.insert(expected.begin(), "lease revoked cancelled");
    EXPECT_EQ(rules.said(), expected) << situation.name << ": a lease event only with a live lease";
    EXPECT_EQ(rules.events().back().actor, "ops");
    EXPECT_EQ(rules.events().back().details, R"({"reason":"not needed"})");

    const ExecutionRecord& record = rules.record(id);
    EXPECT_EQ(record.ending.cancellation_reason, "not needed");
    EXPECT_EQ(record.ending.cancelled_by, CancelSource::operator_override);
    EXPECT_EQ(record.timers, (Timers{})) << situation.name;
    EXPECT_EQ(record.hold, Hold{}) << situation.name;
    EXPECT_EQ(record.lease, std::nullopt) << situation.name;
    EXPECT_EQ(record.times.completed_at_ms, rules.now);
    EXPECT_EQ(bucket_of(record), Bucket::terminal);
    const bool open = before.state.attempt_state == AttemptState::running_attempt ||
                      before.state.attempt_state == AttemptState::attempt_interrupted;
    if (open) {
      EXPECT_EQ(record.attempt->attempt_state, AttemptRecordState::ended_cancelled) << situation.name;
      EXPECT_EQ(record.attempt->outcome, AttemptOutcome::cancelled);
      EXPECT_EQ(record.attempt->failure_reason, "cancelled: not needed");
      EXPECT_EQ(record.attempt->ended_at_ms, rules.now);
    } else {
      EXPECT_EQ(record.attempt, before.attempt) << situation.name;
    }
    if (before.lease) {
      EXPECT_EQ(record.attempt->release_op, ReleaseOp::cancel) << situation.name;
    }
  }
}

TEST(Domain, T17_cancel_of_a_never_claimed_execution_leaves_no_attempt) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ASSERT_TRUE(rules.cancel(id));
  EXPECT_EQ(rules.record(id).state.attempt_state, AttemptState::none);
  EXPECT_EQ(rules.record(id).attempt, std::nullopt);
}

TEST(Domain, T40_the_end_clears_an_owed_cancel) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.forge(id, [](ExecutionRecord& r) { r.hold.cancel_owed = CancelOwed::now; });
  ASSERT_TRUE(rules.cancel(id));
  EXPECT_EQ(rules.record(id).hold.cancel_owed, CancelOwed::none);
}

TEST(Executions, T53_cancel_twice_keeps_the_first_reason) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ASSERT_TRUE(rules.cancel(id, "first"));
  auto again = rules.cancel(id, "second");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, (Changed{id, PublicState::cancelled, true}));
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(rules.record(id).ending.cancellation_reason, "first");
}

TEST(Executions, T53_a_real_outcome_is_never_overwritten) {
  for (const auto& situation : test::ended_situations()) {
    if (situation.name.starts_with("cancelled")) continue;
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    auto reply = rules.cancel(id);
    ASSERT_FALSE(reply) << situation.name;
    EXPECT_EQ(reply.error().code, ErrorCode::execution_not_active);
    EXPECT_EQ(reply.error().context.text("terminal_outcome"), name_of(rules.record(id).state.terminal_outcome));
    EXPECT_FALSE(rules.wrote());
  }
  Rules rules;
  EXPECT_EQ(rules.cancel(ExecutionId{}).error().code, ErrorCode::execution_not_found);
  Submission s = job();
  s.namespace_ = "tenant";
  const ExecutionId foreign = rules.submit(s);
  EXPECT_EQ(rules.refused(CancelByOperator{{"other", "x"}, foreign, "r"}).code, ErrorCode::execution_not_found);
}

TEST(Executions, T53_the_holder_cancels_its_own_execution) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  EXPECT_EQ(rules.must(CancelByHolder{handle, "no use"}), (Changed{id, PublicState::cancelled, false}));
  EXPECT_THAT(rules.said(), ElementsAre("lease released cancelled", "completion cancelled")) << "no operator did it";
  EXPECT_EQ(rules.record(id).ending.cancelled_by, CancelSource::lease_holder);
  EXPECT_EQ(rules.record(id).attempt->failure_reason, "cancelled: no use");
  EXPECT_EQ(rules.events().back().cancelled_by, CancelSource::lease_holder);
  EXPECT_EQ(rules.must(CancelByHolder{handle, "again"}), (Changed{id, PublicState::cancelled, true}));
  EXPECT_FALSE(rules.wrote());
}

TEST(Executions, T53_by_a_stale_handle) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle old = rules.claim(id);
  rules.lose(id);
  rules.claim(id, "w2");
  EXPECT_EQ(rules.refused(CancelByHolder{old, "r"}).code, ErrorCode::stale_lease);
  EXPECT_FALSE(rules.wrote());
}

// ---- operators finish ---------------------------------------------------------------------------------------------

TEST(Executions, T55_operator_complete_from_everywhere) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const ExecutionRecord before = rules.record(id);
    EXPECT_EQ(rules.must(CompleteByOperator{{std::nullopt, "ops"}, id, bytes("by hand"), "text/plain", "known"}),
              (Changed{id, PublicState::completed, false}))
        << situation.name;
    std::vector<std::string> expected = {"completion success", "operator execution_completed"};
    if (before.is_leased()) expected.insert(expected.begin(), "lease revoked operator_completed");
    EXPECT_EQ(rules.said(), expected) << situation.name;
    EXPECT_EQ(rules.events().back().details, R"({"reason":"known"})");
    EXPECT_EQ(*rules.set.result(id)->result, "by hand");
    EXPECT_EQ(rules.record(id).state.terminal_outcome, TerminalOutcome::success);
    EXPECT_EQ(rules.record(id).hold, Hold{}) << situation.name;
    const bool open = before.state.attempt_state == AttemptState::running_attempt ||
                      before.state.attempt_state == AttemptState::attempt_interrupted;
    if (open) {
      EXPECT_EQ(rules.record(id).attempt->attempt_state, AttemptRecordState::ended_success) << situation.name;
    }
    if (before.lease) {
      EXPECT_EQ(rules.record(id).attempt->release_op, ReleaseOp::operator_);
    }
  }
}

TEST(Executions, T55_operator_fail_never_retries) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job(R"({"retry_policy":{"max_retries":100}})"));
    const ExecutionRecord before = rules.record(id);
    EXPECT_EQ(rules.must(FailByOperator{{}, id, "hopeless", "operator", std::nullopt}),
              (Changed{id, PublicState::failed, false}))
        << situation.name;
    std::vector<std::string> expected = {"completion failed", "operator execution_failed"};
    if (before.is_leased()) expected.insert(expected.begin(), "lease revoked operator_failed");
    EXPECT_EQ(rules.said(), expected) << situation.name;
    EXPECT_EQ(rules.record(id).ending.failure_reason, "hopeless");
    EXPECT_EQ(rules.record(id).ending.failure_category, "operator");
    EXPECT_EQ(rules.record(id).ending.last_failure_message, "hopeless");
    EXPECT_EQ(rules.record(id).counters.retry_count, before.counters.retry_count);
    const bool open = before.state.attempt_state == AttemptState::running_attempt ||
                      before.state.attempt_state == AttemptState::attempt_interrupted;
    if (open) {
      EXPECT_EQ(rules.record(id).attempt->outcome, AttemptOutcome::failed) << situation.name;
    }
  }
}

TEST(Executions, T55_the_worker_learns_what_the_operator_did) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.must(CompleteByOperator{{}, id, nullptr, "", std::nullopt});
  EXPECT_EQ(rules.set.result(id), nullptr);
  const Error error = rules.refused(Complete{handle, bytes("mine"), ""});
  EXPECT_EQ(error.code, ErrorCode::execution_not_active) << "the receipt says operator, so this is no repeat";
  EXPECT_EQ(error.context.text("terminal_outcome"), "success");
}

TEST(Executions, T55_what_has_ended_cannot_be_finished_again) {
  for (const auto& situation : test::ended_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    EXPECT_EQ(rules.refused(CompleteByOperator{{}, id, nullptr, "", {}}).code, ErrorCode::execution_not_active);
    EXPECT_FALSE(rules.wrote());
    EXPECT_EQ(rules.refused(FailByOperator{{}, id, "m", "c", {}}).code, ErrorCode::execution_not_active);
    EXPECT_FALSE(rules.wrote());
  }
  Rules rules;
  EXPECT_EQ(rules.refused(CompleteByOperator{{}, {}, nullptr, "", {}}).code, ErrorCode::execution_not_found);
  EXPECT_EQ(rules.refused(FailByOperator{{}, {}, "m", "c", {}}).code, ErrorCode::execution_not_found);
  EXPECT_THAT(rules.said(), IsEmpty());
}

}  // namespace
}  // namespace ff::core
