// 02, sections 8 and 10 to 12: revoke, cancel, operator complete and fail, priority.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {

TEST_P(Executions, T51_revoke) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  const Uuid lease_id = get(id).lease->lease_id;
  auto word = [&](RevokeLease request) {
    request.execution_id = id;
    return must(fabric.revoke_lease(std::move(request))).already_satisfied;
  };
  EXPECT_EQ(word({.worker_instance_id = "w2"}), "different_worker_instance_id");
  EXPECT_EQ(word({.expected_lease_id = Uuid{}}), "lease_id_mismatch");
  EXPECT_EQ(must(fabric.revoke_lease({id, "w1", lease_id, "maintenance"})), (Revoked{lease_id, 1, ""}));
  EXPECT_EQ(vector_of(id), kLeaseRevoked);
  const Execution execution = get(id);
  EXPECT_EQ(execution.hold.blocking_detail, "lease revoked: maintenance");
  EXPECT_EQ(execution.hold.interrupt_kind, InterruptKind::lease_lost);
  EXPECT_EQ(execution.hold.lease_revoked_at_ms, now());
  EXPECT_EQ(execution.hold.lease_revoke_reason, "maintenance");
  EXPECT_EQ(execution.counters.current_lease_epoch, 1U);
  EXPECT_EQ(execution.counters.lease_reclaim_count, 0U) << "not counted as lost";
  EXPECT_EQ(execution.counters.retry_count, 0U);
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial started"));
  EXPECT_EQ(word({}), "already_revoked");
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease revoked maintenance", "operator lease_revoked"));
  EXPECT_THAT(renew(task), Refused(ErrorCode::lease_revoked));

  advance(30'001);
  EXPECT_EQ(vector_of(id), kLeaseRevoked) << "a revoked lease is not lost as well";
  must(complete(claim("w2")));
  EXPECT_EQ(word({}), "no_active_lease");
  EXPECT_EQ(must(fabric.revoke_lease({.execution_id = submit()})).already_satisfied, "no_active_lease");
  EXPECT_THAT(fabric.revoke_lease({.execution_id = next_id()}), Refused(ErrorCode::execution_not_found));
}

TEST_P(Executions, T51_revoke_of_a_lapsed_lease) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  clock->advance(30'000);
  EXPECT_EQ(must(fabric.revoke_lease({.execution_id = id})).already_satisfied, "already_expired");
  EXPECT_EQ(vector_of(id), kLeaseLost) << "and marked";
  EXPECT_EQ(must(fabric.revoke_lease({.execution_id = id})).already_satisfied, "already_expired");
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired lease_expired"));
}

TEST_P(Executions, T52_cancel_from_every_state) {
  const auto waiting = submit();
  Submission later = job();
  later.delay_ms = 3'600'000;
  const auto delayed = submit(later);
  const auto active = running().execution.execution_id;
  const auto revoked = running().execution.execution_id;
  must(fabric.revoke_lease({.execution_id = revoked}));
  const ClaimedTask paused = running();
  must(fabric.delay({.handle = paused.handle, .delay_ms = 3'600'000}));
  const ClaimedTask failed = running();
  must(fail(failed));
  const auto lost_one = lost().execution.execution_id;  // `active` lost its lease here, too
  must(claim_named(active, "w2"));

  const std::pair<ExecutionId, bool> all[] = {{waiting, false},
                                              {delayed, false},
                                              {active, true},
                                              {revoked, false},
                                              {paused.execution.execution_id, false},
                                              {failed.execution.execution_id, false},
                                              {lost_one, false}};
  for (const auto& [id, had_lease] : all) {
    const std::size_t before = count_events(id, "lease");
    EXPECT_EQ(must(fabric.cancel(id, "not needed")), (Changed{id, PublicState::cancelled, false}));
    const Execution execution = get(id);
    const bool attempted = execution.counters.total_attempt_count > 0;
    EXPECT_EQ(vector_of(id), attempted ? kEndedCancelled : "terminal/unowned/not_applicable/none/cancelled/none");
    EXPECT_EQ(execution.ending.cancellation_reason, "not needed");
    EXPECT_EQ(execution.ending.cancelled_by, CancelSource::operator_override);
    EXPECT_FALSE(execution.timers.delay_until_ms);
    EXPECT_FALSE(execution.hold.blocking_detail);
    EXPECT_EQ(execution.hold.interrupt_kind, InterruptKind::none);
    EXPECT_EQ(count_events(id, "completion cancelled"), 1U);
    EXPECT_EQ(count_events(id, "operator execution_cancelled"), 1U);
    EXPECT_EQ(count_events(id, "lease"), before + (had_lease ? 1 : 0)) << "a lease event only with a live lease";
  }
  EXPECT_EQ(count_events(active, "lease revoked cancelled"), 1U);
  EXPECT_EQ(lines_of(attempts(paused.execution.execution_id)).back(), "0 initial ended_cancelled cancelled");
  EXPECT_EQ(attempts(paused.execution.execution_id).at(0).failure_reason, "cancelled: not needed");
  EXPECT_EQ(lines_of(attempts(failed.execution.execution_id)).back(), "0 initial ended_failure retry");

  const LaneCounts counts = must(fabric.lane_counts("default"));
  EXPECT_EQ(counts, (LaneCounts{.terminal = {7, false}})) << "buckets are exact";
  EXPECT_THAT(claim(10), IsEmpty());
}

