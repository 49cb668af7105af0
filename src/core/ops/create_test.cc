#include "core/ops/create.h"

#include "support/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;
using testing::IsEmpty;

constexpr const char* kWaiting = "runnable / unowned / eligible_now / waiting_for_worker / none / pending_first_attempt";
constexpr const char* kDelayed =
    "runnable / unowned / not_eligible_until_time / waiting_for_delay / none / pending_first_attempt";

Submission keyed(std::string key = "order-42") {
  Submission s = job();
  s.idempotency_key = std::move(key);
  return s;
}

TEST(Executions, T1_without_a_delay_it_waits_with_nothing_counted) {
  Rules rules;
  Submission s = job();
  s.tags = {{"tenant", "acme"}};
  s.payload = "in";
  auto reply = rules.try_submit(s);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->public_state, PublicState::waiting);
  EXPECT_FALSE(reply->duplicate);
  const ExecutionRecord& record = rules.record(reply->execution_id);
  EXPECT_EQ(test::vector_text(record.state), kWaiting);
  EXPECT_EQ(record.counters, Counters{});
  EXPECT_EQ(record.times, (Times{kStart, std::nullopt, std::nullopt, std::nullopt, kStart, kStart}));
  EXPECT_EQ(record.timers, Timers{});
  EXPECT_EQ(record.hold, Hold{});
  EXPECT_EQ(record.lease, std::nullopt);
  EXPECT_EQ(record.attempt, std::nullopt);
  EXPECT_EQ(record.current_attempt_id, std::nullopt);
  EXPECT_EQ(*record.tags, s.tags);
  EXPECT_EQ(record.version, 1U);
  EXPECT_EQ(*rules.set.payload(record.id)->payload, "in");
  EXPECT_EQ(rules.set.info(record.id)->payload_bytes, 2U);
  EXPECT_THAT(rules.said(), IsEmpty()) << "a create writes no event";
}

TEST(Executions, T2_and_domain_T16_delays_by_the_clock_of_the_store) {
  Rules rules;
  Submission later = job();
  later.delay_until_ms = kStart + 3'600'000;
  const ExecutionId id = rules.submit(later);
  EXPECT_EQ(rules.vector(id), kDelayed);
  EXPECT_EQ(rules.record(id).timers.delay_until_ms, kStart + 3'600'000);
  EXPECT_EQ(rules.record(id).hold.blocking_detail, "delayed until 1700003600000");
  EXPECT_EQ(rules.record(id).state.public_state, PublicState::delayed);

  Submission relative = job();
  relative.delay_ms = 1;
  EXPECT_EQ(rules.record(rules.submit(relative)).timers.delay_until_ms, kStart + 1);
  Submission past = job();
  past.delay_until_ms = kStart;
  EXPECT_EQ(rules.vector(rules.submit(past)), kWaiting) << "now is not later";
  past.delay_until_ms = -5;
  EXPECT_EQ(rules.vector(rules.submit(past)), kWaiting);
  Submission none = job();
  none.delay_ms = 0;
  EXPECT_EQ(rules.vector(rules.submit(none)), kWaiting);
  Submission forever = job();
  forever.delay_ms = ~0ULL;
  EXPECT_EQ(rules.record(rules.submit(forever)).timers.delay_until_ms, std::numeric_limits<TimeMs>::max())
      << "sums of times saturate";
}

TEST(Executions, deadline_of_the_argument_else_of_the_policy) {
  Rules rules;
  Submission s = job(R"({"timeout_policy":{"execution_deadline_ms":5000}})");
  EXPECT_EQ(rules.record(rules.submit(s)).timers.execution_deadline_at_ms, kStart + 5000);
  s.execution_deadline_at_ms = 77;
  EXPECT_EQ(rules.record(rules.submit(s)).timers.execution_deadline_at_ms, 77) << "in the past is legal";
  EXPECT_EQ(rules.record(rules.submit()).timers.execution_deadline_at_ms, std::nullopt);
}

TEST(Executions, T3_the_same_id_twice_answers_with_the_first) {
  Rules rules;
  Submission s = job();
  s.execution_id = ExecutionId{9, *Uuid::parse("550e8400-e29b-41d4-a716-446655440000")};
  s.payload = "first";
  EXPECT_EQ(rules.submit(s), *s.execution_id);
  rules.claim(*s.execution_id);
  s.payload = "second";
  s.execution_kind = "other";
  auto again = rules.try_submit(s);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, (Submitted{*s.execution_id, PublicState::active, true}));
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(*rules.set.payload(*s.execution_id)->payload, "first");
}

TEST(Executions, T4_same_key_same_content_answers_with_the_first_execution) {
  Rules rules;
  const ExecutionId first = rules.submit(keyed());
  EXPECT_EQ(first.partition, 178);
  const IdempotencyId key{"default", "create_execution", "order-42"};
  const IdempotencyRecord* kept = rules.set.key(key);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->execution_id, first);
  EXPECT_EQ(kept->partition, 178);
  EXPECT_EQ(kept->created_at_ms, kStart);
  EXPECT_EQ(kept->expires_at_ms, kStart + 86'400'000);
  EXPECT_EQ(kept->version, 1U);
  EXPECT_EQ(rules.set.info(first)->idempotency_key, "order-42");

  rules.now += 1000;
  auto again = rules.try_submit(keyed());
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, (Submitted{first, PublicState::waiting, true}));
  EXPECT_FALSE(rules.wrote());
  EXPECT_NE(rules.submit(keyed("other")), first);
}

