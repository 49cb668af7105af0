#include "core/ops/change.h"

#include "core/json.h"
#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::bytes;
using test::job;
using test::kStart;
using test::Rules;
using testing::ElementsAre;

// ---- priority -----------------------------------------------------------------------------------------------------

TEST(Executions, T56_priority_changes_in_every_phase_that_is_not_terminal) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job(R"({"priority":5})"));
    EXPECT_EQ(rules.must(ChangePriorityOp{{std::nullopt, "ops"}, id, 20'000}), (PriorityChanged{5, 9000}))
        << situation.name;
    EXPECT_EQ(rules.changed(id), "priority") << situation.name;
    EXPECT_THAT(rules.said(), ElementsAre("operator priority_changed"));
    EXPECT_EQ(rules.events()[0].details, R"({"old_priority":5,"new_priority":9000})");
    EXPECT_EQ(rules.events()[0].actor, "ops");
  }
  for (const auto& situation : test::ended_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    EXPECT_EQ(rules.refused(ChangePriorityOp{{}, id, 1}).code, ErrorCode::execution_not_active) << situation.name;
    EXPECT_FALSE(rules.wrote());
  }
}

TEST(Executions, T56_the_same_priority_succeeds_and_is_still_on_record) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"priority":5})"));
  EXPECT_EQ(rules.must(ChangePriorityOp{{}, id, 5}), (PriorityChanged{5, 5}));
  EXPECT_THAT(rules.said(), ElementsAre("operator priority_changed"));
  EXPECT_EQ(rules.must(ChangePriorityOp{{}, id, -3}), (PriorityChanged{5, 0}));
  EXPECT_EQ(rules.refused(ChangePriorityOp{{}, {}, 1}).code, ErrorCode::execution_not_found);
}

// ---- tags ---------------------------------------------------------------------------------------------------------

TEST(Executions, T61_tags_are_set_and_removed_in_every_phase) {
  auto all = test::open_situations();
  for (auto& ended : test::ended_situations()) all.push_back(std::move(ended));
  for (const auto& situation : all) {
    Rules rules;
    Submission s = job();
    s.tags = {{"keep", "1"}, {"change", "1"}, {"drop", "1"}};
    const ExecutionId id = situation.reach(rules, s);
    const PublicState state = rules.record(id).state.public_state;
    EXPECT_EQ(rules.must(SetTagsOp{{}, id, {{"change", "2"}, {"drop", std::nullopt}, {"app.new", "3"}}}),
              (Changed{id, state, false}));
    EXPECT_EQ(rules.changed(id), "tags") << situation.name;
    EXPECT_EQ(*rules.record(id).tags, (Tags{{"app.new", "3"}, {"change", "2"}, {"keep", "1"}}));
    EXPECT_THAT(rules.said(), ElementsAre("operator tags_changed"));
    EXPECT_EQ(rules.events()[0].details, R"({"tags":{"app.new":"3","change":"2","drop":null}})");
    EXPECT_EQ(*rules.events()[0].tags, *rules.record(id).tags) << "the tags at that moment, the new ones";
  }
}

TEST(Executions, T61_removing_the_last_tag_leaves_none) {
  Rules rules;
  Submission s = job();
  s.tags = {{"only", "1"}};
  const ExecutionId id = rules.submit(s);
  rules.must(SetTagsOp{{}, id, {{"only", std::nullopt}, {"never_there", std::nullopt}}});
  EXPECT_EQ(rules.record(id).tags, nullptr);
  EXPECT_EQ(rules.refused(SetTagsOp{{}, {}, {{"a", "b"}}}).code, ErrorCode::execution_not_found);
}

TEST(Executions, T61_the_limit_counts_what_is_there_afterwards) {
  Rules rules;
  Submission s = job();
  for (int i = 0; i < 128; ++i) s.tags["k" + std::to_string(i)] = "v";
  const ExecutionId id = rules.submit(s);
  const Error error = rules.refused(SetTagsOp{{}, id, {{"one_more", "v"}}});
  EXPECT_EQ(error.code, ErrorCode::invalid_input);
  EXPECT_EQ(error.context.text("reason"), "too_many");
  EXPECT_FALSE(rules.wrote()) << "all or none";
  rules.must(SetTagsOp{{}, id, {{"one_more", "v"}, {"k0", std::nullopt}}});
  EXPECT_EQ(rules.record(id).tags->size(), 128U);
}

// ---- replay -------------------------------------------------------------------------------------------------------

