// 01, section 8 and 06, section 3: the events of one execution.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {

TEST_P(Background, T41_execution_without_a_flow) {
  const ClaimedTask task = running();
  must(complete(task));
  EXPECT_THAT(events(task.execution.execution_id),
              ElementsAre("lease acquired", "lease released completed", "completion success"));
  const Event completion = history(task.execution.execution_id).back();
  EXPECT_EQ(completion.attempt_index, 0U);
  EXPECT_FALSE(completion.flow_id);
  EXPECT_FALSE(completion.cancelled_by);
}

TEST_P(Background, T43_each_operation_writes_its_events) {
  Submission submission = job(R"({"retry_policy": {"max_retries": 1, "backoff": {"type": "fixed", "delay_ms": 0}},
                                  "timeout_policy": {"attempt_timeout_ms": 60000}})");
  submission.namespace_ = "tenant-a";
  submission.tags = {{"k", "v"}};
  const auto id = submit(submission);
  std::size_t seen = 0;
  auto wrote = [&](const std::vector<std::string>& expected) {
    const auto lines = events(id);
    EXPECT_EQ(std::vector(lines.begin() + static_cast<std::ptrdiff_t>(seen), lines.end()), expected);
    seen = lines.size();
  };
  wrote({});
  ClaimedTask task = claim();
  wrote({"lease acquired"});
  must(renew(task));
  must(fabric.progress({.handle = task.handle, .progress_pct = 1}));
  wrote({});
  must(fabric.delay({.handle = task.handle, .delay_ms = 10}));
  wrote({"lease released worker_delay"});
  advance(10);
  wrote({});
  task = claim();
  wrote({"lease acquired claim_resumed"});
  must(fabric.wait_children({.handle = task.handle}));
  wrote({"lease released waiting_children"});
  task = claim();
  wrote({"lease acquired claim_resumed"});
  must(fabric.revoke_lease({.execution_id = id}));
  wrote({"lease revoked operator", "operator lease_revoked"});
  task = claim();
  wrote({"lease reclaimed lease_revoked"});
  advance(30'001);
  wrote({"lease expired lease_expired"});
  task = claim();
  wrote({"lease reclaimed lease_expired"});
  must(fail(task));
  wrote({"lease released failed_retry_scheduled"});
  task = claim();
  wrote({"lease acquired"});
  must(fabric.set_tags(id, {{"k", "w"}}));
  wrote({"operator tags_changed"});
  must(fabric.change_priority(id, 4));
  wrote({"operator priority_changed"});
  must(fail(task));
  wrote({"lease released failed_terminal", "completion failed"});
  must(fabric.replay(id));
  wrote({"operator replayed"});
  must(fabric.cancel_task({claim().handle, "r"}));
  wrote({"lease acquired", "lease released cancelled", "completion cancelled"});
  must(fabric.replay(id));
  claim();
  must(fabric.cancel(id, "r"));
  wrote({"operator replayed", "lease acquired", "lease revoked cancelled", "completion cancelled",
         "operator execution_cancelled"});
  must(fabric.replay(id));
  claim();
  must(fabric.operator_complete({.execution_id = id}));
  wrote({"operator replayed", "lease acquired", "lease revoked operator_completed", "completion success",
         "operator execution_completed"});
  must(fabric.replay(id));
  claim();
  must(fabric.operator_fail({.execution_id = id, .message = "m"}));
  wrote({"operator replayed", "lease acquired", "lease revoked operator_failed", "completion failed",
         "operator execution_failed"});

  for (const auto& event : history(id)) {
    EXPECT_EQ(event.namespace_, "tenant-a");
    EXPECT_THAT(event.tags, SizeIs(1));
    EXPECT_EQ(event.execution_id, id);
    EXPECT_EQ(event.partition, id.partition);
  }
  EXPECT_EQ(history(id).front().tags, (Tags{{"k", "v"}}));
  EXPECT_EQ(history(id).back().tags, (Tags{{"k", "w"}})) << "as they are in that commit";
}

TEST_P(Background, T43_refusals_and_repeats_write_none) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  must(complete(task));
  const auto before = history(id);
  const std::uint64_t version = get(id).version;
  must(complete(task));
  (void)fail(task);
  (void)renew(task);
  (void)fabric.cancel(id);
  (void)fabric.change_priority(id, 1);
  (void)fabric.operator_complete({.execution_id = id});
  (void)fabric.revoke_lease({.execution_id = id});
  (void)claim_named(id);
  (void)fabric.set_tags(id, {{"bad key", "v"}});
  (void)fabric.submit([&] {
    Submission again = job();
    again.execution_id = id;
    return again;
  }());
  advance(1'000);
  EXPECT_EQ(history(id), before);
  EXPECT_EQ(get(id).version, version);
}

TEST_P(Background, T43_lane_events_belong_to_no_execution) {
  const auto id = submit();
  must(fabric.pause_lane("default"));
  must(fabric.resume_lane("default"));
  EXPECT_THAT(events(id), IsEmpty());
}

TEST_P(Background, T44_ids_rise_in_commit_order) {
  const auto id = submit(R"({"max_replay_count": 1000})");
  {
    // Many writers on one execution, and others beside it.
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        for (int round = 0; round < 25; ++round) {
          (void)fabric.change_priority(id, i * 100 + round);
          if (i == 0) (void)fabric.cancel(id);
          if (i == 1) (void)fabric.replay(id);
          if (i == 2)
            for (const auto& task : claim(1)) (void)complete(task);
        }
      });
  }
  const auto all = history(id);
  ASSERT_THAT(all, Not(IsEmpty()));
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(all[i - 1].event_id, all[i].event_id);
    EXPECT_LE(all[i - 1].occurred_at_ms, all[i].occurred_at_ms);
  }
  // What the events tell is what happened: each change starts from what the one before left.
  std::optional<core::json::value> last;
  int ends = 0;
  for (const auto& event : all) {
    if (event.kind == EventKind::completion) {
      EXPECT_EQ(++ends, 1) << "no second end without a replay";
    }
    if (event.event_type == "replayed") ends = 0;
    if (event.event_type != "priority_changed") continue;
    const auto details = core::json::parse(*event.details);
    EXPECT_EQ(details.at("old_priority"), last.value_or(details.at("old_priority")));
    last = details.at("new_priority");
  }
}

TEST_P(Background, T44_ids_rise_over_two_processes) {
  const Opened other = open_another();
  const auto id = submit();
  {
    std::vector<std::jthread> threads;
    for (const Fabric& each : {fabric, other.fabric})
      threads.emplace_back([id, each] {
        for (int round = 0; round < 30; ++round) must(each.change_priority(id, round));
      });
  }
  const auto all = history(id);
  EXPECT_THAT(all, SizeIs(60));
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].event_id, all[i].event_id);
  EXPECT_EQ(get(id).version, 61U);
}

}  // namespace ff::test
