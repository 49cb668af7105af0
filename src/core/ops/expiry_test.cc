#include "core/ops/expiry.h"

#include "core/lease.h"
#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;
using testing::ElementsAre;

TEST(Background, T27_promotion_keeps_what_the_next_claim_starts) {
  const std::map<std::string, PublicState> table = {{"delayed", PublicState::waiting},
                                                    {"retry_backoff", PublicState::waiting},
                                                    {"worker_delayed", PublicState::resumable}};
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const auto until = rules.record(id).timers.delay_until_ms;
    ASSERT_EQ(until.has_value(), table.contains(situation.name)) << situation.name;
    if (!until) {
      rules.now += 1'000'000'000;
      EXPECT_FALSE(*rules.ring(id, TimerKind::delay)) << situation.name;
      EXPECT_FALSE(rules.wrote()) << situation.name;
      continue;
    }
    rules.now = *until - 1;
    EXPECT_FALSE(*rules.ring(id, TimerKind::delay)) << situation.name;
    EXPECT_FALSE(rules.wrote());
    const AttemptState attempt_state = rules.record(id).state.attempt_state;
    rules.now = *until;
    EXPECT_TRUE(*rules.ring(id, TimerKind::delay)) << situation.name;
    EXPECT_EQ(rules.changed(id), "blocking_detail blocking_reason delay_until_ms eligibility_state") << situation.name;
    EXPECT_THAT(rules.said(), testing::IsEmpty());
    EXPECT_EQ(rules.record(id).state.attempt_state, attempt_state);
    EXPECT_EQ(rules.record(id).state.public_state, table.at(situation.name));
    EXPECT_FALSE(*rules.ring(id, TimerKind::delay)) << "once";
  }
}

TEST(Background, T27_a_delayed_replay_keeps_its_attempt_state_too) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ASSERT_TRUE(rules.complete(rules.claim(id)));
  rules.must(Replay{{}, id, std::nullopt, std::nullopt});
  rules.forge(id, [](ExecutionRecord& r) {
    make_delayed(r, AttemptState::pending_replay_attempt, BlockingReason::waiting_for_delay, kStart + 5, "", kStart);
  });
  rules.now = kStart + 5;
  EXPECT_TRUE(*rules.ring(id, TimerKind::delay));
  EXPECT_EQ(rules.record(id).state.attempt_state, AttemptState::pending_replay_attempt);
}

TEST(Background, T21_a_lease_that_ends_now_is_left_by_the_sweep) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.claim(id);
  rules.now = rules.record(id).lease->lease_expires_at_ms;
  EXPECT_FALSE(*rules.ring(id, TimerKind::lease));
  EXPECT_FALSE(rules.wrote());
  rules.now += 1;
  EXPECT_TRUE(*rules.ring(id, TimerKind::lease));
  EXPECT_FALSE(*rules.ring(id, TimerKind::lease)) << "once";
  EXPECT_FALSE(rules.wrote());
}

// ---- attempt timeout ----------------------------------------------------------------------------------------------