TEST(Executions, T57_replay_of_every_outcome) {
  for (const auto& situation : test::ended_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const ExecutionRecord before = rules.record(id);
    rules.now += 1'000;
    EXPECT_EQ(rules.must(Replay{{std::nullopt, "ops"}, id, "wrong input", "alice"}),
              (Changed{id, PublicState::waiting, false}))
        << situation.name;
    EXPECT_EQ(rules.vector(id), "runnable / unowned / eligible_now / waiting_for_worker / none / pending_replay_attempt");
    EXPECT_THAT(rules.said(), ElementsAre("operator replayed")) << "no completion, no lease event";
    EXPECT_EQ(rules.events()[0].details, R"({"branch":"normal","groups_reset":0,"replay_count":1})");
    const ExecutionRecord& record = rules.record(id);
    EXPECT_EQ(record.times.completed_at_ms, std::nullopt);
    EXPECT_EQ(record.times.retain_until_ms, std::nullopt);
    EXPECT_EQ(record.times.started_at_ms, before.times.started_at_ms);
    EXPECT_EQ(record.ending, (Ending{.last_failure_message = before.ending.last_failure_message})) << situation.name;
    EXPECT_EQ(record.current_attempt_id, std::nullopt);
    EXPECT_EQ(record.pending.pending_replay_reason, "wrong input");
    EXPECT_EQ(record.pending.pending_replay_requested_by, "alice");
    EXPECT_EQ(record.pending.pending_previous_attempt_index.has_value(), before.attempt.has_value());
    EXPECT_EQ(record.attempt, before.attempt) << "history stays";
    EXPECT_EQ(rules.set.result(id), nullptr) << "no result until it is done again";
  }
}

TEST(Executions, T57_counters_of_the_run_start_over_those_of_the_life_go_on) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"retry_policy":{"max_retries":1,"backoff":{"type":"fixed","delay_ms":0}}})"));
  rules.claim(id);
  rules.lose(id);
  ASSERT_TRUE(rules.fail(rules.claim(id)));
  const TaskHandle last = rules.claim(id);
  rules.must(ReportProgressOp{last, 30, "x"});
  ASSERT_TRUE(rules.fail(last));
  EXPECT_EQ(rules.record(id).counters, (Counters{3, 3, 3, 1, 1, 0, 0}));
  rules.must(Replay{{}, id, std::nullopt, std::nullopt});
  EXPECT_EQ(rules.record(id).counters, (Counters{3, 3, 0, 0, 0, 1, 0}));
  EXPECT_EQ(rules.record(id).progress, Progress{});
  EXPECT_EQ(rules.fail(rules.claim(id))->status, FailStatus::retry_scheduled) << "fresh retries";
  ASSERT_TRUE(rules.complete(rules.claim(id)));
  const auto history = rules.history();
  EXPECT_EQ(std::count(history.begin(), history.end(), "completion failed"), 1);
  EXPECT_EQ(std::count(history.begin(), history.end(), "completion success"), 1) << "a second one at the second end";
}

TEST(Executions, T58_refusals_of_replay) {
  Rules rules;
  EXPECT_EQ(rules.refused(Replay{{}, {}, {}, {}}).code, ErrorCode::execution_not_found);
  for (const auto& situation : test::open_situations()) {
    Rules open;
    const ExecutionId id = situation.reach(open, job());
    EXPECT_EQ(open.refused(Replay{{}, id, {}, {}}).code, ErrorCode::execution_not_terminal) << situation.name;
    EXPECT_FALSE(open.wrote());
  }
  const ExecutionId never = rules.submit(job(R"({"max_replay_count":0})"));
  ASSERT_TRUE(rules.cancel(never));
  const Error error = rules.refused(Replay{{}, never, {}, {}});
  EXPECT_EQ(error.code, ErrorCode::max_replays_exhausted);
  EXPECT_EQ(error.context.number("limit"), 0);
}

TEST(Executions, T58_ten_replays_by_default) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ASSERT_TRUE(rules.cancel(id));
  for (int i = 0; i < 10; ++i) {
    rules.must(Replay{{}, id, {}, {}});
    ASSERT_TRUE(rules.cancel(id));
  }
  EXPECT_EQ(rules.refused(Replay{{}, id, {}, {}}).code, ErrorCode::max_replays_exhausted) << "the eleventh";
}

TEST(Executions, T60_a_deadline_that_is_over_is_cleared_one_ahead_is_kept) {
  for (TimeMs ahead : {-1, 0, 1}) {
    Rules rules;
    Submission s = job();
    s.execution_deadline_at_ms = kStart + 100;
    const ExecutionId id = rules.submit(s);
    ASSERT_TRUE(rules.complete(rules.claim(id)));
    rules.now = kStart + 100 - ahead;
    rules.must(Replay{{}, id, {}, {}});
    EXPECT_EQ(rules.record(id).timers.execution_deadline_at_ms.has_value(), ahead > 0) << ahead;
    ASSERT_TRUE(rules.complete(rules.claim(id)));
  }
}

}  // namespace
}  // namespace ff::core
