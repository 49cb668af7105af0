#include "engine/directory.h"

#include "core/fields.h"
#include "support/manual_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::engine {
namespace {

using core::OrderKey;
using store::Taken;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Uuid uuid_of(int number) {
  Uuid uuid;
  uuid.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  uuid.bytes[15] = static_cast<std::uint8_t>(number);
  return uuid;
}
OrderKey key(int priority, TimeMs created_at_ms, int id) { return {priority, created_at_ms, {0, uuid_of(id)}}; }

class DirectoryTest : public ::testing::Test {
 protected:
  core::QueueRef queue(std::string kind, std::vector<std::string> required = {}, std::string lane = "default",
                       std::string namespace_ = "default") {
    return core::make_queue(std::move(lane), std::move(namespace_), std::move(kind), std::move(required));
  }

  core::ClaimOperation claim(std::uint32_t max, std::vector<std::string> lanes = {"default"},
                             std::set<std::string, std::less<>> kinds = {}) {
    core::Claim claim;
    claim.worker.worker_instance_id = "w1";
    claim.worker.lanes = std::move(lanes);
    claim.worker.kinds = std::move(kinds);
    claim.max = max;
    return {std::move(claim), [](auto) {}};
  }

  std::vector<Directory::Row> plan(core::ClaimOperation& one, bool last = false) {
    core::ClaimOperation* claims[] = {&one};
    return directory.plan(claims, last);
  }

  /// A take by this plan, of one queue, that got so many and saw this behind them.
  void took(const std::vector<Directory::Row>& rows, std::size_t count, std::optional<OrderKey> next_head = {}) {
    std::vector<Taken> taken(1);
    taken[0].candidates.resize(count);
    taken[0].next_head = next_head;
    directory.took(rows, taken);
  }

  /// `kind x count, from priority up`: what a plan says, row by row.
  static std::vector<std::string> text(const std::vector<Directory::Row>& rows) {
    std::vector<std::string> texts;
    for (const auto& row : rows)
      texts.push_back(fmt::format("{}: {} x {} from {}", row.claim, row.take.queue->execution_kind, row.take.count,
                                  row.take.priority_floor));
    return texts;
  }

  core::ExecutionRecord record(const core::QueueRef& queue, const OrderKey& key) {
    core::ExecutionRecord record;
    record.id = key.id;
    record.queue = queue;
    record.priority = key.priority;
    record.times.created_at_ms = record.times.last_transition_at_ms = record.times.last_mutation_at_ms =
        key.created_at_ms;
    record.version = 1;
    return record;
  }

  /// A commit that makes these new.
  std::vector<Directory::Gain> submitted(std::vector<core::ExecutionRecord> records) {
    std::deque<store::Unit> units(1);
    core::Writes writes(0);
    for (auto& record : records) writes.insert(std::move(record));
    return commit(units, std::move(writes));
  }
  /// A commit that changes one that was there.
  std::vector<Directory::Gain> changed(const core::ExecutionRecord& before, core::ExecutionRecord after) {
    std::deque<store::Unit> units(1);
    units.front().set.executions().loaded(before.id, std::optional(before));
    core::Writes writes(before.times.last_mutation_at_ms);
    writes.update(before, std::move(after));
    return commit(units, std::move(writes));
  }
  std::vector<Directory::Gain> commit(std::deque<store::Unit>& units, core::Writes writes,
                                      store::Unit::Outcome outcome = store::Unit::Outcome::committed) {
    EXPECT_EQ(writes.broken(), "");
    units.front().set.apply(std::move(writes));
    units.front().outcome = outcome;
    return directory.committed(units);
  }

  /// What a re-read of the lane found.
  std::vector<Directory::Gain> refresh(const std::vector<store::QueueHead>& heads, std::optional<Lane> lane = {}) {
    return directory.refreshed("default", directory.ticket(), heads, lane);
  }
  Lane lane(LaneState state) {
    Lane lane;
    lane.lane_id = "default";
    lane.lane_state = state;
    return lane;
  }

