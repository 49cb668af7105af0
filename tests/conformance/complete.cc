// 02, sections 5.2 and 5.3: progress and complete.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {

TEST_P(Executions, T28_progress) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  advance(10);
  must(fabric.progress({.handle = task.handle, .progress_pct = 40}));
  EXPECT_EQ(get(id).progress, (Progress{40, std::nullopt, now()}));
  advance(10);
  must(fabric.progress({.handle = task.handle, .progress_message = "half way"}));
  EXPECT_EQ(get(id).progress, (Progress{40, "half way", now()}));
  EXPECT_THAT(events(id), ElementsAre("lease acquired"));

  const std::uint64_t version = get(id).version;
  EXPECT_THAT(fabric.progress({.handle = task.handle}), Succeeds()) << "both absent";
  EXPECT_THAT(fabric.progress({.handle = task.handle, .progress_pct = 101}), Refused(ErrorCode::invalid_input));
  EXPECT_EQ(get(id).version, version);
  must(fabric.progress({.handle = task.handle, .progress_pct = 0}));
  must(fabric.progress({.handle = task.handle, .progress_pct = 100}));

  // Cut at a character border.
  must(fabric.progress({.handle = task.handle, .progress_message = std::string(4'095, 'x') + "\xc3\xa4"}));
  EXPECT_EQ(get(id).progress.progress_message, std::string(4'095, 'x'));

  advance(30'001);
  EXPECT_THAT(fabric.progress({.handle = task.handle, .progress_pct = 50}), Refused(ErrorCode::lease_expired));
  EXPECT_EQ(get(id).progress.progress_pct, 100U);
}

TEST_P(Executions, T29_claim_progress_complete) {
  const auto id = submit(R"({"timeout_policy": {"attempt_timeout_ms": 100000, "execution_deadline_ms": 1000000}})");
  const ClaimedTask task = claim();
  must(fabric.progress({.handle = task.handle, .progress_pct = 50}));
  advance(1'000);
  const Changed done = must(fabric.complete({.handle = task.handle, .result = "42"}));
  EXPECT_EQ(done, (Changed{id, PublicState::completed, false}));

  const Execution execution = get(id);
  EXPECT_EQ(vector_of(id), kEndedSuccess);
  EXPECT_EQ(must(fabric.result(id)), (Blob{"42", "application/json"}));
  EXPECT_EQ(execution.times.completed_at_ms, now());
  EXPECT_EQ(execution.times.retain_until_ms, now() + 86'400'000);
  EXPECT_FALSE(execution.lease);
  EXPECT_FALSE(execution.timers.attempt_timeout_at_ms);
  EXPECT_FALSE(execution.timers.delay_until_ms);
  ASSERT_TRUE(execution.current_attempt);
  EXPECT_EQ(execution.current_attempt->attempt_id, task.attempt.attempt_id);
  EXPECT_EQ(execution.counters.current_lease_epoch, 1U);
  EXPECT_EQ(execution.progress.progress_pct, 50U);
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease released completed", "completion success"));

  const Attempt attempt = attempts(id).at(0);
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial ended_success success"));
  EXPECT_EQ(attempt.ended_at_ms, now());
  EXPECT_EQ(attempt.release_op, ReleaseOp::complete);
  EXPECT_EQ(attempt.released_lease_id, attempt.lease_id);
  EXPECT_EQ(attempt.released_lease_epoch, 1U);
  EXPECT_FALSE(attempt.failure_reason);

  // No clock is left that could ring.
  advance(2'000'000);
  EXPECT_EQ(get(id).version, execution.version);
  EXPECT_THAT(must(fabric.leases()).items, IsEmpty());
}

TEST_P(Executions, T30_complete_twice) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  EXPECT_EQ(must(fabric.complete({.handle = task.handle, .result = "one"})), (Changed{id, PublicState::completed, false}));
  EXPECT_EQ(must(fabric.complete({.handle = task.handle, .result = "two"})), (Changed{id, PublicState::completed, true}));
  EXPECT_EQ(must(fabric.result(id))->bytes, "one");
  EXPECT_EQ(count_events(id, "completion"), 1U);
  EXPECT_EQ(count_events(id, "lease released"), 1U);
}

TEST_P(Executions, T30_concurrent_completes) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  std::atomic<int> first = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i)
      threads.emplace_back([&, i] {
        first += must(fabric.complete({.handle = task.handle, .result = std::to_string(i)})).unchanged ? 0 : 1;
      });
  }
  EXPECT_EQ(first, 1);
  EXPECT_EQ(count_events(id, "completion"), 1U);
  EXPECT_EQ(get(id).version, 3U);
}

TEST_P(Executions, T31_complete_after_another_end) {
  const ClaimedTask cancelled = running();
  must(fabric.cancel(cancelled.execution.execution_id));
  EXPECT_THAT(complete(cancelled), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "cancelled"));
  const ClaimedTask completed = running();
  must(complete(completed));
  EXPECT_THAT(fail(completed), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "success"));
  EXPECT_EQ(state_of(completed.execution.execution_id), PublicState::completed);
}

TEST_P(Executions, T32_results) {
  restart({.payload_bytes_max = 100});
  const ClaimedTask absent = running(), empty = running(), large = running();
  must(fabric.complete({.handle = absent.handle}));
  EXPECT_EQ(must(fabric.result(absent.execution.execution_id)), std::nullopt);
  must(fabric.complete({.handle = empty.handle, .result = ""}));
  EXPECT_EQ(must(fabric.result(empty.execution.execution_id)), (Blob{"", "application/json"}));
  EXPECT_EQ(get(empty.execution.execution_id).result_bytes, 0U);

  EXPECT_THAT(fabric.complete({.handle = large.handle, .result = Bytes(101, 'x')}),
              Refused(ErrorCode::payload_too_large));
  EXPECT_THAT(renew(large), Succeeds()) << "the lease lives on";
  EXPECT_THAT(fabric.complete({.handle = large.handle, .result = Bytes(100, 'x')}), Succeeds());
}

}  // namespace ff::test
