#include "core/ops/revoke.h"

#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::Rules;
using testing::ElementsAre;

TEST(Executions, T51_revoke_takes_the_lease_away) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  rules.now += 5;
  const Revoked reply = rules.must(Revoke{{std::nullopt, "ops"}, {.execution_id = id, .reason = "maintenance"}});
  EXPECT_EQ(reply, (Revoked{handle.lease_id, 1, ""}));
  EXPECT_EQ(rules.vector(id), "active / lease_revoked / not_applicable / waiting_for_worker / none / attempt_interrupted");
  EXPECT_EQ(rules.changed(id),
            "attempt.release_op attempt.released_lease_epoch attempt.released_lease_id attempt_state blocking_detail "
            "blocking_reason interrupt_kind lease_revoke_reason lease_revoked_at_ms ownership_state")
      << "nothing is counted, the epoch and the attempt's state stay";
  EXPECT_THAT(rules.said(), ElementsAre("lease revoked maintenance", "operator lease_revoked"));
  EXPECT_EQ(rules.events()[1].actor, "ops");
  EXPECT_EQ(rules.events()[1].details, R"({"reason":"maintenance"})");
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(record.hold.blocking_detail, "lease revoked: maintenance");
  EXPECT_EQ(record.hold.lease_revoked_at_ms, rules.now);
  EXPECT_EQ(record.hold.lease_revoke_reason, "maintenance");
  EXPECT_EQ(record.hold.interrupt_kind, InterruptKind::lease_lost);
  EXPECT_EQ(record.attempt->release_op, ReleaseOp::revoke);
  EXPECT_TRUE(is_candidate(record)) << "a candidate at once";
}

TEST(Executions, T51_each_way_in_which_there_is_nothing_to_revoke) {
  const std::map<std::string, std::string> table = {{"lost", "already_expired"}, {"revoked", "already_revoked"}};
  auto all = test::open_situations();
  for (auto& ended : test::ended_situations()) all.push_back(std::move(ended));
  for (const auto& situation : all) {
    if (situation.name == "active") continue;
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const Revoked reply = rules.must(Revoke{{}, {.execution_id = id}});
    auto expected = table.find(situation.name);
    EXPECT_EQ(reply.already_satisfied, expected == table.end() ? "no_active_lease" : expected->second) << situation.name;
    EXPECT_EQ(reply.lease_id, std::nullopt);
    EXPECT_FALSE(rules.wrote()) << situation.name;
  }
}

TEST(Executions, T51_the_guards_in_their_order) {
  Rules rules;
  EXPECT_EQ(rules.refused(Revoke{{}, {.execution_id = {}}}).code, ErrorCode::execution_not_found);
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id);
  auto word = [&](RevokeLease request) {
    request.execution_id = id;
    const std::string answer = rules.must(Revoke{{}, request}).already_satisfied;
    EXPECT_FALSE(rules.wrote());
    return answer;
  };
  EXPECT_EQ(word({.worker_instance_id = "w9", .expected_lease_id = Uuid{}}), "different_worker_instance_id");
  EXPECT_EQ(word({.worker_instance_id = "w1", .expected_lease_id = Uuid{}}), "lease_id_mismatch");
  const Revoked done =
      rules.must(Revoke{{}, {.execution_id = id, .worker_instance_id = "w1", .expected_lease_id = handle.lease_id}});
  EXPECT_EQ(done.lease_id, handle.lease_id);
  EXPECT_EQ(rules.record(id).hold.lease_revoke_reason, "operator") << "without a reason";
  EXPECT_EQ(word({}), "already_revoked");
}

TEST(Executions, T51_a_lapsed_lease_is_marked_lost_instead) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.claim(id);
  rules.now = rules.record(id).lease->lease_expires_at_ms;
  EXPECT_EQ(rules.must(Revoke{{}, {.execution_id = id, .worker_instance_id = "w9"}}).already_satisfied,
            "already_expired")
      << "before the guards are looked at";
  EXPECT_THAT(rules.said(), ElementsAre("lease expired lease_expired"));
  EXPECT_EQ(rules.record(id).state.ownership_state, OwnershipState::lease_expired_reclaimable);
  EXPECT_EQ(rules.record(id).counters.lease_reclaim_count, 1U);
}

TEST(Executions, T51_other_namespaces_are_as_if_they_were_not_there) {
  Rules rules;
  Submission s = job();
  s.namespace_ = "tenant";
  const ExecutionId id = rules.submit(s);
  rules.claim(id);
  EXPECT_EQ(rules.refused(Revoke{{"other", "ops"}, {.execution_id = id}}).code, ErrorCode::execution_not_found);
  EXPECT_TRUE(rules.must(Revoke{{"tenant", "ops"}, {.execution_id = id}}).lease_id);
}

}  // namespace
}  // namespace ff::core