  test::ManualRuntime runtime;
  Directory directory{runtime};
};

// ---- planning -----------------------------------------------------------------------------------------------------

TEST_F(DirectoryTest, an_empty_directory_plans_nothing) {
  auto one = claim(5);
  EXPECT_THAT(plan(one), IsEmpty());
  EXPECT_FALSE(directory.has_work(one.request().worker));
}

TEST_F(DirectoryTest, queues_are_taken_from_in_the_order_of_their_heads) {
  refresh({{queue("young"), key(0, 300, 1), 2},
           {queue("urgent"), key(9, 400, 2), 2},
           {queue("old"), key(0, 100, 3), 2},
           {queue("tied"), key(0, 100, 4), 2}});
  auto all = claim(20);
  // Each row is bounded by the priority of the next head, the last by nothing.
  EXPECT_THAT(text(plan(all)),
              ElementsAre("0: urgent x 2 from 0", "0: old x 2 from 0", "0: tied x 2 from 0", "0: young x 2 from 0"));
  auto one = claim(1);
  EXPECT_THAT(text(plan(one)), ElementsAre("0: urgent x 1 from 0"));
}

TEST_F(DirectoryTest, a_queue_gives_nothing_that_ranks_below_the_next_head) {
  refresh({{queue("a"), key(9, 100, 1), 50}, {queue("b"), key(5, 100, 2), 50}, {queue("c"), key(-3, 100, 3), 50}});
  auto forty = claim(40);
  EXPECT_THAT(text(plan(forty)), ElementsAre("0: a x 40 from 5")) << "not more queues than needed";
  auto all = claim(120);
  EXPECT_THAT(text(plan(all)), ElementsAre("0: a x 50 from 5", "0: b x 50 from -3", "0: c x 20 from 0"));
}

TEST_F(DirectoryTest, the_floor_comes_from_queues_that_the_worker_can_serve) {
  refresh({{queue("a"), key(9, 100, 1), 5}, {queue("other"), key(8, 100, 2), 5}, {queue("b"), key(3, 100, 3), 5}});
  auto some = claim(4, {"default"}, {"a", "b"});
  EXPECT_THAT(text(plan(some)), ElementsAre("0: a x 4 from 3"));
}

TEST_F(DirectoryTest, work_that_a_worker_cannot_do_is_not_planned) {
  refresh({{queue("gpu", {"cuda"}), key(9, 100, 1), 5}});
  auto plain = claim(5);
  EXPECT_THAT(plan(plain), IsEmpty());
  EXPECT_FALSE(directory.has_work(plain.request().worker));
  core::Claim able;
  able.worker.lanes = {"default"};
  able.worker.capabilities = {"cuda", "x"};
  able.max = 5;
  core::ClaimOperation one(able, [](auto) {});
  EXPECT_THAT(text(plan(one)), ElementsAre("0: gpu x 5 from 0"));
  EXPECT_TRUE(directory.has_work(able.worker));
}

TEST_F(DirectoryTest, claims_of_one_batch_are_not_promised_the_same_work) {
  refresh({{queue("a"), key(0, 100, 1), 3}, {queue("b"), key(0, 200, 2), 3}});
  auto first = claim(2), second = claim(2), third = claim(5);
  core::ClaimOperation* claims[] = {&first, &second, &third};
  EXPECT_THAT(text(directory.plan(claims, false)),
              ElementsAre("0: a x 2 from 0", "1: a x 1 from 0", "1: b x 1 from 0", "2: b x 2 from 0"));
}

TEST_F(DirectoryTest, a_deep_queue_is_promised_without_counting) {
  refresh({{queue("deep"), key(0, 100, 1), kHeadCountMax}});
  auto first = claim(kHeadCountMax), second = claim(50);
  core::ClaimOperation* claims[] = {&first, &second};
  EXPECT_THAT(text(directory.plan(claims, false)), ElementsAre("0: deep x 100 from 0", "1: deep x 50 from 0"));
}

TEST_F(DirectoryTest, the_last_round_looks_into_more_queues_than_it_needs) {
  refresh({{queue("a"), key(9, 100, 1), 5}, {queue("b"), key(5, 100, 2), 5}});
  auto one = claim(2);
  EXPECT_THAT(text(plan(one, false)), ElementsAre("0: a x 2 from 5"));
  EXPECT_THAT(text(plan(one, true)), ElementsAre("0: a x 2 from 5", "0: b x 2 from 0"));
}

TEST_F(DirectoryTest, lanes_share_a_claim_and_take_turns_at_going_first) {
  directory.refreshed("left", 0, {{queue("l", {}, "left"), key(0, 100, 1), 10}}, {});
  directory.refreshed("right", 0, {{queue("r", {}, "right"), key(9, 50, 2), 10}}, {});
  auto four = claim(4, {"left", "right"});
  EXPECT_THAT(text(plan(four)), ElementsAre("0: l x 2 from 0", "0: r x 2 from 0"));
  auto one = claim(1, {"left", "right"});
  EXPECT_THAT(text(plan(one)), ElementsAre("0: r x 1 from 0"));
  EXPECT_THAT(text(plan(one)), ElementsAre("0: l x 1 from 0"));
}

TEST_F(DirectoryTest, what_one_lane_lacks_the_other_gives) {
  directory.refreshed("left", 0, {{queue("l", {}, "left"), key(0, 100, 1), 1}}, {});
  directory.refreshed("right", 0, {{queue("r", {}, "right"), key(0, 100, 2), 10}}, {});
  auto six = claim(6, {"left", "right"});
  std::map<std::string, std::uint32_t> planned;
  for (const auto& row : plan(six)) planned[row.take.queue->execution_kind] += row.take.count;
  EXPECT_EQ(planned, (std::map<std::string, std::uint32_t>{{"l", 1}, {"r", 5}}));
}

TEST_F(DirectoryTest, paused_and_disabled_lanes_give_nothing_and_draining_ones_do) {
  const std::pair<LaneState, bool> cases[] = {
      {LaneState::paused, false}, {LaneState::disabled, false}, {LaneState::draining, true}, {LaneState::active, true}};
  for (const auto& [state, gives] : cases) {
    refresh({{queue("a"), key(0, 100, 1), 5}}, lane(state));
    auto one = claim(1);
    EXPECT_EQ(!plan(one).empty(), gives) << core::name_of(state);
    EXPECT_EQ(directory.has_work(one.request().worker), gives) << core::name_of(state);
  }
}

// ---- what a take found --------------------------------------------------------------------------------------------

TEST_F(DirectoryTest, a_take_moves_the_head_and_counts) {
  refresh({{queue("a"), key(9, 100, 1), 3}, {queue("b"), key(5, 100, 2), 3}});
  auto two = claim(2);
  auto rows = plan(two);
  took(rows, 2, key(1, 50, 9));
  auto all = claim(10);
  EXPECT_THAT(text(plan(all)), ElementsAre("0: b x 3 from 1", "0: a x 1 from 0")) << "b's head is ahead now";
}

TEST_F(DirectoryTest, a_queue_that_was_found_empty_is_forgotten) {
  refresh({{queue("a"), key(9, 100, 1), 3}});
  auto one = claim(1);
  auto rows = plan(one);
  took(rows, 0);
  EXPECT_THAT(plan(one), IsEmpty());
  EXPECT_FALSE(directory.has_work(one.request().worker));
}

TEST_F(DirectoryTest, a_queue_that_grew_after_the_plan_is_not_forgotten) {
  auto a = queue("a");
  refresh({{a, key(9, 100, 1), 1}});
  auto one = claim(1);
  auto rows = plan(one);
  submitted({record(a, key(0, 500, 7))});
  took(rows, 0);
  EXPECT_FALSE(plan(one).empty());
}

TEST_F(DirectoryTest, how_much_stands_behind_an_unforeseen_head_is_not_known) {
  refresh({{queue("a"), key(9, 100, 1), 1}});
  auto one = claim(1);
  took(plan(one), 1, key(9, 101, 2));
  EXPECT_THAT(text(plan(one)), ElementsAre("0: a x 1 from 0"));
  auto many = claim(50);
  EXPECT_THAT(text(plan(many)), ElementsAre("0: a x 50 from 0"));
}

TEST_F(DirectoryTest, a_take_that_finds_less_than_was_known_leaves_a_doubt) {
  refresh({{queue("a"), key(9, 100, 1), 3}});
  auto two = claim(2);
  auto rows = plan(two);
  EXPECT_FALSE(directory.doubts({"default"}));
  took(rows, 1);
  EXPECT_FALSE(directory.doubts({"elsewhere"}));
  EXPECT_TRUE(directory.doubts({"elsewhere", "default"}));
  EXPECT_FALSE(directory.doubts({"default"})) << "told once";
}

TEST_F(DirectoryTest, a_queue_that_gave_all_it_had_leaves_a_doubt_if_it_was_deep) {
  for (const std::uint32_t known : {2U, kHeadCountMax}) {
    refresh({{queue("a"), key(9, 100, 1), known}});
    auto all = claim(known);
    took(plan(all), known);
    EXPECT_FALSE(directory.has_work(all.request().worker)) << known;
    EXPECT_EQ(directory.doubts({"default"}), known == kHeadCountMax) << known;
  }
}

TEST_F(DirectoryTest, what_a_take_left_is_known_though_another_found_nothing_meanwhile) {
  refresh({{queue("a"), key(9, 100, 1), 3}});
  auto two = claim(2);
  auto rows = plan(two);
  took(rows, 0);
  ASSERT_FALSE(directory.has_work(two.request().worker));
  took(rows, 2, key(9, 100, 3));
  EXPECT_THAT(text(plan(two)), ElementsAre("0: a x 2 from 0"));
}

TEST_F(DirectoryTest, a_candidate_that_was_given_back_is_planned_again) {
  auto a = queue("a");
  refresh({{a, key(5, 100, 1), 1}});
  auto one = claim(1);
  auto rows = plan(one);
  took(rows, 1);
  ASSERT_THAT(plan(one), IsEmpty());
  directory.gave_back(a, key(5, 100, 1));
  EXPECT_THAT(text(plan(one)), ElementsAre("0: a x 1 from 0"));
}

TEST_F(DirectoryTest, what_is_given_back_goes_to_its_place) {
  auto a = queue("a");
  refresh({{a, key(5, 200, 2), 1}, {queue("b"), key(5, 150, 3), 1}});
  directory.gave_back(a, key(5, 100, 1));
  auto all = claim(5);
  EXPECT_THAT(text(plan(all)), ElementsAre("0: a x 2 from 5", "0: b x 1 from 0"));
}

// ---- own commits --------------------------------------------------------------------------------------------------

TEST_F(DirectoryTest, a_commit_makes_its_candidates_known_and_says_how_many) {
  auto a = queue("a"), b = queue("b");
  auto gains = submitted({record(a, key(0, 200, 2)), record(b, key(0, 300, 3)), record(a, key(0, 100, 1))});
  ASSERT_EQ(gains.size(), 2U);
  EXPECT_EQ(*gains[0].queue, *a);
  EXPECT_EQ(gains[0].count, 2U);
  EXPECT_EQ(*gains[1].queue, *b);
  EXPECT_EQ(gains[1].count, 1U);
  auto all = claim(10);
  EXPECT_THAT(text(plan(all)), ElementsAre("0: a x 2 from 0", "0: b x 1 from 0"));
}

TEST_F(DirectoryTest, a_commit_that_failed_changes_nothing) {
  std::deque<store::Unit> units(1);
  core::Writes writes(0);
  writes.insert(record(queue("a"), key(0, 100, 1)));
  EXPECT_THAT(commit(units, std::move(writes), store::Unit::Outcome::conflict), IsEmpty());
  auto one = claim(1);
  EXPECT_THAT(plan(one), IsEmpty());
}

TEST_F(DirectoryTest, a_candidate_that_leaves_otherwise_is_counted_out) {
  auto a = queue("a");
  const auto waiting = record(a, key(0, 100, 1));
  submitted({waiting});
  core::ExecutionRecord delayed = waiting;
  delayed.state.eligibility_state = EligibilityState::not_eligible_until_time;
  delayed.state.blocking_reason = BlockingReason::waiting_for_delay;
  delayed.timers.delay_until_ms = 900;
  submitted({record(a, key(0, 200, 2))});
  EXPECT_THAT(changed(waiting, delayed), IsEmpty());
  auto many = claim(5);
  EXPECT_THAT(text(plan(many)), ElementsAre("0: a x 1 from 0"));

  delayed.state.public_state = PublicState::delayed;
  auto gains = changed(delayed, waiting);
  ASSERT_EQ(gains.size(), 1U) << "it is a candidate again";
  EXPECT_THAT(text(plan(many)), ElementsAre("0: a x 2 from 0"));
}

TEST_F(DirectoryTest, a_queue_that_was_re_read_before_a_removal_is_told_stays_known) {
  auto a = queue("a");
  const auto waiting = record(a, key(0, 100, 1));
  submitted({waiting, record(a, key(0, 200, 2))});
  refresh({{a, key(0, 200, 2), 1}});
  core::ExecutionRecord delayed = waiting;
  delayed.state.eligibility_state = EligibilityState::not_eligible_until_time;
  delayed.state.blocking_reason = BlockingReason::waiting_for_delay;
  delayed.state.public_state = PublicState::delayed;
  delayed.timers.delay_until_ms = 900;
  changed(waiting, delayed);
  auto one = claim(1);
  EXPECT_THAT(text(plan(one)), ElementsAre("0: a x 1 from 0")) << "the younger one still waits";
}

TEST_F(DirectoryTest, a_new_priority_moves_the_queue_and_wakes) {
  auto a = queue("a");
  const auto waiting = record(a, key(0, 100, 1));
  submitted({waiting, record(queue("b"), key(5, 100, 2))});
  core::ExecutionRecord urgent = waiting;
  urgent.priority = 9;
  EXPECT_EQ(changed(waiting, urgent).size(), 1U);
  auto all = claim(5);
  EXPECT_THAT(text(plan(all)), ElementsAre("0: a x 1 from 5", "0: b x 1 from 0"));
}

// ---- re-reads -----------------------------------------------------------------------------------------------------

TEST_F(DirectoryTest, a_refresh_replaces_what_was_known) {
  refresh({{queue("a"), key(0, 100, 1), 5}, {queue("b"), key(0, 200, 2), 5}});
  auto gains = refresh({{queue("b"), key(0, 300, 3), 2}});
  ASSERT_EQ(gains.size(), 1U);
  EXPECT_EQ(gains[0].count, 2U);
  auto all = claim(10);
  EXPECT_THAT(text(plan(all)), ElementsAre("0: b x 2 from 0"));
}

TEST_F(DirectoryTest, what_changed_here_during_the_read_stays) {
  auto a = queue("a"), b = queue("b");
  refresh({{a, key(0, 100, 1), 5}});
  const auto ticket = directory.ticket();
  submitted({record(a, key(0, 50, 8)), record(b, key(0, 60, 9))});
  // The read saw the state before that commit: one head that is late, one queue that is missing.
  directory.refreshed("default", ticket, {{a, key(0, 100, 1), 5}}, {});
  auto all = claim(10);
  EXPECT_THAT(text(plan(all)), ElementsAre("0: a x 6 from 0", "0: b x 1 from 0"));
}

TEST_F(DirectoryTest, it_remembers_when_a_lane_was_read_and_for_how_long_its_state_holds) {
  EXPECT_LT(directory.refreshed_at("default"), runtime.now_us - 1'000'000'000);
  EXPECT_EQ(directory.lane_state("default"), std::nullopt);
  refresh({}, lane(LaneState::draining));
  EXPECT_EQ(directory.refreshed_at("default"), runtime.now_us);
  EXPECT_EQ(directory.lane_state("default"), LaneState::draining);
  runtime.now_us += 1'000'000;
  EXPECT_EQ(directory.lane_state("default"), LaneState::draining);
  runtime.now_us += 1;
  EXPECT_EQ(directory.lane_state("default"), std::nullopt) << "older than a second";
}

TEST_F(DirectoryTest, a_lane_is_known_when_its_queues_were_read) {
  submitted({record(queue("a"), key(0, 100, 1))});
  EXPECT_FALSE(directory.knows({"default"})) << "older work may wait in other queues";
  refresh({{queue("a"), key(0, 100, 1), 1}}, lane(LaneState::active));
  EXPECT_TRUE(directory.knows({"default"}));
  EXPECT_FALSE(directory.knows({"default", "other"}));
  runtime.now_us += 1'000'001;
  EXPECT_FALSE(directory.knows({"default"})) << "it may have been closed since";
}

TEST_F(DirectoryTest, lanes_are_busy_for_a_minute_after_a_claim) {
  EXPECT_THAT(directory.busy_lanes(), IsEmpty());
  directory.claimed_from({"default"});
  runtime.now_us += 59'999'999;
  EXPECT_THAT(directory.busy_lanes(), ElementsAre("default"));
  runtime.now_us += 1;
  EXPECT_THAT(directory.busy_lanes(), IsEmpty());
}

}  // namespace
}  // namespace ff::engine
