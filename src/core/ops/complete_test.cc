#include "core/ops/complete.h"

#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::bytes;
using test::job;
using test::Rules;
using testing::ElementsAre;

TEST(Executions, T29_complete_ends_it_with_success) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"timeout_policy":{"attempt_timeout_ms":50000},"retention_ttl_ms":7})"));
  const TaskHandle handle = rules.claim(id);
  rules.must(ReportProgressOp{handle, 50, "half"});
  rules.now += 100;
  const Changed reply = rules.must(Complete{handle, bytes(std::string("\xff\xfe\x00\xc0\x80", 5)), "text/plain"});
  EXPECT_EQ(reply, (Changed{id, PublicState::completed, false}));
  EXPECT_EQ(rules.vector(id), "terminal / unowned / not_applicable / none / success / attempt_terminal");
  EXPECT_EQ(rules.changed(id),
            "attempt.attempt_state attempt.ended_at_ms attempt.outcome attempt.release_op "
            "attempt.released_lease_epoch attempt.released_lease_id attempt_state attempt_timeout_at_ms "
            "completed_at_ms lease lifecycle_phase ownership_state retain_until_ms terminal_outcome")
      << "progress, the epoch and the attempt's id stay";
  EXPECT_THAT(rules.said(), ElementsAre("lease released completed", "completion success"));
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(record.attempt->attempt_state, AttemptRecordState::ended_success);
  EXPECT_EQ(record.attempt->outcome, AttemptOutcome::success);
  EXPECT_EQ(record.attempt->release_op, ReleaseOp::complete);
  EXPECT_EQ(record.attempt->released_lease_id, handle.lease_id);
  EXPECT_EQ(record.attempt->released_lease_epoch, handle.lease_epoch);
  EXPECT_EQ(record.attempt->failure_reason, std::nullopt);
  EXPECT_EQ(record.times.completed_at_ms, rules.now);
  EXPECT_EQ(record.times.retain_until_ms, rules.now + 7);
  EXPECT_EQ(record.current_attempt_id, handle.attempt_id);
  EXPECT_EQ(*rules.set.result(id)->result, std::string("\xff\xfe\x00\xc0\x80", 5)) << "byte for byte";
  EXPECT_EQ(rules.set.result(id)->result_content_type, "text/plain");
  EXPECT_EQ(due_at(record), std::nullopt) << "no timers left";
}

TEST(Executions, T30_complete_twice_answers_twice_and_keeps_the_first_result) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.must(Complete{handle, bytes("first"), "a"});
  EXPECT_EQ(rules.must(Complete{handle, bytes("second"), "b"}), (Changed{id, PublicState::completed, true}));
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(*rules.set.result(id)->result, "first");
}

TEST(Executions, T30_a_repeat_is_recognised_while_a_later_attempt_runs) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle first = rules.claim(id);
  ASSERT_TRUE(rules.complete(first));
  rules.must(Replay{{}, id, std::nullopt, std::nullopt});
  rules.claim(id, "w2");
  EXPECT_TRUE(rules.must(Complete{first, bytes("late"), ""}).unchanged);
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(rules.record(id).state.public_state, PublicState::active);
  EXPECT_EQ(rules.set.result(id), nullptr);
}

TEST(Executions, T30_the_receipt_belongs_to_one_lease) {
  Rules rules;
  const ExecutionId id = rules.submit();
  TaskHandle handle = rules.claim(id);
  ASSERT_TRUE(rules.complete(handle));
  handle.lease_epoch += 1;
  EXPECT_EQ(rules.refused(Complete{handle, nullptr, ""}).code, ErrorCode::execution_not_active);
  handle.lease_epoch -= 1;
  handle.lease_id = Uuid{};
  EXPECT_EQ(rules.refused(Complete{handle, nullptr, ""}).code, ErrorCode::execution_not_active);
}

