#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::Rules;
using testing::ElementsAre;

ClaimNamed named(Rules& rules, const ExecutionId& id, std::string worker = "w2") {
  ClaimNamed op{id, rules.claim_of(std::move(worker)), std::nullopt};
  op.claim.worker.lanes.clear();
  return op;
}

TEST(Executions, T17_each_state_has_its_answer) {
  // A word for the refusal, else the kind of the lease.
  const std::map<std::string, std::string> table = {
      {"waiting", "fresh"},
      {"retry_waiting", "fresh"},
      {"replay_waiting", "fresh"},
      {"resumable", "resumed"},
      {"children_done", "resumed"},
      {"lost", "reclaimed"},
      {"revoked", "reclaimed"},
      {"active", "nothing"},
      {"delayed", "execution_not_eligible waiting_for_delay"},
      {"worker_delayed", "execution_not_eligible waiting_for_delay"},
      {"retry_backoff", "execution_not_eligible waiting_for_retry_backoff"},
      {"waiting_children", "execution_not_eligible waiting_for_children"},
      {"blocked_budget", "execution_not_eligible waiting_for_budget"},
      {"blocked_quota", "execution_not_eligible waiting_for_quota"},
      {"blocked_route", "execution_not_eligible waiting_for_capable_worker"},
      {"suspended", "execution_not_eligible waiting_for_signal"},
      {"completed", "execution_not_active success"},
      {"failed", "execution_not_active failed"},
      {"cancelled", "execution_not_active cancelled"},
      {"cancelled_unclaimed", "execution_not_active cancelled"},
      {"expired", "execution_not_active expired"},
      {"skipped", "execution_not_active skipped"},
  };
  auto all = test::open_situations();
  for (auto& ended : test::ended_situations()) all.push_back(std::move(ended));
  for (const auto& situation : all) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const std::uint64_t epoch = rules.record(id).counters.current_lease_epoch;
    auto reply = rules.run(named(rules, id));
    std::string answer;
    if (!reply) {
      const Error& error = reply.error();
      const auto detail = error.context.text("detail");
      answer = fmt::format("{} {}", traits(error.code).name,
                           detail.empty() ? error.context.text("terminal_outcome") : detail);
    } else {
      answer = reply->empty() ? "nothing" : name_of(reply->front().handle.kind);
    }
    EXPECT_EQ(answer, table.at(situation.name)) << situation.name;
    const bool leased = reply && !reply->empty();
    EXPECT_EQ(rules.wrote(), leased) << situation.name << ": a refusal writes nothing";
    EXPECT_EQ(rules.record(id).counters.current_lease_epoch, epoch + (leased ? 1 : 0)) << situation.name;
  }
}

TEST(Executions, T17_unknown_or_out_of_scope_is_not_found) {
  Rules rules;
  EXPECT_EQ(rules.refused(named(rules, ExecutionId{})).code, ErrorCode::execution_not_found);
  Submission s = job();
  s.namespace_ = "tenant";
  const ExecutionId id = rules.submit(s);
  ClaimNamed scoped = named(rules, id);
  scoped.claim.worker.namespace_scope = "other";
  EXPECT_EQ(rules.refused(scoped).code, ErrorCode::execution_not_found);
  scoped.claim.worker.namespace_scope = "tenant";
  EXPECT_EQ(rules.must(scoped).size(), 1U);
}

TEST(Executions, T17_a_lapsed_lease_is_marked_and_taken_over_in_one_step) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle old = rules.claim(id, "w1");
  rules.now = rules.record(id).lease->lease_expires_at_ms;
  const std::uint64_t version = rules.record(id).version;
  const LeasedTasks tasks = rules.must(named(rules, id));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].handle.kind, HandleKind::reclaimed);
  EXPECT_EQ(tasks[0].handle.lease_epoch, 2U);
  EXPECT_EQ(tasks[0].handle.attempt_index, 1U);
  EXPECT_THAT(rules.said(), ElementsAre("lease expired lease_expired", "lease reclaimed lease_expired"));
  EXPECT_EQ(rules.events()[0].lease_id, old.lease_id);
  EXPECT_EQ(rules.events()[1].lease_id, tasks[0].handle.lease_id);
  EXPECT_EQ(rules.record(id).version, version + 1) << "one operation, one version";
  EXPECT_EQ(rules.record(id).counters.lease_reclaim_count, 1U);
  EXPECT_EQ(rules.record(id).lease->current_worker_instance_id, "w2");
  EXPECT_EQ(rules.attempt(id, 0).attempt_state, AttemptRecordState::interrupted_reclaimed);
  EXPECT_EQ(rules.attempt(id, 0).version, 2U);
  EXPECT_EQ(rules.refused(Complete{old, nullptr, ""}).code, ErrorCode::stale_lease);
}

TEST(Executions, T17_a_lapsed_lease_under_the_retry_policy_gives_the_next_attempt) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"lease_loss_policy":"retry"})"));
  rules.claim(id, "w1");
  rules.now = rules.record(id).lease->lease_expires_at_ms;
  const std::uint64_t version = rules.record(id).version;
  const LeasedTasks tasks = rules.must(named(rules, id));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].handle.kind, HandleKind::fresh);
  EXPECT_EQ(tasks[0].attempt.attempt_type, AttemptType::retry);
  EXPECT_EQ(tasks[0].handle.attempt_index, 1U);
  EXPECT_THAT(rules.said(), ElementsAre("lease expired lease_expired", "lease acquired"));
  EXPECT_EQ(rules.record(id).version, version + 1);
  EXPECT_EQ(rules.record(id).counters.retry_count, 1U);
  EXPECT_EQ(rules.attempt(id, 0).outcome, AttemptOutcome::interrupted);
  EXPECT_EQ(rules.attempt(id, 0).version, 2U);
  EXPECT_EQ(rules.record(id).attempt->retry_reason, "lease_lost");
}

