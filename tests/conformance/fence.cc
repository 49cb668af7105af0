// 02, section 2: who may act on a lease, and renewals.

#include "conformance/conformance.h"

namespace ff::test {

TEST_P(Executions, T22_renew) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  const Uuid lease_id = get(id).lease->lease_id;
  advance(10'000);
  EXPECT_EQ(must(renew(task)), (LeaseRenewed{now() + 30'000, 1}));
  Execution execution = get(id);
  EXPECT_EQ(execution.lease->expires_at_ms, now() + 30'000);
  EXPECT_EQ(execution.lease->last_renewed_at_ms, now());
  EXPECT_EQ(execution.lease->acquired_at_ms, now() - 10'000);
  EXPECT_EQ(execution.lease->lease_id, lease_id);
  EXPECT_EQ(execution.counters.current_lease_epoch, 1U);
  EXPECT_EQ(execution.times.last_transition_at_ms, now() - 10'000) << "a renewal is no transition";
  EXPECT_EQ(execution.times.last_mutation_at_ms, now());
  EXPECT_THAT(events(id), ElementsAre("lease acquired"));

  // A longer lease is honoured, and kept by later renewals.
  EXPECT_EQ(must(fabric.renew({.handle = task.handle, .lease_ttl_ms = 120'000})).lease_expires_at_ms, now() + 120'000);
  advance(100'000);
  EXPECT_EQ(must(renew(task)).lease_expires_at_ms, now() + 120'000);
  EXPECT_THAT(fabric.renew({.handle = task.handle, .lease_ttl_ms = 999}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.renew({.handle = task.handle, .lease_ttl_ms = 86'400'001}), Refused(ErrorCode::invalid_input));
}

TEST_P(Executions, T23_renew_at_the_very_end) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  advance(29'999);
  EXPECT_THAT(renew(task), Succeeds());
  advance(30'000);
  EXPECT_EQ(get(id).lease->expires_at_ms, now());
  EXPECT_THAT(renew(task), Refused(ErrorCode::lease_expired));
  EXPECT_EQ(vector_of(id), kLeaseLost);
  EXPECT_EQ(get(id).hold.blocking_detail, "lease expired, awaiting reclaim");
  EXPECT_EQ(get(id).hold.interrupt_kind, InterruptKind::lease_lost);
  EXPECT_EQ(get(id).hold.lease_expired_at_ms, now());
  EXPECT_FALSE(get(id).lease) << "shown only while it is held";
  EXPECT_THAT(events(id), ElementsAre("lease acquired", "lease expired lease_expired"));
  const std::uint64_t version = get(id).version;

  EXPECT_THAT(renew(task), Refused(ErrorCode::lease_expired));
  EXPECT_THAT(complete(task), Refused(ErrorCode::lease_expired));
  EXPECT_EQ(events(id).size(), 2U) << "no second event";
  EXPECT_EQ(get(id).version, version);
}

TEST_P(Executions, T23_late_calls_under_the_other_policies) {
  const ClaimedTask retrying = running(R"({"lease_loss_policy": "retry"})");
  const ClaimedTask capped = running(R"({"max_reclaim_count": 0})");
  clock->advance(30'000);
  EXPECT_THAT(renew(retrying), Refused(ErrorCode::lease_expired));
  EXPECT_THAT(renew(retrying), RefusedWith(ErrorCode::execution_not_active, "lifecycle_phase", "runnable"));
  EXPECT_EQ(vector_of(retrying.execution.execution_id), kWaitingRetry);
  EXPECT_THAT(complete(capped), Refused(ErrorCode::lease_expired));
  EXPECT_THAT(complete(capped), RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "failed"));
  EXPECT_EQ(count_events(capped.execution.execution_id, "completion"), 1U);
}

TEST_P(Executions, T24_forged_handles) {
  const engine::HandleSealer sealer(engine().dataset());
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  const core::TaskHandle genuine = must(sealer.open(task.handle));
  auto forged = [&](auto change) {
    core::TaskHandle handle = genuine;
    change(handle);
    return sealer.seal(handle);
  };
  const std::string wrong_lease = forged([](auto& h) { h.lease_id.bytes[15] ^= 1; });
  const std::string wrong_epoch = forged([](auto& h) { h.lease_epoch += 1; });
  const std::string wrong_attempt = forged([](auto& h) { h.attempt_id.bytes[15] ^= 1; });
  const std::string wrong_index = forged([](auto& h) { h.attempt_index += 1; });
  const std::string wrong_execution = forged([](auto& h) { h.execution_id.uuid.bytes[15] ^= 0x80; });
  const std::uint64_t version = get(id).version;
  for (const auto& handle : {wrong_lease, wrong_epoch, wrong_attempt}) {
    EXPECT_THAT(fabric.renew({.handle = handle}), Refused(ErrorCode::stale_lease));
    EXPECT_THAT(fabric.progress({.handle = handle, .progress_pct = 5}), Refused(ErrorCode::stale_lease));
    EXPECT_THAT(fabric.complete({.handle = handle}), Refused(ErrorCode::stale_lease));
    EXPECT_THAT(fabric.fail({.handle = handle, .message = "m"}), Refused(ErrorCode::stale_lease));
    EXPECT_THAT(fabric.delay({.handle = handle, .delay_ms = 1}), Refused(ErrorCode::stale_lease));
    EXPECT_THAT(fabric.wait_children({.handle = handle}), Refused(ErrorCode::stale_lease));
    EXPECT_THAT(fabric.cancel_task({.handle = handle, .reason = "r"}), Refused(ErrorCode::stale_lease));
  }
  EXPECT_THAT(fabric.complete({.handle = wrong_index}), Refused(ErrorCode::attempt_not_found));
  EXPECT_THAT(fabric.complete({.handle = wrong_execution}), Refused(ErrorCode::execution_not_found));
  EXPECT_EQ(get(id).version, version);

  // The kind is information for the worker: authority comes from the fence.
  EXPECT_THAT(fabric.renew({.handle = forged([](auto& h) { h.kind = HandleKind::resumed; })}), Succeeds());

  must(complete(task));
  const auto refused = fabric.renew({.handle = task.handle});
  EXPECT_THAT(refused, RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "success"));
  EXPECT_THAT(refused, RefusedWith(ErrorCode::execution_not_active, "lifecycle_phase", "terminal"));
  EXPECT_THAT(refused, RefusedWith(ErrorCode::execution_not_active, "attempt_id", genuine.attempt_id.to_string()));
  EXPECT_EQ(refused.error().context.number("lease_epoch"), 1);
  EXPECT_THAT(fabric.complete({.handle = wrong_lease}), Refused(ErrorCode::execution_not_active));
  EXPECT_THAT(fabric.complete({.handle = wrong_attempt}), Refused(ErrorCode::stale_lease));
}

TEST_P(Executions, T24_after_a_revoke) {
  const engine::HandleSealer sealer(engine().dataset());
  const ClaimedTask task = running();
  must(fabric.revoke_lease({.execution_id = task.execution.execution_id, .reason = "maintenance"}));
  EXPECT_THAT(renew(task), Refused(ErrorCode::lease_revoked));
  EXPECT_THAT(complete(task), Refused(ErrorCode::lease_revoked));
  core::TaskHandle forged = must(sealer.open(task.handle));
  forged.lease_epoch = 0;
  EXPECT_THAT(fabric.renew({.handle = sealer.seal(forged)}), Refused(ErrorCode::stale_lease));
  claim("w2");
  EXPECT_THAT(renew(task), Refused(ErrorCode::stale_lease)) << "after the takeover";
}

TEST_P(Executions, T25_handles_that_are_none) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  const std::uint64_t version = get(id).version;
  std::string altered = task.handle;
  altered[60] = altered[60] == 'A' ? 'B' : 'A';
  const std::pair<std::string, std::string_view> cases[] = {
      {task.handle.substr(0, task.handle.size() - 4), "malformed"}, {"", "malformed"}, {"not a handle", "malformed"},
      {altered, "altered"}};
  for (const auto& [handle, detail] : cases) {
    EXPECT_THAT(fabric.renew({.handle = handle}), RefusedWith(ErrorCode::invalid_handle, "detail", detail));
    EXPECT_THAT(fabric.complete({.handle = handle}), RefusedWith(ErrorCode::invalid_handle, "detail", detail));
  }
  EXPECT_EQ(get(id).version, version);
}

TEST_P(Executions, T26_a_renewal_before_the_sweep) {
  const ClaimedTask task = running();
  const auto id = task.execution.execution_id;
  advance(29'999);
  must(renew(task));
  for (int i = 0; i < 5; ++i) {
    advance(5'000);
    EXPECT_EQ(vector_of(id), kRunning);
  }
  EXPECT_THAT(events(id), ElementsAre("lease acquired"));
  EXPECT_EQ(sweep("lease_expiry").errors, 0U);
}

TEST_P(Executions, T27_a_batch_of_renewals) {
  const ClaimedTask first = running(), second = running(), third = running();
  must(fabric.cancel(second.execution.execution_id, "no longer wanted"));
  const auto answers =
      fabric.renew_all({{.handle = first.handle}, {.handle = second.handle}, {.handle = third.handle}});
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_THAT(answers[0], Succeeds());
  EXPECT_THAT(answers[1], RefusedWith(ErrorCode::execution_not_active, "terminal_outcome", "cancelled"));
  EXPECT_THAT(answers[2], Succeeds());
}

}  // namespace ff::test
