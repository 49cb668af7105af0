#include "core/view.h"

#include "core/records/event.h"
#include "support/situations.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;

Execution view(const Rules& rules, const ExecutionId& id) { return to_view(rules.record(id), *rules.set.info(id)); }

TEST(Executions, T62_what_a_reader_sees_before_during_and_after) {
  Rules rules;
  Submission s = job(R"({"priority":3,"routing_requirements":{"required_capabilities":["gpu"]}})");
  s.namespace_ = "tenant";
  s.payload = "12345";
  s.content_type = "text/plain";
  s.creator_identity = "me";
  s.tags = {{"a", "b"}};
  const ExecutionId id = rules.submit(s);
  Execution seen = view(rules, id);
  EXPECT_EQ(seen.execution_id, id);
  EXPECT_EQ(seen.namespace_, "tenant");
  EXPECT_EQ(seen.lane_id, "default");
  EXPECT_EQ(seen.execution_kind, "job");
  EXPECT_EQ(seen.creator_identity, "me");
  EXPECT_EQ(seen.priority, 3);
  EXPECT_EQ(seen.required_capabilities, std::vector<std::string>{"gpu"});
  EXPECT_EQ(seen.queue_class, queue_class("job", {"gpu"}));
  EXPECT_EQ(seen.policy.max_reclaim_count, 20U) << "with its defaults written out";
  EXPECT_EQ(seen.payload_bytes, 5U) << "the size, not the bytes";
  EXPECT_EQ(seen.payload_content_type, "text/plain");
  EXPECT_EQ(seen.tags, s.tags);
  EXPECT_EQ(seen.state.public_state, PublicState::waiting);
  EXPECT_EQ(seen.current_attempt, std::nullopt);
  EXPECT_EQ(seen.lease, std::nullopt);
  EXPECT_EQ(seen.version, 1U);

  Claim claim = rules.claim_of("w1", 1'000);
  claim.worker.capabilities = {"gpu"};
  auto task = rules.offer(id, claim);
  ASSERT_TRUE(task);
  seen = view(rules, id);
  EXPECT_EQ(seen.lease, (LeaseInfo{task->handle.lease_id, 1, "pool", "w1", kStart, kStart + 1'000, kStart}));
  EXPECT_EQ(seen.current_attempt, (AttemptRef{0, task->handle.attempt_id, AttemptType::initial}));

  rules.lose(id);
  seen = view(rules, id);
  EXPECT_EQ(seen.lease, std::nullopt) << "a lost lease is nobody's";
  EXPECT_EQ(seen.state.ownership_state, OwnershipState::lease_expired_reclaimable);
  EXPECT_TRUE(seen.current_attempt);

  ASSERT_TRUE(rules.cancel(id));
  seen = view(rules, id);
  EXPECT_EQ(seen.state.public_state, PublicState::cancelled);
  EXPECT_EQ(seen.times.completed_at_ms, rules.now);
  EXPECT_EQ(seen.ending.cancellation_reason, "enough");
}

TEST(Executions, T64_a_line_of_a_list) {
  Rules rules;
  Submission s = job();
  s.tags = {{"a", "b"}};
  const ExecutionId id = rules.submit(s);
  rules.now += 5;
  ASSERT_TRUE(rules.complete(rules.claim(id)));
  ExecutionSummary expected;
  expected.execution_id = id;
  expected.namespace_ = expected.lane_id = "default";
  expected.execution_kind = "job";
  expected.public_state = PublicState::completed;
  expected.tags = s.tags;
  expected.created_at_ms = kStart;
  expected.started_at_ms = expected.completed_at_ms = kStart + 5;
  expected.total_attempt_count = 1;
  EXPECT_EQ(summarize(rules.record(id)), expected);
}

TEST(Executions, T64_filters_are_anded) {
  Rules rules;
  Submission s = job();
  s.namespace_ = "tenant";
  s.tags = {{"a", "1"}, {"b", "2"}};
  const ExecutionId id = rules.submit(s);
  rules.claim(id, "w1");
  const ExecutionRecord& record = rules.record(id);
  auto passes = [&](ExecutionFilter filter) { return matches(record, filter); };
  EXPECT_TRUE(passes({}));
  EXPECT_TRUE(passes({.namespace_ = "tenant",
                      .lane = "default",
                      .kind = "job",
                      .state = {PublicState::waiting, PublicState::active},
                      .tags = {{"a", "1"}},
                      .worker = "w1",
                      .created_after_ms = kStart - 1,
                      .created_before_ms = kStart + 1,
                      .blocking_reason = BlockingReason::none}));
  EXPECT_FALSE(passes({.namespace_ = "other"}));
  EXPECT_FALSE(passes({.lane = "other"}));
  EXPECT_FALSE(passes({.kind = "other"}));
  EXPECT_FALSE(passes({.state = {PublicState::waiting}}));
  EXPECT_FALSE(passes({.flow_id = Uuid{}})) << "it is in no flow";
  EXPECT_FALSE(passes({.tags = {{"a", "1"}, {"b", "other"}}}));
  EXPECT_FALSE(passes({.tags = {{"missing", ""}}}));
  EXPECT_FALSE(passes({.worker = "w2"}));
  EXPECT_FALSE(passes({.created_after_ms = kStart})) << "after, not at";
  EXPECT_FALSE(passes({.created_before_ms = kStart}));
  EXPECT_FALSE(passes({.blocking_reason = BlockingReason::waiting_for_worker}));
  rules.lose(id);
  EXPECT_FALSE(matches(rules.record(id), {.worker = "w1"})) << "it holds the lease no more";
}

TEST(Executions, T64_a_filter_on_waiting_does_not_match_resumable) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.must(Delay{rules.claim(id), {}, 0});
  EXPECT_FALSE(matches(rules.record(id), {.state = {PublicState::waiting}}));
  EXPECT_TRUE(matches(rules.record(id), {.state = {PublicState::resumable}}));
}

TEST(Executions, leases_as_lists_show_them) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id, "w1", 1'000);
  EXPECT_EQ(lease_item(rules.record(id)),
            (LeaseItem{id, handle.lease_id, 1, "w1", kStart + 1'000, 0, "default", "default"}));
}

// ---- events as readers see them -----------------------------------------------------------------------------------

TEST(Domain, events_show_the_fields_of_their_kind_only) {
  Rules rules;
  Submission s = job();
  s.tags = {{"a", "b"}};
  const ExecutionId id = rules.submit(s);
  const TaskHandle handle = rules.claim(id, "w1");
  Event acquired = to_event(rules.events()[0], 41);
  EXPECT_EQ(acquired.event_id, 41);
  EXPECT_EQ(acquired.kind, EventKind::lease);
  EXPECT_EQ(acquired.event_type, "acquired");
  EXPECT_EQ(acquired.reason, std::nullopt) << "an empty reason is none";
  EXPECT_EQ(acquired.lease_id, handle.lease_id);
  EXPECT_EQ(acquired.worker_id, "pool");
  EXPECT_EQ(acquired.tags, s.tags);
  EXPECT_EQ(acquired.outcome, std::nullopt);
  EXPECT_EQ(acquired.actor, std::nullopt);

  ASSERT_TRUE(rules.cancel(id, "r"));
  const Event completion = to_event(rules.events()[1], 42);
  EXPECT_EQ(completion.kind, EventKind::completion);
  EXPECT_EQ(completion.outcome, TerminalOutcome::cancelled);
  EXPECT_EQ(completion.cancelled_by, CancelSource::operator_override);
  EXPECT_EQ(completion.attempt_index, 0U);
  EXPECT_EQ(completion.lease_id, std::nullopt);
  EXPECT_EQ(completion.event_type, "");

  const Event audit = to_event(rules.events()[2], 43);
  EXPECT_EQ(audit.kind, EventKind::operator_);
  EXPECT_EQ(audit.event_type, "execution_cancelled");
  EXPECT_EQ(audit.actor, "embedded");
  EXPECT_EQ(audit.details, R"({"reason":"r"})");
  EXPECT_EQ(audit.execution_id, id);
}

}  // namespace
}  // namespace ff::core
