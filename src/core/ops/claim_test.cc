#include "core/ops/claim.h"

#include "support/situations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;
using testing::ElementsAre;

constexpr const char* kLeased = "active / leased / not_applicable / none / none / running_attempt";
constexpr const char* kTimeout = R"({"timeout_policy":{"attempt_timeout_ms":10000}})";

TEST(Executions, T15_a_fresh_claim_starts_the_first_attempt) {
  Rules rules;
  Submission s = job(kTimeout);
  s.payload = "in";
  s.content_type = "text/plain";
  s.tags = {{"a", "b"}};
  s.priority = 7;
  s.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const ExecutionId id = rules.submit(s);
  rules.now += 5;
  Claim claim = rules.claim_of("w1", 10'001);
  claim.claim_key = "key";
  auto task = rules.offer(id, claim);
  ASSERT_TRUE(task);
  EXPECT_EQ(rules.vector(id), kLeased);
  EXPECT_EQ(rules.changed(id),
            "attempt attempt_state attempt_timeout_at_ms blocking_reason claim_count current_attempt_id "
            "current_lease_epoch eligibility_state lease lifecycle_phase ownership_state started_at_ms "
            "total_attempt_count");
  EXPECT_THAT(rules.said(), ElementsAre("lease acquired"));

  const ExecutionRecord& record = rules.record(id);
  const TimeMs now = kStart + 5;
  EXPECT_EQ(record.counters, (Counters{1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(record.times.started_at_ms, now);
  EXPECT_EQ(record.timers.attempt_timeout_at_ms, now + 10'000);
  EXPECT_EQ(*record.lease, (LeaseFields{task->handle.lease_id, "pool", "w1", 10'001, now, now + 10'001, now,
                                        now + 6'667, "key"}));
  Attempt expected;
  expected.attempt_id = task->handle.attempt_id;
  expected.lease_id = task->handle.lease_id;
  expected.lease_epoch = 1;
  expected.worker_id = "pool";
  expected.worker_instance_id = "w1";
  expected.created_at_ms = expected.started_at_ms = now;
  expected.version = 1;
  EXPECT_EQ(*record.attempt, expected);
  EXPECT_EQ(record.current_attempt_id, task->handle.attempt_id);

  EXPECT_EQ(task->handle, (TaskHandle{HandleKind::fresh, id, 0, expected.attempt_id, expected.lease_id, 1, "default"}));
  EXPECT_EQ(task->execution, (TaskExecution{id, "default", "default", "job", 7, s.tags, s.traceparent}));
  EXPECT_EQ(task->attempt, (AttemptRef{0, expected.attempt_id, AttemptType::initial}));
  EXPECT_EQ(*task->payload, "in");
  EXPECT_EQ(task->payload_content_type, "text/plain");
  EXPECT_EQ(task->lease_expires_at_ms, now + 10'001);
  EXPECT_NE(expected.attempt_id, expected.lease_id);

  const EventRecord& event = rules.events().front();
  EXPECT_EQ(event.lease_id, expected.lease_id);
  EXPECT_EQ(event.lease_epoch, 1U);
  EXPECT_EQ(event.attempt_index, 0U);
  EXPECT_EQ(event.attempt_id, expected.attempt_id);
  EXPECT_EQ(event.worker_instance_id, "w1");
  EXPECT_EQ(event.occurred_at_ms, now);
  EXPECT_EQ(event.partition, id.partition);
  EXPECT_EQ(*event.tags, s.tags);
}

TEST(Executions, T16_the_three_rows_of_the_table) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":0}}})"));
  rules.forge(id, [](ExecutionRecord& r) { r.counters.current_lease_epoch = 1; });
  ASSERT_TRUE(rules.fail(rules.claim(id), "first"));
  ASSERT_TRUE(rules.fail(rules.claim(id), "second"));
  ASSERT_EQ(rules.record(id).counters.current_lease_epoch, 3U);
  ASSERT_EQ(rules.record(id).counters.total_attempt_count, 2U);

  // Epoch 3, pending_retry, total 2.
  TaskHandle retry = rules.claim(id);
  EXPECT_EQ(retry.kind, HandleKind::fresh);
  EXPECT_EQ(retry.attempt_index, 2U);
  EXPECT_EQ(retry.lease_epoch, 4U);
  EXPECT_EQ(rules.record(id).attempt->attempt_type, AttemptType::retry);
  EXPECT_EQ(rules.record(id).attempt->retry_reason, "second");
  EXPECT_EQ(rules.record(id).attempt->previous_attempt_index, 1U);
  EXPECT_EQ(rules.record(id).pending, Pending{}) << "consumed";

  // Epoch 4, attempt_interrupted at index 2.
  rules.must(Delay{retry, std::nullopt, 0});
  TaskHandle resumed = rules.claim(id);
  EXPECT_EQ(resumed.kind, HandleKind::resumed);
  EXPECT_EQ(resumed.attempt_index, 2U);
  EXPECT_EQ(resumed.attempt_id, retry.attempt_id);
  EXPECT_EQ(resumed.lease_epoch, 5U);

  // Epoch 5, lease_expired_reclaimable, index 2, total 3.
  rules.lose(id);
  TaskHandle reclaimed = rules.claim(id, "w2");
  EXPECT_EQ(reclaimed.kind, HandleKind::reclaimed);
  EXPECT_EQ(reclaimed.attempt_index, 3U);
  EXPECT_EQ(reclaimed.lease_epoch, 6U);
  EXPECT_EQ(rules.attempt(id, 2).attempt_state, AttemptRecordState::interrupted_reclaimed);
  EXPECT_EQ(rules.record(id).attempt->attempt_type, AttemptType::reclaim);
}

TEST(Executions, resumed_claim_continues_the_same_attempt) {
  Rules rules;
  const ExecutionId id = rules.submit(job(kTimeout));
  const TaskHandle first = rules.claim(id);
  rules.now += 4'000;
  rules.must(Delay{first, std::nullopt, 0});
  rules.now += 60'000;
  const TaskHandle second = rules.claim(id, "w2");
  EXPECT_EQ(rules.vector(id), kLeased);
  EXPECT_EQ(rules.changed(id),
            "attempt.attempt_state attempt.lease_epoch attempt.lease_id attempt.resumed_at_ms attempt.suspended_at_ms "
            "attempt.suspension_id attempt.worker_instance_id attempt_state attempt_timeout_at_ms "
            "attempt_timeout_remaining_ms blocking_reason claim_count current_lease_epoch eligibility_state "
            "interrupt_kind lease lifecycle_phase ownership_state");
  EXPECT_THAT(rules.said(), ElementsAre("lease acquired claim_resumed"));
  const ExecutionRecord& record = rules.record(id);
  EXPECT_EQ(second.attempt_id, first.attempt_id);
  EXPECT_NE(second.lease_id, first.lease_id);
  EXPECT_EQ(record.attempt->attempt_state, AttemptRecordState::started);
  EXPECT_EQ(record.attempt->resumed_at_ms, rules.now);
  EXPECT_EQ(record.attempt->started_at_ms, kStart) << "it started when it started";
  EXPECT_EQ(record.attempt->worker_instance_id, "w2");
  EXPECT_EQ(record.attempt->lease_id, second.lease_id);
  EXPECT_EQ(record.attempt->lease_epoch, 2U);
  EXPECT_EQ(record.timers.attempt_timeout_at_ms, rules.now + 6'000) << "only the rest of its time";
  EXPECT_EQ(record.counters, (Counters{1, 2, 2, 0, 0, 0, 0}));
}

TEST(Executions, reclaimed_claim_closes_the_old_attempt_and_starts_another) {
  struct Case {
    const char* situation;
    const char* reason;
  };
  for (const Case& c : {Case{"lost", "lease_expired"}, Case{"revoked", "lease_revoked"}}) {
    Rules rules;
    const auto situations = test::open_situations();
    auto found = std::find_if(situations.begin(), situations.end(), [&](const auto& s) { return s.name == c.situation; });
    const ExecutionId id = found->reach(rules, job(kTimeout));
    const Counters before = rules.record(id).counters;
    const Uuid old_lease = rules.record(id).lease->current_lease_id;
    rules.now += 500;
    const TaskHandle handle = rules.claim(id, "w2");
    EXPECT_EQ(handle.kind, HandleKind::reclaimed);
    EXPECT_EQ(rules.vector(id), kLeased);
    EXPECT_THAT(rules.said(), ElementsAre(fmt::format("lease reclaimed {}", c.reason)));
    EXPECT_EQ(rules.events().front().lease_id, handle.lease_id) << "the event is about the new lease";

    const Attempt& old = rules.attempt(id, 0);
    EXPECT_EQ(old.attempt_state, AttemptRecordState::interrupted_reclaimed);
    EXPECT_EQ(old.outcome, AttemptOutcome::interrupted_reclaimed);
    EXPECT_EQ(old.ended_at_ms, rules.now);
    EXPECT_EQ(old.failure_reason, c.reason);
    EXPECT_EQ(old.release_op, ReleaseOp::reclaim);
    EXPECT_EQ(old.released_lease_id, old_lease);
    EXPECT_EQ(old.released_lease_epoch, 1U);
    EXPECT_EQ(old.version, 3U);

    const ExecutionRecord& record = rules.record(id);
    EXPECT_EQ(record.attempt->attempt_index, 1U);
    EXPECT_EQ(record.attempt->attempt_type, AttemptType::reclaim);
    EXPECT_EQ(record.attempt->reclaim_reason, c.reason);
    EXPECT_EQ(record.attempt->previous_attempt_index, 0U);
    EXPECT_EQ(record.ending.last_failure_message, c.reason);
    EXPECT_EQ(record.timers.attempt_timeout_at_ms, rules.now + 10'000) << "in full";
    EXPECT_EQ(record.hold, Hold{}) << "the marks of the loss are cleared";
    EXPECT_EQ(record.counters.retry_count, before.retry_count);
    EXPECT_EQ(record.counters.lease_reclaim_count, before.lease_reclaim_count);
    EXPECT_EQ(record.counters.current_lease_epoch, 2U);
    EXPECT_EQ(record.counters.total_attempt_count, 2U);
  }
}

TEST(Executions, T57_a_replay_becomes_an_attempt_of_its_type) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ASSERT_TRUE(rules.complete(rules.claim(id)));
  rules.must(Replay{{}, id, "wrong input", "ops"});
  const TaskHandle handle = rules.claim(id);
  EXPECT_EQ(handle.kind, HandleKind::fresh);
  const Attempt& attempt = *rules.record(id).attempt;
  EXPECT_EQ(attempt.attempt_index, 1U);
  EXPECT_EQ(attempt.attempt_type, AttemptType::replay);
  EXPECT_EQ(attempt.replay_reason, "wrong input");
  EXPECT_EQ(attempt.replay_requested_by, "ops");
  EXPECT_EQ(attempt.replayed_from_attempt_index, 0U);
  EXPECT_EQ(attempt.previous_attempt_index, std::nullopt);
  EXPECT_EQ(rules.record(id).pending, Pending{});
}

TEST(Executions, T57_a_replay_of_what_never_ran_comes_from_nowhere) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ASSERT_TRUE(rules.cancel(id));
  rules.must(Replay{{}, id, std::nullopt, std::nullopt});
  rules.claim(id);
  EXPECT_EQ(rules.record(id).attempt->attempt_type, AttemptType::replay);
  EXPECT_EQ(rules.record(id).attempt->attempt_index, 0U);
  EXPECT_EQ(rules.record(id).attempt->replayed_from_attempt_index, std::nullopt);
}

TEST(Executions, T16_only_candidates_are_leased_and_of_each_its_kind) {
  const std::map<std::string, HandleKind> kinds = {
      {"waiting", HandleKind::fresh},        {"retry_waiting", HandleKind::fresh},
      {"replay_waiting", HandleKind::fresh}, {"resumable", HandleKind::resumed},
      {"children_done", HandleKind::resumed}, {"lost", HandleKind::reclaimed},
      {"revoked", HandleKind::reclaimed},
  };
  auto all = test::open_situations();
  for (auto& ended : test::ended_situations()) all.push_back(std::move(ended));
  for (const auto& situation : all) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const std::uint64_t epoch = rules.record(id).counters.current_lease_epoch;
    auto task = rules.offer(id, rules.claim_of("w2"));
    ASSERT_EQ(task.has_value(), kinds.contains(situation.name)) << situation.name;
    EXPECT_EQ(rules.wrote(), task.has_value()) << situation.name;
    if (!task) continue;
    EXPECT_EQ(task->handle.kind, kinds.at(situation.name)) << situation.name;
    EXPECT_EQ(task->handle.lease_epoch, epoch + 1) << situation.name;
    EXPECT_EQ(lease_kind(rules.record(id)), task->handle.kind) << situation.name;
    EXPECT_EQ(task_of(rules.record(id), rules.set, lease_kind(rules.record(id))).handle, task->handle)
        << situation.name << ": a repeat gets the very same handle";
  }
}

TEST(Executions, T20_what_is_owed_a_cancel_is_never_returned) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.forge(id, [](ExecutionRecord& r) { r.hold.cancel_owed = CancelOwed::now; });
  EXPECT_FALSE(rules.offer(id, rules.claim_of()));
  EXPECT_FALSE(rules.wrote());
}

TEST(Scheduling, T18_a_worker_gets_only_what_it_can_do) {
  Rules rules;
  Submission s = job(R"({"routing_requirements":{"required_capabilities":["cuda","gpu"]}})", "render");
  s.namespace_ = "tenant";
  const ExecutionId id = rules.submit(s);
  const Queue& queue = *rules.record(id).queue;
  auto worker = [](std::set<std::string, std::less<>> capabilities, std::set<std::string, std::less<>> kinds,
                   std::optional<std::string> scope) {
    return WorkerScope{"pool", "w1", {"default"}, std::move(capabilities), std::move(kinds), std::move(scope)};
  };
  EXPECT_TRUE(can_serve(worker({"cuda", "gpu"}, {}, std::nullopt), queue)) << "exactly these";
  EXPECT_TRUE(can_serve(worker({"cuda", "gpu", "x"}, {"render", "b"}, "tenant"), queue)) << "more than these";
  EXPECT_FALSE(can_serve(worker({"gpu"}, {}, std::nullopt), queue));
  EXPECT_FALSE(can_serve(worker({"cuda", "Gpu"}, {}, std::nullopt), queue)) << "byte for byte";
  EXPECT_FALSE(can_serve(worker({"cuda", "gpu"}, {"encode"}, std::nullopt), queue)) << "another kind";
  EXPECT_FALSE(can_serve(worker({"cuda", "gpu"}, {}, "other"), queue)) << "another namespace";
  EXPECT_THAT(missing_capabilities(worker({"gpu"}, {}, {}), queue), ElementsAre("cuda"));
  EXPECT_THAT(missing_capabilities(worker({}, {}, {}), queue), ElementsAre("cuda", "gpu"));

  Claim claim = rules.claim_of();
  EXPECT_FALSE(rules.offer(id, claim));
  EXPECT_FALSE(rules.wrote());
  claim.worker.capabilities = {"cuda", "gpu"};
  EXPECT_TRUE(rules.offer(id, claim));
}

TEST(Domain, T21_a_second_claim_of_the_same_execution_gets_nothing) {
  Rules rules;
  const ExecutionId id = rules.submit();
  ASSERT_TRUE(rules.offer(id, rules.claim_of("w1")));
  EXPECT_FALSE(rules.offer(id, rules.claim_of("w2")));
  EXPECT_FALSE(rules.wrote());
  EXPECT_EQ(rules.record(id).counters.current_lease_epoch, 1U);
}

}  // namespace
}  // namespace ff::core
