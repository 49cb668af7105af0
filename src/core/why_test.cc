#include "core/why.h"

#include "support/situations.h"
#include "support/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Why why(const Rules& rules, const ExecutionId& id, const QueueSituation& situation = {}) {
  return explain(rules.record(id), situation, rules.now);
}

TEST(Executions, T63_there_is_a_sentence_for_every_state) {
  const std::map<std::string, std::string> reasons = {
      {"waiting", "waiting_for_worker"},
      {"delayed", "waiting_for_delay"},
      {"active", "running"},
      {"lost", "lease_lost"},
      {"revoked", "lease_revoked"},
      {"retry_backoff", "waiting_for_retry_backoff"},
      {"retry_waiting", "waiting_for_worker"},
      {"worker_delayed", "waiting_for_delay"},
      {"resumable", "waiting_for_worker"},
      {"children_done", "waiting_for_worker"},
      {"replay_waiting", "waiting_for_worker"},
      {"waiting_children", "waiting_for_children"},
      {"blocked_budget", "waiting_for_budget"},
      {"blocked_quota", "waiting_for_quota"},
      {"blocked_route", "waiting_for_capable_worker"},
      {"suspended", "waiting_for_signal"},
      {"completed", "success"},
      {"failed", "failed"},
      {"cancelled", "cancelled"},
      {"cancelled_unclaimed", "cancelled"},
      {"expired", "expired"},
      {"skipped", "skipped"},
  };
  auto all = test::open_situations();
  for (auto& ended : test::ended_situations()) all.push_back(std::move(ended));
  EXPECT_EQ(all.size(), reasons.size());
  for (const auto& situation : all) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const Why said = why(rules, id);
    EXPECT_EQ(said.reason, reasons.at(situation.name)) << situation.name;
    EXPECT_GT(said.text.size(), 10U) << situation.name;
    EXPECT_TRUE(said.text.ends_with('.')) << said.text;
    EXPECT_EQ(said.text.find(".."), std::string::npos) << said.text;
    EXPECT_GE(said.since_ms, kStart) << situation.name;
    EXPECT_LE(said.since_ms, rules.now) << situation.name;
  }
}

TEST(Executions, T63_never_empty_for_any_legal_vector) {
  int seen = 0;
  test::for_each_legal_record([&](const ExecutionRecord& record) {
    if (record.lease && !record.attempt) return;  // a lease without an attempt cannot come about
    const Why said = explain(record, {}, kStart);
    EXPECT_FALSE(said.reason.empty()) << test::vector_text(record.state);
    EXPECT_TRUE(said.text.ends_with('.')) << said.text;
    ++seen;
  });
  EXPECT_GT(seen, 80);
}

