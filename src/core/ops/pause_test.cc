#include "core/ops/pause.h"

#include "support/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;
using testing::ElementsAre;

constexpr const char* kTenSeconds = R"({"timeout_policy":{"attempt_timeout_ms":10000}})";

TEST(Executions, T38_delay_gives_the_lease_back_and_keeps_the_attempt) {
  Rules rules;
  const ExecutionId id = rules.submit(job(kTenSeconds));
  const TaskHandle handle = rules.claim(id);
  rules.now += 4'000;
  const TimeMs until = rules.now + 3'600'000;
  EXPECT_EQ(rules.must(Delay{handle, until, std::nullopt}), (TaskDelayed{PublicState::delayed, until}));
  EXPECT_EQ(rules.vector(id),
            "runnable / unowned / not_eligible_until_time / waiting_for_delay / none / attempt_interrupted");
  EXPECT_EQ(rules.changed(id),
            "attempt.attempt_state attempt.release_delay_until_ms attempt.release_op attempt.released_lease_epoch "
            "attempt.released_lease_id attempt.suspended_at_ms attempt.suspension_id attempt_state "
            "attempt_timeout_at_ms attempt_timeout_remaining_ms blocking_detail blocking_reason delay_until_ms "
            "eligibility_state interrupt_kind lease lifecycle_phase ownership_state");
  EXPECT_THAT(rules.said(), ElementsAre("lease released worker_delay"));
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(record.attempt->attempt_state, AttemptRecordState::suspended);
  EXPECT_EQ(record.attempt->suspended_at_ms, rules.now);
  EXPECT_EQ(record.attempt->suspension_id, "worker_delay");
  EXPECT_EQ(record.attempt->release_op, ReleaseOp::delay);
  EXPECT_EQ(record.attempt->release_delay_until_ms, until);
  EXPECT_EQ(record.attempt->ended_at_ms, std::nullopt);
  EXPECT_EQ(record.hold.interrupt_kind, InterruptKind::worker_delay);
  EXPECT_EQ(record.hold.blocking_detail, fmt::format("delayed until {}", until));
  EXPECT_EQ(record.timers.attempt_timeout_remaining_ms, 6'000U);
  EXPECT_EQ(record.timers.attempt_timeout_at_ms, std::nullopt);
  EXPECT_EQ(record.current_attempt_id, handle.attempt_id);

  rules.now = until;
  EXPECT_TRUE(*rules.ring(id, TimerKind::delay));
  EXPECT_EQ(rules.record(id).state.public_state, PublicState::resumable);
  const TaskHandle resumed = rules.claim(id);
  EXPECT_EQ(resumed.kind, HandleKind::resumed);
  EXPECT_EQ(resumed.attempt_id, handle.attempt_id);
  EXPECT_EQ(resumed.lease_epoch, 2U);
}

TEST(Executions, T38_a_due_time_that_is_not_ahead_is_resumable_at_once) {
  for (TimeMs until : {kStart, kStart - 1, TimeMs{0}, TimeMs{-7}}) {
    Rules rules;
    const ExecutionId id = rules.submit();
    EXPECT_EQ(rules.must(Delay{rules.claim(id), until, std::nullopt}), (TaskDelayed{PublicState::resumable, until}));
    EXPECT_EQ(rules.vector(id), "runnable / unowned / eligible_now / waiting_for_worker / none / attempt_interrupted");
    EXPECT_EQ(rules.record(id).timers.delay_until_ms, std::nullopt);
  }
  Rules rules;
  const ExecutionId id = rules.submit();
  EXPECT_EQ(rules.must(Delay{rules.claim(id), std::nullopt, 5}).delay_until_ms, kStart + 5) << "or after a while";
}

TEST(Executions, T39_the_deadline_survives_a_delay_and_its_promotion) {
  Rules rules;
  Submission s = job();
  s.execution_deadline_at_ms = kStart + 500;
  const ExecutionId id = rules.submit(s);
  rules.must(Delay{rules.claim(id), std::nullopt, 100});
  EXPECT_EQ(rules.record(id).timers.execution_deadline_at_ms, kStart + 500);
  rules.now += 100;
  ASSERT_TRUE(*rules.ring(id, TimerKind::delay));
  rules.claim(id);
  rules.now = kStart + 501;
  EXPECT_TRUE(*rules.ring(id, TimerKind::deadline));
  EXPECT_EQ(rules.record(id).state.public_state, PublicState::expired);
}

TEST(Executions, T40_the_attempt_timeout_stands_still_during_a_pause) {
  Rules rules;
  const ExecutionId id = rules.submit(job(kTenSeconds));
  const TaskHandle handle = rules.claim(id);
  rules.now += 4'000;
  rules.must(Delay{handle, std::nullopt, 3'600'000});
  rules.now += 1'800'000;
  EXPECT_FALSE(*rules.ring(id, TimerKind::attempt_timeout)) << "the clock of a paused attempt is not armed";
  rules.now += 1'800'000;
  ASSERT_TRUE(*rules.ring(id, TimerKind::delay));
  rules.now += 60'000;
  rules.claim(id);
  rules.now += 6'000;
  EXPECT_FALSE(*rules.ring(id, TimerKind::attempt_timeout));
  rules.now += 1;
  EXPECT_TRUE(*rules.ring(id, TimerKind::attempt_timeout));
}

TEST(Executions, T40_a_timeout_already_over_leaves_nothing) {
  Rules rules;
  const ExecutionId id = rules.submit(job(kTenSeconds));
  const TaskHandle handle = rules.claim(id);
  rules.now += 10'500;
  rules.must(Delay{handle, std::nullopt, 0});
  EXPECT_EQ(rules.record(id).timers.attempt_timeout_remaining_ms, 0U) << "never negative";
}

TEST(Executions, delay_repeated_answers_the_same_and_writes_nothing) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  const TaskDelayed first = rules.must(Delay{handle, std::nullopt, 1'000});
  rules.now += 10;
  EXPECT_EQ(rules.must(Delay{handle, std::nullopt, 99'000}), first) << "the recorded time";
  EXPECT_FALSE(rules.wrote());
  rules.now += 1'000;
  ASSERT_TRUE(*rules.ring(id, TimerKind::delay));
  rules.claim(id, "w2");
  EXPECT_EQ(rules.must(Delay{handle, std::nullopt, 99'000}).delay_until_ms, first.delay_until_ms)
      << "also while another worker goes on with the attempt";
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(rules.refused(Complete{handle, nullptr, ""}).code, ErrorCode::stale_lease) << "but it is no complete";
}

TEST(Executions, T41_wait_for_children_without_unresolved_ones_is_resumable_at_once) {
  Rules rules;
  const ExecutionId id = rules.submit(job(kTenSeconds));
  const TaskHandle handle = rules.claim(id);
  rules.now += 1'000;
  EXPECT_EQ(rules.must(WaitForChildren{handle, false}), (Changed{id, PublicState::resumable, false}));
  EXPECT_EQ(rules.vector(id), "runnable / unowned / eligible_now / waiting_for_worker / none / attempt_interrupted");
  EXPECT_THAT(rules.said(), ElementsAre("lease released waiting_children"));
  EXPECT_EQ(rules.record(id).attempt->suspension_id, "waiting_children");
  EXPECT_EQ(rules.record(id).attempt->release_op, ReleaseOp::wait_children);
  EXPECT_EQ(rules.record(id).hold.interrupt_kind, InterruptKind::waiting_children);
  EXPECT_EQ(rules.record(id).timers.attempt_timeout_remaining_ms, 9'000U);
  EXPECT_EQ(rules.must(WaitForChildren{handle, false}), (Changed{id, PublicState::resumable, true}));
  EXPECT_FALSE(rules.wrote());
}

TEST(Executions, T41_children_by_name_need_a_flow) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  EXPECT_EQ(rules.refused(WaitForChildren{handle, true}).code, ErrorCode::execution_not_in_flow);
  EXPECT_FALSE(rules.wrote()) << "the lease lives on";
  EXPECT_TRUE(rules.complete(handle));
}

}  // namespace
}  // namespace ff::core
