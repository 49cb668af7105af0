#include "core/ops/lanes.h"

#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;
using testing::ElementsAre;
using testing::IsEmpty;

// ---- lanes --------------------------------------------------------------------------------------------------------

TEST(Scheduling, a_lane_is_registered_once) {
  Rules rules;
  const Lane lane = rules.must(RegisterLane{"mail", "boot"});
  EXPECT_EQ(lane.lane_state, LaneState::active);
  EXPECT_EQ(lane.fairness, LaneFairness::fair);
  EXPECT_EQ(lane.registered_at_ms, kStart);
  EXPECT_EQ(lane.registered_by, "boot");
  EXPECT_EQ(lane.version, 1U);
  EXPECT_THAT(rules.said(), IsEmpty());
  rules.now += 5;
  EXPECT_EQ(rules.must(RegisterLane{"mail", "create_execution"}), lane) << "one that is there stays as it is";
  EXPECT_FALSE(rules.wrote());
}

TEST(Scheduling, configuring_creates_changes_and_leaves_a_trace) {
  Rules rules;
  const Lane added = rules.must(ConfigureLaneOp{{std::nullopt, "ops"}, {.lane_id = "mail", .fairness = LaneFairness::strict}});
  EXPECT_EQ(added.registered_by, "ops");
  EXPECT_EQ(added.fairness, LaneFairness::strict);
  EXPECT_EQ(added.lane_state, LaneState::active);
  EXPECT_EQ(added.state_changed_at_ms, std::nullopt);
  EXPECT_THAT(rules.said(), ElementsAre("operator lane_configured"));
  const EventRecord& event = rules.events()[0];
  EXPECT_EQ(event.partition, 0) << "about no execution";
  EXPECT_EQ(event.execution_id, std::nullopt);
  EXPECT_EQ(event.actor, "ops");
  EXPECT_EQ(event.details,
            R"({"lane_id":"mail","old":{"lane_state":"active","fairness":"fair","namespace_weights":{}},)"
            R"("new":{"lane_state":"active","fairness":"strict","namespace_weights":{}}})");

  rules.now += 7;
  const Lane paused = rules.must(ConfigureLaneOp{
      {}, {.lane_id = "mail", .lane_state = LaneState::paused, .namespace_weights = {{{"a", 3}}}, .reason = "full"}});
  EXPECT_EQ(paused.lane_state, LaneState::paused);
  EXPECT_EQ(paused.state_changed_at_ms, kStart + 7);
  EXPECT_EQ(paused.state_reason, "full");
  EXPECT_EQ(paused.fairness, LaneFairness::strict) << "what is not given stays";
  EXPECT_EQ(paused.namespace_weights, (std::map<std::string, std::uint32_t>{{"a", 3}}));
  EXPECT_EQ(paused.registered_by, "ops");
  EXPECT_EQ(paused.version, 2U);

  rules.now += 7;
  const Lane same = rules.must(ConfigureLaneOp{{}, {.lane_id = "mail", .lane_state = LaneState::paused, .reason = "x"}});
  EXPECT_EQ(same.state_changed_at_ms, kStart + 7) << "the state did not change";
  EXPECT_EQ(same.state_reason, "full");
}

TEST(Scheduling, T5_a_lane_state_never_rewrites_its_executions) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.must(ConfigureLaneOp{{}, {.lane_id = "default", .lane_state = LaneState::paused}});
  EXPECT_EQ(rules.changed(id), "");
  EXPECT_EQ(rules.record(id).state.eligibility_state, EligibilityState::eligible_now);
}

TEST(Scheduling, T5_running_work_of_a_paused_lane_goes_on) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.must(ConfigureLaneOp{{}, {.lane_id = "default", .lane_state = LaneState::disabled}});
  rules.must(Renew{handle, std::nullopt, false});
  EXPECT_TRUE(rules.complete(handle));
}

// ---- deletion -----------------------------------------------------------------------------------------------------

TEST(Executions, T66_only_what_has_ended_is_deleted) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    EXPECT_EQ(rules.refused(DeleteExecution{{}, id}).code, ErrorCode::execution_not_terminal) << situation.name;
    EXPECT_FALSE(rules.wrote());
    rules.now += 1'000'000'000;
    EXPECT_FALSE(*rules.run(Retire{id})) << situation.name << ": nor by the sweep";
    EXPECT_FALSE(rules.wrote());
  }
}

TEST(Executions, T66_deletion_removes_it_and_leaves_its_events) {
  for (const auto& situation : test::ended_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const std::size_t events = rules.set.events().size();
    rules.must(DeleteExecution{{std::nullopt, "ops"}, id});
    EXPECT_EQ(rules.set.execution(id), nullptr) << situation.name;
    EXPECT_THAT(rules.said(), ElementsAre("operator execution_deleted"));
    EXPECT_EQ(rules.set.events().size(), events + 1);
    rules.must(DeleteExecution{{}, id});
    EXPECT_FALSE(rules.wrote()) << "a second one succeeds";
  }
}

TEST(Executions, T66_what_a_caller_may_not_see_it_cannot_delete) {
  Rules rules;
  Submission s = job();
  s.namespace_ = "tenant";
  const ExecutionId id = rules.submit(s);
  ASSERT_TRUE(rules.cancel(id));
  rules.must(DeleteExecution{{"other", "x"}, id});
  EXPECT_FALSE(rules.wrote());
  EXPECT_TRUE(rules.set.execution(id));
}

TEST(Executions, T66_retention_is_over_at_its_time) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"retention_ttl_ms":500})"));
  ASSERT_TRUE(rules.complete(rules.claim(id)));
  rules.now += 499;
  EXPECT_FALSE(*rules.run(Retire{id}));
  rules.now += 1;
  EXPECT_TRUE(*rules.run(Retire{id}));
  EXPECT_EQ(rules.set.execution(id), nullptr);
  EXPECT_THAT(rules.said(), IsEmpty()) << "no operator did it";
  EXPECT_FALSE(*rules.run(Retire{id}));
}

TEST(Executions, T66_a_replay_wins_against_retention) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"retention_ttl_ms":500})"));
  ASSERT_TRUE(rules.complete(rules.claim(id)));
  rules.now += 600;
  rules.must(Replay{{}, id, {}, {}});
  EXPECT_FALSE(*rules.run(Retire{id})) << "not terminal: skipped";
}

TEST(Background, expired_keys_are_forgotten_after_their_window) {
  Rules rules;
  Submission s = job(R"({"dedup_window_ms":100})");
  s.idempotency_key = "k";
  rules.submit(s);
  const IdempotencyId key{"default", "create_execution", "k"};
  rules.now += 100;
  EXPECT_FALSE(*rules.run(ForgetKey{key}));
  EXPECT_FALSE(rules.wrote());
  rules.now += 1;
  EXPECT_TRUE(*rules.run(ForgetKey{key}));
  EXPECT_EQ(rules.set.key(key), nullptr);
  EXPECT_FALSE(*rules.run(ForgetKey{key}));
}

}  // namespace
}  // namespace ff::core