TEST(Executions, T42_attempt_timeout_with_retries_left) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"timeout_policy":{"attempt_timeout_ms":5000}})"));
  const TaskHandle handle = rules.claim(id);
  rules.now += 5'000;
  rules.must(Renew{handle, std::nullopt, false});
  EXPECT_FALSE(*rules.ring(id, TimerKind::attempt_timeout));
  rules.now += 1;
  EXPECT_TRUE(*rules.ring(id, TimerKind::attempt_timeout)) << "renewals do not move it";
  EXPECT_EQ(rules.vector(id), "runnable / unowned / eligible_now / waiting_for_worker / none / pending_retry_attempt");
  EXPECT_EQ(rules.changed(id),
            "attempt.attempt_state attempt.ended_at_ms attempt.failure_category attempt.failure_class "
            "attempt.failure_reason attempt.outcome attempt.release_op attempt.released_lease_epoch "
            "attempt.released_lease_id attempt_state attempt_timeout_at_ms blocking_reason current_attempt_id "
            "eligibility_state last_failure_message lease lifecycle_phase ownership_state "
            "pending_previous_attempt_index pending_retry_reason retry_count");
  EXPECT_THAT(rules.said(), ElementsAre("lease expired expired:attempt_timeout")) << "no completion";
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(record.attempt->attempt_state, AttemptRecordState::ended_failure);
  EXPECT_EQ(record.attempt->outcome, AttemptOutcome::interrupted);
  EXPECT_EQ(record.attempt->failure_reason, "attempt_timeout");
  EXPECT_EQ(record.attempt->failure_category, "timeout");
  EXPECT_EQ(record.attempt->release_op, ReleaseOp::expire);
  EXPECT_EQ(record.counters, (Counters{1, 1, 1, 1, 0, 0, 0})) << "no lost lease is counted";
  EXPECT_EQ(record.pending.pending_retry_reason, "attempt_timeout");
  EXPECT_EQ(record.ending.last_failure_message, "attempt_timeout");
  EXPECT_EQ(rules.refused(Complete{handle, nullptr, ""}).context.text("lifecycle_phase"), "runnable");
}

TEST(Executions, T42_attempt_timeout_with_none_left) {
  Rules rules;
  const ExecutionId id =
      rules.submit(job(R"({"timeout_policy":{"attempt_timeout_ms":5000},"retry_policy":{"max_retries":0}})"));
  rules.claim(id);
  rules.now += 5'001;
  EXPECT_TRUE(*rules.ring(id, TimerKind::attempt_timeout));
  EXPECT_EQ(rules.vector(id), "terminal / unowned / not_applicable / none / expired / attempt_terminal");
  EXPECT_THAT(rules.said(), ElementsAre("lease expired expired:attempt_timeout", "completion expired"));
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(record.attempt->outcome, AttemptOutcome::expired);
  EXPECT_EQ(record.ending.failure_reason, "attempt_timeout");
  EXPECT_EQ(record.ending.last_failure_message, "attempt_timeout");
}

TEST(Executions, T42_attempt_timeout_after_the_lease_was_lost_or_revoked) {
  for (const char* how : {"lost", "revoked"}) {
    Rules rules;
    const ExecutionId id = rules.submit(job(R"({"timeout_policy":{"attempt_timeout_ms":50000}})"));
    rules.claim(id);
    if (std::string_view(how) == "lost")
      rules.lose(id);
    else
      rules.must(Revoke{{}, {.execution_id = id}});
    rules.now = kStart + 50'001;
    EXPECT_TRUE(*rules.ring(id, TimerKind::attempt_timeout)) << how;
    EXPECT_THAT(rules.said(), testing::IsEmpty()) << "that lease has its event already";
    EXPECT_EQ(rules.record(id).state.attempt_state, AttemptState::pending_retry_attempt);
    EXPECT_EQ(rules.record(id).hold, Hold{});
    EXPECT_EQ(rules.record(id).attempt->outcome, AttemptOutcome::interrupted);
  }
}