TEST_P(Executions, T53_cancel_twice) {
  const auto id = submit();
  must(fabric.cancel(id, "first"));
  const std::uint64_t version = get(id).version;
  EXPECT_EQ(must(fabric.cancel(id, "second")), (Changed{id, PublicState::cancelled, true}));
  EXPECT_EQ(get(id).ending.cancellation_reason, "first");
  EXPECT_EQ(get(id).version, version);
  EXPECT_EQ(count_events(id, "completion"), 1U);

  const ClaimedTask done = running();
  must(complete(done));
  EXPECT_THAT(fabric.cancel(done.execution.execution_id),
              RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "success"));
  EXPECT_THAT(fabric.cancel(next_id()), Refused(ErrorCode::execution_not_found));
}

TEST_P(Executions, T53_cancel_by_the_holder) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  EXPECT_EQ(must(fabric.cancel_task({task.handle, "gave up"})), (Changed{id, PublicState::cancelled, false}));
  EXPECT_EQ(get(id).ending.cancelled_by, CancelSource::lease_holder);
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease released cancelled", "completion cancelled"));
  EXPECT_EQ(history(id).back().cancelled_by, CancelSource::lease_holder);
  EXPECT_EQ(must(fabric.cancel_task({task.handle, "again"})), (Changed{id, PublicState::cancelled, true}));

  const ClaimedTask stale = lost();
  claim("w2");
  EXPECT_THAT(fabric.cancel_task({stale.handle, "late"}), Refused(ErrorCode::stale_lease));
}