TEST(Executions, T4_same_key_other_content_is_a_conflict_one_difference_at_a_time) {
  Rules rules;
  const ExecutionId first = rules.submit(keyed());
  auto conflicts = [&](auto change) {
    Submission s = keyed();
    change(s);
    auto reply = rules.try_submit(s);
    EXPECT_FALSE(rules.wrote());
    return !reply && reply.error().code == ErrorCode::idempotency_conflict &&
           reply.error().context.text("execution_id") == first.to_string();
  };
  EXPECT_TRUE(conflicts([](Submission& s) { s.execution_kind = "other"; }));
  EXPECT_TRUE(conflicts([](Submission& s) { s.lane_id = "other"; }));
  EXPECT_TRUE(conflicts([](Submission& s) { s.payload = "p"; }));
  EXPECT_TRUE(conflicts([](Submission& s) { s.policy.emplace().priority = 1; }));
  EXPECT_TRUE(conflicts([](Submission& s) { s.tags = {{"a", "b"}}; }));
  EXPECT_FALSE(conflicts([](Submission& s) { s.priority = 3; })) << "nothing else is compared";
}

TEST(Domain, T30_windows_and_namespaces_of_keys) {
  Rules rules;
  const ExecutionId first = rules.submit(keyed());
  Submission elsewhere = keyed();
  elsewhere.namespace_ = "tenant-a";
  EXPECT_NE(rules.submit(elsewhere), first);

  rules.now = kStart + 86'400'000 - 1;
  EXPECT_EQ(rules.submit(keyed()), first);
  rules.now = kStart + 86'400'000;
  const ExecutionId second = rules.submit(keyed());
  EXPECT_NE(second, first) << "the window is over";
  EXPECT_EQ(rules.set.key({"default", "create_execution", "order-42"})->execution_id, second);
  EXPECT_EQ(rules.set.key({"default", "create_execution", "order-42"})->version, 2U);

  Submission open = job(R"({"dedup_window_ms":0})");
  open.idempotency_key = "never";
  EXPECT_NE(rules.submit(open), rules.submit(open));
  EXPECT_EQ(rules.set.key({"default", "create_execution", "never"}), nullptr);
}

TEST(Domain, T30_a_key_outlives_its_execution) {
  Rules rules;
  const ExecutionId first = rules.submit(keyed());
  ASSERT_TRUE(rules.cancel(first));
  rules.must(DeleteExecution{{}, first});
  auto again = rules.try_submit(keyed());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->execution_id, first);
  EXPECT_TRUE(again->duplicate);
}

TEST(Executions, T9_lanes_are_registered_by_their_first_execution) {
  Rules rules;
  Submission s = job();
  s.lane_id = "fresh";
  rules.submit(s);
  const Lane* lane = rules.set.lane("fresh");
  ASSERT_TRUE(lane);
  EXPECT_EQ(lane->lane_state, LaneState::active);
  EXPECT_EQ(lane->registered_at_ms, kStart);
  EXPECT_EQ(lane->registered_by, "create_execution");
  EXPECT_EQ(lane->version, 1U);
  rules.now += 5;
  rules.submit(s);
  EXPECT_EQ(rules.set.lane("fresh")->version, 1U) << "only once";
}

TEST(Executions, T9_which_lanes_accept) {
  const std::pair<LaneState, bool> table[] = {{LaneState::active, true},
                                              {LaneState::paused, true},
                                              {LaneState::draining, false},
                                              {LaneState::disabled, false}};
  for (const auto& [state, accepts] : table) {
    Rules rules;
    rules.must(ConfigureLaneOp{{}, {.lane_id = "default", .lane_state = state}});
    auto reply = rules.try_submit(job());
    EXPECT_EQ(reply.has_value(), accepts) << name_of(state);
    if (accepts) continue;
    EXPECT_EQ(reply.error().code, ErrorCode::lane_not_accepting);
    EXPECT_EQ(reply.error().context.text("lane_state"), name_of(state));
    EXPECT_FALSE(rules.wrote());
  }
}

TEST(Executions, T9_a_duplicate_is_answered_also_on_a_lane_that_accepts_nothing) {
  Rules rules;
  const ExecutionId first = rules.submit(keyed());
  rules.must(ConfigureLaneOp{{}, {.lane_id = "default", .lane_state = LaneState::draining}});
  EXPECT_EQ(rules.submit(keyed()), first) << "the key comes before the lane";
  EXPECT_FALSE(rules.try_submit(keyed("new")));
}

TEST(Executions, T9_a_lane_state_that_the_process_knows_needs_no_read) {
  Create create = check_submission(job(), {}, {})->create;
  create.known_lane_state = LaneState::draining;
  WorkingSet set;
  Reads wanted(set);
  reads(create, set, wanted);
  EXPECT_TRUE(wanted.empty());
  EXPECT_EQ(decide(create, set, kStart).reply.error().code, ErrorCode::lane_not_accepting);
  create.known_lane_state = LaneState::active;
  EXPECT_TRUE(decide(create, set, kStart).writes.lanes.empty()) << "a known lane is registered already";
}

TEST(Executions, create_reads_what_its_key_points_to) {
  Rules rules;
  const ExecutionId first = rules.submit(keyed());
  auto checked = check_submission(keyed(), {}, {});
  place_submission(*checked, Uuid{}, {});
  WorkingSet set;
  Reads one(set);
  reads(checked->create, set, one);
  EXPECT_EQ(one.keys.size(), 1U);
  EXPECT_TRUE(one.executions.empty());
  set.keys().loaded(*checked->create.key, *rules.set.key(*checked->create.key));
  Reads two(set);
  reads(checked->create, set, two);
  EXPECT_EQ(two.executions, std::vector{first}) << "the second round brings the execution itself";
}

}  // namespace
}  // namespace ff::core
