#include "core/working_set.h"

#include "core/operation.h"
#include "core/state.h"
#include "support/rules.h"

#include <gtest/gtest.h>

namespace ff::core {

/// An operation that wants a record saved as it stands, legal or not.
struct Overwrite {
  using Reply = Done;
  static constexpr std::string_view kName = "overwrite";

  ExecutionRecord record;
};
void reads(const Overwrite& op, const Records&, Reads& out) { out.execution(op.record.id); }
Decision<Done> decide(const Overwrite& op, const Records& in, TimeMs now) {
  Writes writes(now);
  writes.update(*in.execution(op.record.id), ExecutionRecord(op.record));
  return {Done{}, std::move(writes)};
}

namespace {

using test::kStart;
using test::Rules;

TEST(WorkingSet, an_illegal_record_is_never_applied) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const ExecutionRecord before = rules.record(id);
  ExecutionRecord bad = before;
  bad.state.lifecycle_phase = LifecyclePhase::terminal;
  Result<Done> answer;
  TypedOperation<Overwrite> op(Overwrite{bad}, [&](Result<Done> reply) { answer = std::move(reply); });
  op.decide(rules.set, kStart + 1);
  ASSERT_TRUE(op.error());
  EXPECT_EQ(op.error()->code, ErrorCode::invariant_violation);
  EXPECT_NE(op.error()->message.find("terminal_outcome: none"), std::string::npos) << op.error()->message;
  EXPECT_TRUE(same_record(rules.record(id), before));
  op.deliver();
  EXPECT_FALSE(answer);
}

TEST(WorkingSet, an_epoch_never_decreases) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ExecutionRecord unclaimed = rules.record(id);
  rules.claim(id);
  Writes writes(kStart);
  writes.update(rules.record(id), std::move(unclaimed));
  EXPECT_EQ(writes.broken(), id.to_string() + ": current_lease_epoch decreases");
}

TEST(WorkingSet, saving_derives_version_times_and_public_state) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ExecutionRecord changed = rules.record(id);
  changed.priority = 5;
  changed.version = 77;
  changed.state.public_state = PublicState::failed;
  Writes writes(kStart + 9);
  writes.update(rules.record(id), std::move(changed));
  const ExecutionRecord& saved = writes.saved();
  EXPECT_EQ(saved.version, 2U);
  EXPECT_EQ(saved.state.public_state, PublicState::waiting);
  EXPECT_EQ(saved.times.last_mutation_at_ms, kStart + 9);
  EXPECT_EQ(saved.times.last_transition_at_ms, kStart) << "the vector did not change";
}

TEST(WorkingSet, reads_ask_only_for_what_is_missing) {
  WorkingSet set;
  const ExecutionId id{1, {}};
  Reads wanted(set);
  EXPECT_TRUE(wanted.empty());
  wanted.execution(id);
  wanted.info(id);
  wanted.payload(id);
  wanted.attempt({id, 0});
  wanted.lane("default");
  wanted.key({"n", "o", "k"});
  EXPECT_FALSE(wanted.empty());
  set.executions().loaded(id, std::nullopt);
  set.lanes().loaded("default", Lane{});
  Reads again(set);
  again.execution(id);
  again.lane("default");
  EXPECT_TRUE(again.empty()) << "known to be absent is known";
  EXPECT_EQ(set.execution(id), nullptr);
}

TEST(WorkingSet, a_slot_remembers_what_was_loaded) {
  WorkingSet set;
  const std::string lane = "default";
  Lane stored;
  stored.lane_id = lane;
  stored.version = 3;
  set.lanes().loaded(lane, stored);
  Lane other = stored;
  other.version = 9;
  set.lanes().loaded(lane, other);
  EXPECT_EQ(set.lane(lane)->version, 3U) << "what the batch has is left as it is";
  EXPECT_FALSE(set.has_changes());

  for (auto state : {LaneState::paused, LaneState::draining}) {
    Writes writes(kStart);
    Lane changed = *set.lane(lane);
    changed.lane_state = state;
    writes.lane(changed);
    set.apply(std::move(writes));
  }
  const auto* slot = set.lanes().find(lane);
  ASSERT_TRUE(slot);
  EXPECT_TRUE(slot->dirty);
  EXPECT_TRUE(slot->stored);
  EXPECT_EQ(*slot->before, stored) << "as it was loaded, not as it was between two operations";
  EXPECT_EQ(slot->value->version, 5U) << "one per operation, batched or not";
  EXPECT_TRUE(set.has_changes());
}

