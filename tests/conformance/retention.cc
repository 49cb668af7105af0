// 02, section 16 and 06, section 1.8: deletion and retention.

#include "conformance/conformance.h"

#include "api/backend.h"

namespace ff::test {

TEST_P(Executions, T66_retention) {
  const ClaimedTask task = running(R"({"retry_policy": {"backoff": {"type": "fixed", "delay_ms": 0}}})");
  const auto ended = task.execution.execution_id;
  must(fail(task));
  must(fabric.set_tags(ended, {{"k", "v"}}));
  must(fabric.complete({.handle = claim().handle, .result = "r"}));
  const auto waiting = submit();
  EXPECT_EQ(get(ended).times.retain_until_ms, now() + 86'400'000);
  advance(86'399'999);
  EXPECT_EQ(state_of(ended), PublicState::completed);
  advance(1);
  EXPECT_THAT(fabric.get(ended), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.payload(ended), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.result(ended), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.attempts({.execution_id = ended}), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(list_all({.tags = {{"k", "v"}}}), IsEmpty());
  EXPECT_THAT(fabric.cancel(ended), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.replay(ended), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(complete(task), Refused(ErrorCode::execution_not_found));
  EXPECT_EQ(must(fabric.lane_counts("default")), (LaneCounts{.eligible = {1, false}}));

  advance(10 * 86'400'000LL);
  EXPECT_EQ(state_of(waiting), PublicState::waiting) << "those that have not ended stay for ever";
}

TEST_P(Executions, T66_a_new_execution_under_an_old_id) {
  Submission first = job();
  first.payload = "first";
  first.tags = {{"k", "1"}};
  const auto id = submit(first);
  ClaimedTask task = claim();
  must(fail(task, "m", FailureClass::permanent));
  must(fabric.replay(id));
  must(fabric.complete({.handle = claim().handle, .result = "old result"}));
  must(fabric.remove(id));
  Submission second = job();
  second.execution_id = id;
  EXPECT_FALSE(must(fabric.submit(second)).duplicate);
  EXPECT_EQ(must(fabric.payload(id)), std::nullopt);
  EXPECT_EQ(must(fabric.result(id)), std::nullopt);
  EXPECT_THAT(attempts(id), IsEmpty());
  EXPECT_THAT(events(id), IsEmpty()) << "it does not inherit the history of the old one";
  EXPECT_THAT(get(id).tags, IsEmpty());
  EXPECT_EQ(get(id).version, 1U);
  EXPECT_THAT(complete(task), Refused(ErrorCode::attempt_not_found));
}

TEST_P(InProcess, T66_removed_and_created_again_in_one_batch) {
  auto faults = std::make_shared<Faults>();
  restart({.sweeps = false, .executors = 1}, with(faults));
  Submission first = job();
  first.payload = "first";
  first.tags = {{"k", "1"}};
  const auto id = submit(first);
  ClaimedTask task = claim();
  must(fail(task, "m", FailureClass::permanent));
  must(fabric.replay(id));
  must(fabric.complete({.handle = claim().handle, .result = "old result"}));
  const auto other = submit();

  // While a batch is held up, the removal and the new create queue up behind it and become one batch.
  faults->hold();
  std::atomic<int> answered = 0;
  fabric.cancel({.execution_id = other}, [&](const auto&) { ++answered; });
  ASSERT_TRUE(eventually([&] { return faults->holds_one(); }));
  fabric.backend()->start(RemoveExecution{id}, false, [&](const auto& done) {
    EXPECT_THAT(done, Succeeds());
    ++answered;
  });
  Submission second = job();
  second.execution_id = id;
  second.tags = {{"k", "2"}};
  fabric.submit(second, [&](const Result<Submitted>& created) {
    EXPECT_FALSE(must(created).duplicate);
    ++answered;
  });
  faults->release();
  ASSERT_TRUE(eventually([&] { return answered == 3; }));

  EXPECT_EQ(vector_of(id), kWaitingFirst);
  EXPECT_EQ(must(fabric.payload(id)), std::nullopt);
  EXPECT_EQ(must(fabric.result(id)), std::nullopt);
  EXPECT_THAT(attempts(id), IsEmpty());
  EXPECT_THAT(events(id), IsEmpty());
  EXPECT_EQ(get(id).tags, second.tags);
  EXPECT_THAT(list_all({.tags = {{"k", "1"}}}), IsEmpty());
  EXPECT_THAT(list_all({.tags = {{"k", "2"}}}), SizeIs(1));
  EXPECT_EQ(get(id).version, 1U);
  EXPECT_FALSE(get(id).payload_bytes);
  must(complete(claim()));
}

TEST_P(InProcess, T66_created_and_removed_in_one_batch) {
  auto faults = std::make_shared<Faults>();
  restart({.sweeps = false, .executors = 1}, with(faults));
  const auto other = submit();
  faults->hold();
  std::atomic<int> answered = 0;
  fabric.cancel({.execution_id = other}, [&](const auto&) { ++answered; });
  ASSERT_TRUE(eventually([&] { return faults->holds_one(); }));
  Submission brief = job();
  brief.payload = "p";
  brief.tags = {{"k", "1"}};
  fabric.submit(brief, [&](const auto&) { ++answered; });
  fabric.cancel({.execution_id = *brief.execution_id}, [&](const auto&) { ++answered; });
  fabric.backend()->start(RemoveExecution{*brief.execution_id}, false, [&](const auto& done) {
    EXPECT_THAT(done, Succeeds());
    ++answered;
  });
  faults->release();
  ASSERT_TRUE(eventually([&] { return answered == 4; }));
  EXPECT_THAT(fabric.get(*brief.execution_id), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(list_all({.tags = {{"k", "1"}}}), IsEmpty());
  EXPECT_FALSE(must(fabric.submit(brief)).duplicate);
  EXPECT_EQ(must(fabric.payload(*brief.execution_id))->bytes, "p");
}

TEST_P(Executions, T66_remove) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  EXPECT_THAT(fabric.remove(id), Refused(ErrorCode::execution_not_terminal));
  EXPECT_THAT(fabric.remove(submit()), Refused(ErrorCode::execution_not_terminal));
  must(complete(task));
  EXPECT_THAT(fabric.remove(id), Succeeds());
  EXPECT_THAT(fabric.get(id), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.remove(id), Succeeds()) << "a second delete succeeds";
  EXPECT_THAT(fabric.remove(next_id()), Succeeds());
}

TEST_P(Background, T34_retention_overrides_side_by_side) {
  const auto normal = submit();
  const auto brief = submit(R"({"retention_ttl_ms": 1000})");
  const auto by_stream = submit(R"({"stream_policy": {"retention_ttl_ms": 2000}})");
  const auto long_kept = submit(R"({"retention_ttl_ms": 864000000})");
  const auto replayed = submit(R"({"retention_ttl_ms": 1000})");
  for (const auto& id : {long_kept, normal, brief, by_stream, replayed}) must(fabric.cancel(id));
  must(fabric.replay(replayed));
  auto there = [&](const ExecutionId& id) { return fabric.get(id).has_value(); };
  advance(1'000);
  EXPECT_FALSE(there(brief));
  EXPECT_TRUE(there(by_stream));
  EXPECT_TRUE(there(replayed)) << "a replay clears it";
  advance(1'000);
  EXPECT_FALSE(there(by_stream));
  advance(86'400'000);
  EXPECT_FALSE(there(normal)) << "the long one does not hold up the rest";
  EXPECT_TRUE(there(long_kept));
  EXPECT_EQ(sweep("retention_trimmer").processed, 3U);
}

TEST_P(Background, T34_retention_of_the_engine) {
  restart({.retention_ms = 5'000});
  const auto id = submit();
  must(fabric.cancel(id));
  restart();
  EXPECT_EQ(get(id).times.retain_until_ms, now() + 5'000) << "that of the engine that took it in";
  advance(5'000);
  EXPECT_THAT(fabric.get(id), Refused(ErrorCode::execution_not_found));
}

TEST_P(Background, T34_events_have_their_own_retention) {
  const auto kept = submit(R"({"retention_ttl_ms": 864000000})");
  must(fabric.change_priority(kept, 5));
  must(complete(claim()));
  EXPECT_THAT(events(kept), ElementsAre("operator priority_changed", "lease acquired", "lease released completed",
                                        "completion success"));
  advance(86'400'000);
  EXPECT_THAT(events(kept), SizeIs(4)) << "kept at least that long";
  advance(1'000);
  EXPECT_EQ(count_events(kept, "lease"), 0U);
  EXPECT_EQ(count_events(kept, "completion"), 0U);
  EXPECT_EQ(state_of(kept), PublicState::completed);
  must(fabric.replay(kept));
  EXPECT_EQ(events(kept).back(), "operator replayed");
  must(complete(claim()));
  EXPECT_EQ(count_events(kept, "completion"), 1U);
}

}  // namespace ff::test