TEST(Executions, T31_after_another_end_the_caller_learns_what_happened) {
  Rules rules;
  const ExecutionId cancelled = rules.submit();
  const TaskHandle one = rules.claim(cancelled);
  ASSERT_TRUE(rules.cancel(cancelled));
  Error error = rules.refused(Complete{one, bytes("x"), ""});
  EXPECT_EQ(error.code, ErrorCode::execution_not_active);
  EXPECT_EQ(error.context.text("terminal_outcome"), "cancelled");
  EXPECT_EQ(rules.set.result(cancelled), nullptr);

  const ExecutionId completed = rules.submit();
  const TaskHandle two = rules.claim(completed);
  ASSERT_TRUE(rules.complete(two));
  auto failed = rules.fail(two);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().context.text("terminal_outcome"), "success");
  EXPECT_FALSE(rules.wrote());
}

TEST(Executions, T32_an_absent_result_is_none_and_an_empty_one_is_empty) {
  Rules rules;
  const ExecutionId none = rules.submit(), empty = rules.submit();
  rules.must(Complete{rules.claim(none), nullptr, "text/plain"});
  EXPECT_EQ(rules.set.result(none), nullptr);
  rules.must(Complete{rules.claim(empty), bytes(""), "text/plain"});
  ASSERT_TRUE(rules.set.result(empty));
  EXPECT_EQ(*rules.set.result(empty)->result, "");
}

TEST(Executions, T28_progress_keeps_what_is_not_given) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.now += 5;
  rules.must(ReportProgressOp{handle, 10, std::nullopt});
  EXPECT_EQ(rules.changed(id), "progress_pct progress_updated_at_ms");
  rules.now += 5;
  rules.must(ReportProgressOp{handle, std::nullopt, "step two"});
  EXPECT_EQ(rules.changed(id), "progress_message progress_updated_at_ms");
  EXPECT_EQ(rules.record(id).progress, (Progress{10, "step two", rules.now}));
  EXPECT_THAT(rules.said(), testing::IsEmpty());
  rules.must(ReportProgressOp{handle, std::nullopt, std::nullopt});
  EXPECT_FALSE(rules.wrote()) << "nothing given, nothing to do";
  rules.lose(id);
  EXPECT_EQ(rules.refused(ReportProgressOp{handle, 90, "x"}).code, ErrorCode::lease_expired);
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(rules.refused(ReportProgressOp{handle, std::nullopt, std::nullopt}).code, ErrorCode::lease_expired)
      << "the lease is checked all the same";
}

TEST(Executions, T22_renew_moves_the_expiry_and_nothing_else) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"timeout_policy":{"attempt_timeout_ms":50000}})"));
  const TaskHandle handle = rules.claim(id, "w1", 10'000);
  rules.now += 4'000;
  EXPECT_EQ(rules.must(Renew{handle, std::nullopt, false}), (LeaseRenewed{rules.now + 10'000, 1}));
  EXPECT_EQ(rules.changed(id), "lease.lease_expires_at_ms lease.lease_last_renewed_at_ms lease.lease_renewal_deadline_ms")
      << "renewals do not move the attempt timeout";
  EXPECT_THAT(rules.said(), testing::IsEmpty());
  EXPECT_EQ(rules.record(id).lease->lease_renewal_deadline_ms, rules.now + 6'666);
  EXPECT_EQ(rules.record(id).lease->lease_last_renewed_at_ms, rules.now);

  EXPECT_EQ(rules.must(Renew{handle, 60'000, true}).lease_expires_at_ms, rules.now + 60'000);
  EXPECT_THAT(rules.said(), ElementsAre("lease renewed"));
  EXPECT_EQ(rules.record(id).lease->lease_ttl_ms, 60'000U) << "the longer time is kept for the next renewal";
  rules.now += 1;
  EXPECT_EQ(rules.must(Renew{handle, std::nullopt, false}).lease_expires_at_ms, rules.now + 60'000);
}

TEST(Executions, T26_a_sweep_that_selected_before_the_renewal_finds_nothing_to_do) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  const TimeMs expires = rules.record(id).lease->lease_expires_at_ms;
  rules.now = expires - 1;
  rules.must(Renew{handle, std::nullopt, false});
  rules.now = expires + 1;
  EXPECT_FALSE(*rules.ring(id, TimerKind::lease));
  EXPECT_FALSE(rules.wrote());
}

}  // namespace
}  // namespace ff::core
