#include "core/fence.h"

#include "support/rules.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::Rules;

/// Asks by every call that a handle can make, and wants one and the same refusal from all of them.
std::string refusal_of_all(const Rules& rules, const TaskHandle& handle) {
  std::set<std::string> codes;
  auto ask = [&](auto op) {
    Rules copy = rules;
    auto reply = copy.run(op);
    codes.insert(reply ? "accepted" : std::string(traits(reply.error().code).name));
  };
  ask(Renew{handle, std::nullopt, true});
  ask(ReportProgressOp{handle, 5, std::nullopt});
  ask(Complete{handle, nullptr, ""});
  ask(Fail{handle, "m", FailureClass::transient, "transient", 0});
  ask(Delay{handle, std::nullopt, 5});
  ask(WaitForChildren{handle, false});
  ask(CancelByHolder{handle, "r"});
  return fmt::format("{}", fmt::join(codes, " or "));
}

TEST(Executions, T24_forged_handles_with_one_id_changed) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle good = rules.claim(id);
  EXPECT_EQ(refusal_of_all(rules, good), "accepted");
  auto forged = [&](auto change) {
    TaskHandle bad = good;
    change(bad);
    return refusal_of_all(rules, bad);
  };
  const Uuid other = *Uuid::parse("99999999-9999-4999-8999-999999999999");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.execution_id.uuid = other; }), "execution_not_found");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.execution_id.partition ^= 1; }), "execution_not_found");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.attempt_index = 1; }), "attempt_not_found");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.attempt_id = other; }), "stale_lease");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.lease_id = other; }), "stale_lease");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.lease_epoch = 0; }), "stale_lease");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.lease_epoch = 2; }), "stale_lease");
  EXPECT_EQ(forged([&](TaskHandle& h) { h.kind = HandleKind::reclaimed; }), "accepted") << "the kind is information";
}

TEST(Executions, a_handle_opens_nothing_for_a_caller_of_another_namespace) {
  Rules rules;
  TaskHandle handle = rules.claim(rules.submit());
  handle.namespace_scope = "elsewhere";
  EXPECT_EQ(refusal_of_all(rules, handle), "execution_not_found");
}

TEST(Executions, T24_a_terminal_execution_tells_its_four_facts) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  ASSERT_TRUE(rules.cancel(id));
  const Error error = rules.refused(Complete{handle, nullptr, ""});
  EXPECT_EQ(error.code, ErrorCode::execution_not_active);
  EXPECT_EQ(error.context.text("terminal_outcome"), "cancelled");
  EXPECT_EQ(error.context.text("lifecycle_phase"), "terminal");
  EXPECT_EQ(error.context.number("lease_epoch"), 1);
  EXPECT_EQ(error.context.text("attempt_id"), handle.attempt_id.to_string());
  EXPECT_FALSE(rules.wrote());

  TaskHandle forged = handle;
  forged.lease_epoch = 9;
  EXPECT_EQ(rules.refused(Complete{forged, nullptr, ""}).code, ErrorCode::execution_not_active)
      << "the phase comes before the lease";
  forged.attempt_id = Uuid{};
  EXPECT_EQ(rules.refused(Complete{forged, nullptr, ""}).code, ErrorCode::stale_lease)
      << "the attempt comes before the phase";
}

TEST(Executions, T24_after_a_revoke) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.must(Revoke{{}, {.execution_id = id, .reason = "maintenance"}});
  EXPECT_EQ(refusal_of_all(rules, handle), "lease_revoked");
  rules.now = rules.record(id).lease->lease_expires_at_ms + 1;
  EXPECT_EQ(refusal_of_all(rules, handle), "lease_revoked") << "also when its time is over";
  TaskHandle older = handle;
  older.lease_epoch = 0;
  EXPECT_EQ(refusal_of_all(rules, older), "stale_lease") << "only the handle of that lease is told so";
  rules.claim(id, "w2");
  EXPECT_EQ(refusal_of_all(rules, handle), "stale_lease");
}