TEST(Executions, T17_a_lapsed_lease_at_the_cap_ends_the_execution) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"max_reclaim_count":0})"));
  rules.claim(id, "w1");
  rules.now = rules.record(id).lease->lease_expires_at_ms;
  const Error error = rules.refused(named(rules, id));
  EXPECT_EQ(error.code, ErrorCode::execution_not_active);
  EXPECT_EQ(error.context.text("terminal_outcome"), "failed");
  EXPECT_TRUE(rules.wrote()) << "the loss is committed";
  EXPECT_THAT(rules.said(), ElementsAre("lease expired max_reclaims_exceeded", "completion failed"));
}

TEST(Executions, T17_missing_capabilities_are_named_and_stamped) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"routing_requirements":{"required_capabilities":["gpu","cuda","x"]}})"));
  rules.now += 10;
  ClaimNamed op = named(rules, id);
  op.claim.worker.capabilities = {"x"};
  const Error error = rules.refused(op);
  EXPECT_EQ(error.code, ErrorCode::capability_mismatch);
  EXPECT_EQ(std::get<std::vector<std::string>>(*error.context.find("missing")),
            (std::vector<std::string>{"cuda", "gpu"}));
  EXPECT_EQ(rules.changed(id), "last_capability_mismatch_at_ms");
  EXPECT_EQ(rules.record(id).hold.last_capability_mismatch_at_ms, rules.now);
  EXPECT_THAT(rules.said(), testing::IsEmpty());
}

TEST(Executions, T17_a_lapse_and_a_mismatch_are_one_change) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"routing_requirements":{"required_capabilities":["gpu"]}})"));
  Claim capable = rules.claim_of("w1");
  capable.worker.capabilities = {"gpu"};
  ASSERT_TRUE(rules.offer(id, capable));
  rules.now = rules.record(id).lease->lease_expires_at_ms;
  EXPECT_EQ(rules.refused(named(rules, id)).code, ErrorCode::capability_mismatch);
  EXPECT_EQ(rules.record(id).state.ownership_state, OwnershipState::lease_expired_reclaimable);
  EXPECT_EQ(rules.record(id).hold.last_capability_mismatch_at_ms, rules.now);
  EXPECT_THAT(rules.said(), ElementsAre("lease expired lease_expired"));
}

TEST(Executions, T17_a_worker_of_other_kinds_is_refused) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ClaimNamed op = named(rules, id);
  op.claim.worker.kinds = {"other"};
  EXPECT_EQ(rules.refused(op).code, ErrorCode::execution_not_eligible);
  EXPECT_FALSE(rules.wrote());
}

TEST(Executions, T17_lanes_that_give_no_work) {
  const std::pair<LaneState, bool> table[] = {{LaneState::active, true},
                                              {LaneState::draining, true},
                                              {LaneState::paused, false},
                                              {LaneState::disabled, false}};
  for (const auto& [state, gives] : table) {
    for (bool known : {false, true}) {
      Rules rules;
      const ExecutionId id = rules.submit();
      ClaimNamed op = named(rules, id);
      if (known)
        op.known_lane_state = state;
      else
        rules.must(ConfigureLaneOp{{}, {.lane_id = "default", .lane_state = state}});
      auto reply = rules.run(op);
      EXPECT_EQ(reply.has_value(), gives) << name_of(state);
      if (gives) continue;
      EXPECT_EQ(reply.error().code, ErrorCode::execution_not_eligible);
      EXPECT_EQ(reply.error().context.text("detail"), fmt::format("lane {}", name_of(state)));
      EXPECT_FALSE(rules.wrote());
    }
  }
}

TEST(Executions, T17_an_owed_cancel_is_not_eligible) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.forge(id, [](ExecutionRecord& r) { r.hold.cancel_owed = CancelOwed::now; });
  EXPECT_EQ(rules.refused(named(rules, id)).code, ErrorCode::execution_not_eligible);
}

TEST(Executions, T18_named_claim_of_a_resumed_execution_by_another_worker) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle first = rules.claim(id, "w1");
  rules.must(Delay{first, std::nullopt, 0});
  const LeasedTasks tasks = rules.must(named(rules, id, "w2"));
  EXPECT_EQ(tasks[0].handle.kind, HandleKind::resumed);
  EXPECT_EQ(tasks[0].handle.attempt_id, first.attempt_id);
  EXPECT_EQ(tasks[0].handle.lease_epoch, 2U);
}

TEST(Executions, T19_a_named_claim_repeated_with_its_key_gets_the_same_handle) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ClaimNamed op = named(rules, id, "w1");
  op.claim.claim_key = "key";
  const LeasedTasks first = rules.must(op);
  ASSERT_EQ(first.size(), 1U);
  rules.now += 10;
  ClaimNamed repeat = named(rules, id, "w1");
  repeat.claim.claim_key = "key";
  const LeasedTasks again = rules.must(repeat);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].handle, first[0].handle);
  EXPECT_FALSE(rules.wrote()) << "no new lease";

  repeat.claim.claim_key = "other";
  EXPECT_TRUE(rules.must(repeat).empty());
  repeat.claim.claim_key = "key";
  repeat.claim.worker.worker_instance_id = "w2";
  EXPECT_TRUE(rules.must(repeat).empty()) << "the key belongs to the instance";
  EXPECT_TRUE(rules.must(named(rules, id, "w1")).empty()) << "without a key it is another claim";
}

}  // namespace
}  // namespace ff::core