TEST(Executions, T63_how_it_ended) {
  Rules rules;
  const ExecutionId failed = rules.submit();
  rules.now += 1'234;
  ASSERT_TRUE(rules.fail(rules.claim(failed), "no good", FailureClass::permanent));
  Why said = why(rules, failed);
  EXPECT_EQ(said.text, "It ended as failed at 2023-11-14 22:13:21.234 UTC: no good.");
  EXPECT_EQ(said.since_ms, kStart + 1'234);
  EXPECT_EQ(said.until_ms, std::nullopt);
  const ExecutionId cancelled = rules.submit();
  ASSERT_TRUE(rules.cancel(cancelled, "not needed"));
  EXPECT_THAT(why(rules, cancelled).text, HasSubstr("cancelled at 2023-11-14 22:13:21.234 UTC: not needed (by operator_override)"));
  const ExecutionId done = rules.submit();
  ASSERT_TRUE(rules.complete(rules.claim(done)));
  EXPECT_EQ(why(rules, done).text, "It ended as completed at 2023-11-14 22:13:21.234 UTC.");
}

TEST(Executions, T63_who_runs_it_and_how_far) {
  Rules rules;
  const ExecutionId id = rules.submit();
  const TaskHandle handle = rules.claim(id, "worker-7", 30'000);
  EXPECT_THAT(why(rules, id).text, AllOf(HasSubstr("'worker-7'"), HasSubstr("attempt 0"), HasSubstr("22:13:20.000"),
                                         HasSubstr("until 2023-11-14 22:13:50.000")));
  EXPECT_EQ(why(rules, id).until_ms, kStart + 30'000);
  rules.must(ReportProgressOp{handle, 40, "copying"});
  EXPECT_THAT(why(rules, id).text, HasSubstr("last progress 40 % (copying)"));
  rules.now += 30'000;
  EXPECT_THAT(why(rules, id).text, HasSubstr("that time is over"));
}

TEST(Executions, T63_whose_lease_ended) {
  Rules rules;
  const ExecutionId id = rules.submit(job(R"({"max_reclaim_count":5})"));
  rules.claim(id, "worker-7");
  rules.lose(id);
  EXPECT_THAT(why(rules, id).text, AllOf(HasSubstr("'worker-7'"), HasSubstr("ran out at 2023-11-14 22:13:50.000"),
                                         HasSubstr("take over"), HasSubstr("lost lease 1 of at most 5")));
  EXPECT_EQ(why(rules, id).since_ms, rules.now);
  rules.claim(id, "worker-8");
  rules.must(Revoke{{}, {.execution_id = id, .reason = "maintenance"}});
  EXPECT_THAT(why(rules, id).text, AllOf(HasSubstr("'worker-8'"), HasSubstr("revoked"), HasSubstr("(maintenance)")));
}

TEST(Executions, T63_what_stands_in_front_of_a_waiting_one) {
  Rules rules;
  const ExecutionId id = rules.submit();
  auto text = [&](QueueSituation situation) { return why(rules, id, situation).text; };
  EXPECT_EQ(text({}), "It waits for a worker of lane 'default', 0 before it.");
  EXPECT_THAT(text({.ahead = 1000, .ahead_is_bound = true}), HasSubstr("1000+ before it"));
  EXPECT_THAT(text({.workers = WorkerCoverage{}}), HasSubstr("no live worker serves lane 'default'"));
  EXPECT_THAT(text({.ahead = 3, .workers = WorkerCoverage{2, 1, {}}}), HasSubstr("3 before it; 1 live worker can do it"));
  EXPECT_THAT(text({.workers = WorkerCoverage{2, 2, {}}}), HasSubstr("2 live workers can do it"));
  EXPECT_THAT(text({.workers = WorkerCoverage{1, 0, {}}}), HasSubstr("has 1 live worker, but none that handles 'job'"));
  EXPECT_THAT(text({.workers = WorkerCoverage{3, 0, {"gpu", "x"}}}), HasSubstr("missing: gpu, x."));
  EXPECT_THAT(text({.lane_state = LaneState::paused, .workers = WorkerCoverage{2, 2, {}}}),
              HasSubstr("lane 'default' is paused"));
  EXPECT_THAT(text({.lane_state = LaneState::disabled}), HasSubstr("lane 'default' is disabled"));
}

TEST(Scheduling, who_could_take_the_members_of_a_queue) {
  Queue queue;
  queue.lane_id = "video";
  queue.namespace_ = "a";
  queue.execution_kind = "resize";
  queue.required_capabilities = {"cuda", "gpu"};
  auto worker = [](std::string namespace_, std::vector<std::string> capabilities, std::vector<std::string> kinds) {
    WorkerRecord made;
    made.lanes = {"audio", "video"};
    made.namespace_ = std::move(namespace_);
    made.capabilities = std::move(capabilities);
    made.kinds = std::move(kinds);
    return made;
  };
  EXPECT_EQ(coverage({}, queue).serving, 0U);
  EXPECT_EQ(coverage({worker("b", {"cuda", "gpu"}, {})}, queue).serving, 0U) << "of another namespace";
  const auto none = coverage({worker("", {"cuda"}, {}), worker("a", {}, {}), worker("a", {"cuda", "gpu"}, {"other"})}, queue);
  EXPECT_EQ(none.serving, 3U);
  EXPECT_EQ(none.covering, 0U);
  EXPECT_THAT(none.missing, ElementsAre("gpu")) << "what the closest lacks";
  EXPECT_EQ(coverage({worker("a", {"cuda", "gpu"}, {"resize"})}, queue).covering, 1U);
  EXPECT_TRUE(coverage({worker("a", {"cuda", "gpu"}, {"other"})}, queue).missing.empty());
}

TEST(Executions, T63_until_when_and_by_whom_it_is_delayed) {
  Rules rules;
  Submission s = job();
  s.delay_ms = 60'000;
  const ExecutionId by_creator = rules.submit(s);
  EXPECT_EQ(why(rules, by_creator).text, "Its creator delayed it until 2023-11-14 22:14:20.000 UTC.");
  EXPECT_EQ(why(rules, by_creator).until_ms, kStart + 60'000);
  const ExecutionId by_worker = rules.submit();
  rules.must(Delay{rules.claim(by_worker), {}, 60'000});
  EXPECT_THAT(why(rules, by_worker).text, HasSubstr("Its worker delayed it until"));
  const ExecutionId by_retry = rules.submit();
  ASSERT_TRUE(rules.fail(rules.claim(by_retry), "no luck"));
  EXPECT_THAT(why(rules, by_retry).text, HasSubstr("Attempt 0 failed (no luck); retry 1 of 3 starts at"));
}

TEST(Executions, T63_times_at_the_limits_of_the_clock_are_still_a_sentence) {
  Rules rules;
  Submission s = job();
  s.delay_ms = ~0ULL;
  const ExecutionId id = rules.submit(s);
  EXPECT_THAT(why(rules, id).text, HasSubstr("Its creator delayed it until"));
}

TEST(Executions, T63_an_owed_cancel_is_told_with_every_state) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    rules.forge(id, [](ExecutionRecord& r) { r.hold.cancel_owed = CancelOwed::now; });
    EXPECT_THAT(why(rules, id).text, HasSubstr("it will be cancelled.")) << situation.name;
    rules.forge(id, [](ExecutionRecord& r) { r.hold.cancel_owed = CancelOwed::on_release; });
    EXPECT_THAT(why(rules, id).text, HasSubstr("will be cancelled when its worker lets go")) << situation.name;
  }
}

TEST(Executions, T63_a_hold_tells_what_since_when_and_until_when) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.now += 5;
  test::block(rules, id, EligibilityState::blocked_by_budget, BlockingReason::waiting_for_budget, "budget b: tokens 5/5");
  const Why said = why(rules, id);
  EXPECT_EQ(said.text, "It is held: budget b: tokens 5/5.");
  EXPECT_EQ(said.since_ms, kStart + 5);
  EXPECT_EQ(said.until_ms, kStart + 1'005);
}

}  // namespace
}  // namespace ff::core