TEST(Executions, T23_at_the_very_end_of_the_lease_it_is_over) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  const TimeMs expires = rules.record(id).lease->lease_expires_at_ms;
  rules.now = expires - 1;
  EXPECT_EQ(refusal_of_all(rules, handle), "accepted");
  rules.now = expires;
  EXPECT_EQ(refusal_of_all(rules, handle), "lease_expired");
}

TEST(Executions, T23_the_call_that_discovers_the_loss_commits_it) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.now = rules.record(id).lease->lease_expires_at_ms;
  EXPECT_EQ(rules.refused(Renew{handle, std::nullopt, false}).code, ErrorCode::lease_expired);
  EXPECT_EQ(rules.said(), std::vector<std::string>{"lease expired lease_expired"});
  EXPECT_EQ(rules.record(id).state.ownership_state, OwnershipState::lease_expired_reclaimable);
  EXPECT_EQ(rules.record(id).counters.lease_reclaim_count, 1U);
  EXPECT_EQ(rules.refused(Renew{handle, std::nullopt, false}).code, ErrorCode::lease_expired);
  EXPECT_FALSE(rules.wrote()) << "no second event";
  EXPECT_FALSE(*rules.ring(id, TimerKind::lease)) << "nothing is left for the sweep";
}

TEST(Executions, T23_when_the_loss_takes_it_out_of_active_later_calls_hear_that) {
  for (const char* policy : {R"({"lease_loss_policy":"retry"})", R"({"max_reclaim_count":0})",
                             R"({"lease_loss_policy":"retry","retry_policy":{"max_retries":0}})"}) {
    Rules rules;
    const ExecutionId id = rules.submit(job(policy));
    const TaskHandle handle = rules.claim(id);
    rules.now = rules.record(id).lease->lease_expires_at_ms;
    EXPECT_EQ(rules.refused(Complete{handle, nullptr, ""}).code, ErrorCode::lease_expired) << policy;
    EXPECT_TRUE(rules.wrote());
    EXPECT_EQ(rules.refused(Complete{handle, nullptr, ""}).code, ErrorCode::execution_not_active) << policy;
    EXPECT_FALSE(rules.wrote());
  }
}

TEST(Executions, T49_a_zombie_cannot_touch_what_another_worker_took_over) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle old = rules.claim(id, "w1");
  rules.lose(id);
  const TaskHandle fresh = rules.claim(id, "w2");
  EXPECT_EQ(refusal_of_all(rules, old), "stale_lease");
  rules.must(Complete{fresh, test::bytes("right"), "text/plain"});
  EXPECT_EQ(refusal_of_all(rules, old), "execution_not_active");
  EXPECT_EQ(*rules.set.result(id)->result, "right");
}

TEST(Executions, an_older_attempt_is_read_when_the_handle_names_one) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle old = rules.claim(id);
  rules.lose(id);
  rules.claim(id);
  WorkingSet set;
  Reads first(set);
  read_fenced(old, set, first);
  EXPECT_EQ(first.executions, std::vector{id});
  EXPECT_TRUE(first.attempts.empty());
  set.executions().loaded(id, rules.record(id));
  Reads second(set);
  read_fenced(old, set, second);
  EXPECT_EQ(second.attempts, (std::vector{AttemptKey{id, 0}}));
  TaskHandle beyond = old;
  beyond.attempt_index = 7;
  Reads third(set);
  read_fenced(beyond, set, third);
  EXPECT_TRUE(third.empty()) << "what cannot exist is not asked for";
}

TEST(Executions, T25_logs_never_show_a_handle) {
  const TaskHandle handle{HandleKind::fresh, {7, *Uuid::parse("550e8400-e29b-41d4-a716-446655440000")}, 3, {}, {}, 9,
                          "default"};
  EXPECT_EQ(redacted(handle), "{fp:7}:550e8400-e29b-41d4-a716-446655440000#3@9");
}

}  // namespace
}  // namespace ff::core