/// Small tables are looked through, larger ones have an index.
TEST(WorkingSet, a_table_finds_each_of_few_and_of_many) {
  WorkingSet set;
  for (int have = 0; have < 20; ++have) {
    for (int i = 0; i < 20; ++i) {
      const auto* slot = set.lanes().find(std::to_string(i));
      ASSERT_EQ(slot != nullptr, i < have) << i << " of " << have;
      if (slot) {
        EXPECT_EQ(slot->value->version, static_cast<std::uint64_t>(i));
      }
    }
    Lane lane;
    lane.lane_id = std::to_string(have);
    lane.version = static_cast<std::uint64_t>(have);
    set.lanes().loaded(lane.lane_id, lane);
  }
  int at = 0;
  for (const auto& slot : set.lanes().slots()) EXPECT_EQ(slot.key, std::to_string(at++)) << "in the order they came";
}

TEST(WorkingSet, keys_count_their_versions_and_can_go) {
  WorkingSet set;
  const IdempotencyId id{"n", "o", "k"};
  for (int i = 0; i < 2; ++i) {
    Writes writes(kStart);
    IdempotencyRecord record;
    record.id = id;
    writes.key(id, record);
    set.apply(std::move(writes));
  }
  EXPECT_EQ(set.key(id)->version, 2U);
  Writes removal(kStart);
  removal.key(id, std::nullopt);
  set.apply(std::move(removal));
  EXPECT_EQ(set.key(id), nullptr);
  EXPECT_TRUE(set.keys().find(id)->dirty);
  EXPECT_FALSE(set.keys().find(id)->stored) << "it came and went inside the batch";
}

TEST(WorkingSet, unreadable_records_are_remembered_with_their_error) {
  WorkingSet set;
  const ExecutionId id{1, {}};
  EXPECT_EQ(set.why_unreadable(id), nullptr);
  set.unreadable(id, corruption("ff_exec_core", "details", "not JSON"));
  ASSERT_TRUE(set.why_unreadable(id));
  EXPECT_EQ(set.why_unreadable(id)->code, ErrorCode::corruption);
}

TEST(WorkingSet, the_newest_attempt_is_found_in_its_execution) {
  Rules rules;
  const ExecutionId id = rules.submit();
  EXPECT_EQ(rules.set.attempt(id, 0), nullptr);
  rules.claim(id);
  rules.lose(id);
  rules.claim(id);
  EXPECT_EQ(rules.set.attempt(id, 1), &*rules.record(id).attempt);
  EXPECT_EQ(rules.set.attempt(id, 0)->attempt_state, AttemptRecordState::interrupted_reclaimed);
  EXPECT_EQ(rules.set.attempt(id, 2), nullptr);
}

TEST(Records, equality_is_by_value) {
  Rules one, two;
  Submission s = test::job();
  s.tags = {{"a", "b"}};
  const ExecutionId id = one.submit(s);
  ASSERT_EQ(two.submit(s), id);
  EXPECT_NE(one.record(id).queue.get(), two.record(id).queue.get());
  EXPECT_TRUE(same_record(one.record(id), two.record(id))) << "queues and tags by value";
  EXPECT_TRUE(same_info(*one.set.info(id), *two.set.info(id)));
  ExecutionRecord other = two.record(id);
  other.progress.progress_pct = 1;
  EXPECT_FALSE(same_record(one.record(id), other));
  other = two.record(id);
  other.tags = nullptr;
  EXPECT_FALSE(same_record(one.record(id), other));
  ExecutionInfo info = *one.set.info(id);
  info.traceparent = "x";
  EXPECT_FALSE(same_info(*one.set.info(id), info));
}

}  // namespace
}  // namespace ff::core