TEST(Executions, T44_timeouts_of_what_moved_on_do_nothing) {
  const char* const policy = R"({"timeout_policy":{"attempt_timeout_ms":5000}})";
  auto nothing = [&](auto move_on) {
    Rules rules;
    const ExecutionId id = rules.submit(job(policy));
    const TaskHandle handle = rules.claim(id);
    move_on(rules, id, handle);
    const bool rung = *rules.ring(id, TimerKind::attempt_timeout);
    EXPECT_FALSE(rules.wrote());
    return !rung;
  };
  EXPECT_TRUE(nothing([](Rules& r, auto&, auto& h) {
    ASSERT_TRUE(r.complete(h));
    r.now += 5'001;
  })) << "ended";
  EXPECT_TRUE(nothing([](Rules& r, auto&, auto& h) {
    r.must(Delay{h, std::nullopt, 0});
    r.now += 5'001;
  })) << "paused";
  EXPECT_TRUE(nothing([](Rules& r, auto& id, auto& h) {
    ASSERT_TRUE(r.fail(h));
    r.now += 5'001;
    ASSERT_TRUE(r.ring(id, TimerKind::delay));
    r.claim(id);
  })) << "another attempt runs, with its time in full";
  Rules rules;
  EXPECT_FALSE(*rules.ring(ExecutionId{}, TimerKind::attempt_timeout)) << "missing";
  const ExecutionId untimed = rules.submit();
  rules.claim(untimed);
  rules.now += 1'000'000'000;
  EXPECT_FALSE(*rules.ring(untimed, TimerKind::attempt_timeout)) << "none set";
}

// ---- execution deadline -------------------------------------------------------------------------------------------

TEST(Executions, T45_the_deadline_ends_it_wherever_it_stands) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    Submission s = job();
    s.execution_deadline_at_ms = kStart + 9'000'000;
    const ExecutionId id = situation.reach(rules, s);
    const ExecutionRecord before = rules.record(id);
    rules.now = kStart + 9'000'000;
    EXPECT_FALSE(*rules.ring(id, TimerKind::deadline)) << situation.name;
    rules.now += 1;
    EXPECT_TRUE(*rules.ring(id, TimerKind::deadline)) << situation.name;
    EXPECT_EQ(rules.vector(id), fmt::format("terminal / unowned / not_applicable / none / expired / {}",
                                            before.attempt ? "attempt_terminal" : "none"))
        << situation.name;
    const std::vector<std::string> expected =
        before.is_leased() ? std::vector<std::string>{"lease expired expired:execution_deadline", "completion expired"}
                           : std::vector<std::string>{"completion expired"};
    EXPECT_EQ(rules.said(), expected) << situation.name << ": a lease event only for a lease that nobody ended yet";
    const ExecutionRecord& record = rules.record(id);
    EXPECT_EQ(record.ending.failure_reason, "execution_deadline");
    EXPECT_EQ(record.ending.last_failure_message, "execution_deadline");
    EXPECT_EQ(record.hold, Hold{}) << situation.name;
    EXPECT_EQ(record.lease, std::nullopt);
    EXPECT_EQ(record.pending, Pending{}) << situation.name;
    const bool open = before.attempt && (before.state.attempt_state == AttemptState::running_attempt ||
                                         before.state.attempt_state == AttemptState::attempt_interrupted);
    if (open) {
      EXPECT_EQ(record.attempt->attempt_state, AttemptRecordState::ended_failure) << situation.name;
      EXPECT_EQ(record.attempt->outcome, AttemptOutcome::expired) << situation.name;
      EXPECT_EQ(record.attempt->failure_reason, "execution_deadline");
      EXPECT_EQ(record.attempt->suspended_at_ms, std::nullopt);
    } else if (before.attempt) {
      EXPECT_EQ(record.attempt, before.attempt) << situation.name << ": an attempt that was over stays as it was";
    }
    EXPECT_FALSE(*rules.ring(id, TimerKind::deadline)) << situation.name << ": once";
  }
}

TEST(Executions, T45_the_deadline_of_what_ended_has_no_effect) {
  for (const auto& situation : test::ended_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job(R"({"timeout_policy":{"execution_deadline_ms":60000}})"));
    rules.now += 1'000'000;
    EXPECT_FALSE(*rules.ring(id, TimerKind::deadline)) << situation.name;
    EXPECT_FALSE(rules.wrote());
  }
  Rules rules;
  EXPECT_FALSE(*rules.ring(ExecutionId{}, TimerKind::deadline)) << "missing";
  EXPECT_FALSE(*rules.ring(rules.submit(), TimerKind::deadline)) << "none set";
}

}  // namespace
}  // namespace ff::core
