// 05, section 1: lanes.

#include "conformance/conformance.h"

#include <semaphore>

namespace ff::test {

TEST_P(Scheduling, T4_list_lanes) {
  start_over({.lanes = {"m", "b"}});
  for (const char* lane : {"z", "a"}) {
    Submission submission = job();
    submission.lane_id = lane;
    submit(submission);
  }
  ASSERT_TRUE(eventually([&] { return must(fabric.lanes()).items.size() == 4; }));
  auto names = [](const Page<LaneStatus>& page) {
    std::vector<std::string> found;
    for (const auto& item : page.items) found.push_back(item.lane.lane_id);
    return found;
  };
  const auto all = must(fabric.lanes());
  EXPECT_THAT(names(all), ElementsAre("a", "b", "m", "z"));
  EXPECT_FALSE(all.next_cursor);
  EXPECT_EQ(all.items[0].lane.registered_by, "create_execution");
  EXPECT_EQ(all.items[1].lane.registered_by, "boot");
  EXPECT_EQ(all.items[0].depth.eligible, (Count{1, false}));
  EXPECT_EQ(all.items[0].oldest_waiting_ms, 0);
  EXPECT_FALSE(all.items[1].oldest_waiting_ms);
  advance(500);
  EXPECT_EQ(must(fabric.lanes()).items[3].oldest_waiting_ms, 500);

  const auto first = must(fabric.lanes({.limit = 2}));
  EXPECT_THAT(names(first), ElementsAre("a", "b"));
  ASSERT_TRUE(first.next_cursor);
  const auto second = must(fabric.lanes({.cursor = *first.next_cursor, .limit = 2}));
  EXPECT_THAT(names(second), ElementsAre("m", "z"));
  EXPECT_FALSE(second.next_cursor) << "none on an exactly full last page";
  EXPECT_THAT(must(fabric.lanes({.limit = 0})).items, IsEmpty());
  EXPECT_THAT(fabric.lanes({.limit = 501}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.lanes({.cursor = "nonsense"}), Refused(ErrorCode::invalid_offset));
}

TEST_P(Scheduling, T4_lanes_of_the_options_have_to_be_right) {
  EXPECT_THAT(try_open({.lanes = {}}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(try_open({.lanes = {"bad\nlane"}}), Refused(ErrorCode::invalid_input));
}

TEST_P(Scheduling, T5_paused_lane) {
  const ClaimedTask running_task = running();
  const Lane paused = must(fabric.pause_lane("default", "upgrade"));
  EXPECT_EQ(paused.lane_state, LaneState::paused);
  EXPECT_EQ(paused.state_reason, "upgrade");
  EXPECT_EQ(paused.state_changed_at_ms, now());
  const auto id = submit();
  EXPECT_THAT(claim(1), IsEmpty());
  EXPECT_EQ(vector_of(id), kWaitingFirst);
  EXPECT_THAT(get(id).why.text, HasSubstr("lane 'default' is paused"));
  EXPECT_THAT(renew(running_task), Succeeds()) << "running work goes on";
  EXPECT_THAT(complete(running_task), Succeeds());

  ClaimRequest waiting = request();
  waiting.wait_ms = 60'000;
  std::binary_semaphore answered(0);
  Result<std::vector<ClaimedTask>> answer;
  fabric.claim(waiting, [&](Result<std::vector<ClaimedTask>> tasks) {
    answer = std::move(tasks);
    answered.release();
  });
  must(fabric.resume_lane("default"));
  answered.acquire();
  ASSERT_THAT(must(answer), SizeIs(1));
  EXPECT_EQ(answer->front().execution.execution_id, id);
}

TEST_P(Scheduling, T6_draining_and_disabled) {
  const auto id = submit(), second = submit();
  must(fabric.drain_lane("default"));
  EXPECT_THAT(fabric.submit(job()), Refused(ErrorCode::lane_not_accepting));
  EXPECT_EQ(claim().execution.execution_id, id);
  must(fabric.configure_lane({.lane_id = "default", .lane_state = LaneState::disabled}));
  EXPECT_THAT(fabric.submit(job()), Refused(ErrorCode::lane_not_accepting));
  EXPECT_THAT(claim(1), IsEmpty());
  EXPECT_EQ(vector_of(second), kWaitingFirst) << "a lane's state is not written into executions";
  must(fabric.resume_lane("default"));
  EXPECT_EQ(claim().execution.execution_id, second);

  // A repeat of a create that was accepted earlier is answered whatever the lane has become.
  Submission submission = job();
  submit(submission);
  must(fabric.drain_lane("default"));
  EXPECT_TRUE(must(fabric.submit(submission)).duplicate);
}

TEST_P(Scheduling, T6_configure_lane) {
  const Lane made = must(fabric.configure_lane(
      {.lane_id = "new", .fairness = LaneFairness::strict, .namespace_weights = {{{"a", 3}, {"b", 1}}}}));
  EXPECT_EQ(made.fairness, LaneFairness::strict);
  EXPECT_EQ(made.lane_state, LaneState::active);
  EXPECT_EQ(made.namespace_weights, (std::map<std::string, std::uint32_t>{{"a", 3}, {"b", 1}}));
  const Lane changed = must(fabric.configure_lane({.lane_id = "new", .lane_state = LaneState::paused}));
  EXPECT_EQ(changed.fairness, LaneFairness::strict) << "what is not given stays";
  EXPECT_EQ(changed.version, made.version + 1);
  EXPECT_EQ(must(fabric.lanes({.limit = 500})).items.back().lane, changed);
  EXPECT_THAT(fabric.configure_lane({.lane_id = "new", .namespace_weights = {{{"a", 0}}}}),
              Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.configure_lane({.lane_id = "new", .namespace_weights = {{{"a", 1'001}}}}),
              Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.configure_lane({.lane_id = ""}), Refused(ErrorCode::invalid_input));

  restart();
  EXPECT_EQ(must(fabric.lanes({.limit = 500})).items.back().lane, changed) << "after a restart, too";
}

TEST_P(Scheduling, T5_a_lane_paused_by_another_process) {
  const Opened other = open_another();
  const auto id = submit();
  EXPECT_THAT(claim(1), SizeIs(1));
  must(other.fabric.pause_lane("default"));
  const auto second = submit();
  EXPECT_TRUE(eventually([&] {  // within a second
    const auto tasks = claim(1);
    if (!tasks.empty()) must(fabric.revoke_lease({.execution_id = second}));
    return tasks.empty();
  }));
  EXPECT_EQ(state_of(id), PublicState::active);
  must(other.fabric.resume_lane("default"));
  EXPECT_TRUE(eventually([&] { return !claim(1).empty(); }));
}

TEST_P(Scheduling, T5_a_process_that_has_not_read_the_lane_yet) {
  Submission submission = job();
  submission.lane_id = "mail";
  const auto id = submit(submission);
  must(fabric.pause_lane("mail"));
  const Opened other = open_another();
  must(other.fabric.change_priority(id, 7));  // by which it learns that work waits there
  ClaimRequest from_mail = request();
  from_mail.lanes = {"mail"};
  EXPECT_THAT(must(other.fabric.claim(from_mail)), IsEmpty());
}

}  // namespace ff::test