TEST_P(Executions, T54_cancel_against_everything) {
  for (int round = 0; round < 30; ++round) {
    const ClaimedTask task = running();
    const auto id = task.execution.execution_id;
    const auto fresh = submit();
    if (round % 3 == 0) clock->advance(30'001);  // a sweep joins the race
    {
      std::jthread one([&] { (void)fabric.cancel(id, "one"); });
      std::jthread two([&] { (void)fabric.cancel(id, "two"); });
      std::jthread three([&] { (void)complete(task); });
      std::jthread four([&] { (void)fabric.cancel(fresh); });
      std::jthread five([&] { (void)claim(1); });
    }
    EXPECT_EQ(get(id).state.lifecycle_phase, LifecyclePhase::terminal);
    EXPECT_EQ(count_events(id, "completion"), 1U);
    EXPECT_EQ(vector_of(fresh).substr(0, 9), "terminal/");
    EXPECT_EQ(count_events(fresh, "completion cancelled"), 1U);
    EXPECT_EQ(count_events(fresh, "lease acquired"), get(fresh).counters.claim_count);
  }
}

TEST_P(Executions, T55_operator_complete_and_fail) {
  auto waiting = [&] { return submit(); };
  auto active = [&] { return running().execution.execution_id; };
  auto lost_one = [&] { return lost().execution.execution_id; };
  auto delayed = [&] {
    Submission later = job();
    later.delay_ms = 3'600'000;
    return submit(later);
  };
  for (const auto& make : std::initializer_list<std::function<ExecutionId()>>{waiting, active, lost_one, delayed}) {
    const auto completed = make();
    const bool held = get(completed).lease.has_value();
    EXPECT_EQ(must(fabric.operator_complete({completed, "by hand", "text/plain", "customer called"})),
              (Changed{completed, PublicState::completed, false}));
    EXPECT_EQ(must(fabric.result(completed)), (Blob{"by hand", "text/plain"}));
    EXPECT_EQ(count_events(completed, "completion success"), 1U);
    EXPECT_EQ(count_events(completed, "operator execution_completed"), 1U);
    EXPECT_EQ(count_events(completed, "lease revoked operator_completed"), held ? 1U : 0U);
    EXPECT_THAT(fabric.operator_complete({completed}),
                RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "success"));

    const auto failed = make();
    EXPECT_EQ(must(fabric.operator_fail({failed, "hopeless", std::nullopt, "r"})),
              (Changed{failed, PublicState::failed, false}));
    EXPECT_EQ(get(failed).ending.failure_reason, "hopeless");
    EXPECT_EQ(get(failed).ending.failure_category, "operator");
    EXPECT_EQ(count_events(failed, "completion failed"), 1U);
    EXPECT_EQ(count_events(failed, "operator execution_failed"), 1U);
    EXPECT_THAT(fabric.operator_fail({failed, "again"}),
                RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "failed"));
  }
  const ClaimedTask task = running(R"({"retry_policy": {"max_retries": 5}})");
  must(fabric.operator_fail({.execution_id = task.execution.execution_id, .message = "m", .category = "c"}));
  EXPECT_EQ(state_of(task.execution.execution_id), PublicState::failed) << "no retry, whatever the policy";
  EXPECT_THAT(attempt_lines(task.execution.execution_id), ElementsAre("0 initial ended_failure failed"));
  EXPECT_EQ(attempts(task.execution.execution_id).at(0).release_op, ReleaseOp::operator_);
  EXPECT_THAT(complete(task), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "failed"));
  EXPECT_THAT(fabric.operator_complete({.execution_id = next_id()}), Refused(ErrorCode::execution_not_found));
  EXPECT_THAT(fabric.operator_fail({.execution_id = next_id(), .message = "m"}), Refused(ErrorCode::execution_not_found));
}

TEST_P(Executions, T56_priority) {
  const auto first = submit(), second = submit(), third = submit();
  EXPECT_EQ(must(fabric.change_priority(third, 50)), (PriorityChanged{0, 50}));
  EXPECT_EQ(must(fabric.change_priority(second, 20'000)), (PriorityChanged{0, 9'000}));
  EXPECT_EQ(must(fabric.change_priority(second, -1)), (PriorityChanged{9'000, 0}));
  EXPECT_EQ(must(fabric.change_priority(first, 0)), (PriorityChanged{0, 0})) << "the same value still writes the event";
  EXPECT_EQ(count_events(first, "operator priority_changed"), 1U);
  EXPECT_THAT(*history(third).at(0).details, StartsWith(R"({"old_priority":0,"new_priority":50)"));
  EXPECT_EQ(claim().execution.execution_id, third);
  EXPECT_EQ(claim().execution.execution_id, first);

  Submission later = job();
  later.delay_ms = 1'000;
  EXPECT_THAT(fabric.change_priority(submit(later), 5), Succeeds());
  EXPECT_THAT(fabric.change_priority(third, 5), Succeeds()) << "while active";
  must(fabric.cancel(third));
  EXPECT_THAT(fabric.change_priority(third, 5), Refused(ErrorCode::execution_not_active));
  EXPECT_THAT(fabric.change_priority(next_id(), 5), Refused(ErrorCode::execution_not_found));
  EXPECT_EQ(claim().execution.execution_id, second);
}

TEST_P(Domain, T17_cancel_of_a_never_claimed_execution) {
  const auto id = submit();
  must(fabric.cancel(id));
  EXPECT_EQ(get(id).state.attempt_state, AttemptState::none);
  EXPECT_THAT(attempts(id), IsEmpty());
  EXPECT_THAT(events(id), ElementsAre("completion cancelled", "operator execution_cancelled"));
}

}  // namespace ff::test
