#include "core/access.h"

#include "support/situations.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::job;
using test::kStart;
using test::Rules;

/// What the access paths say about a state: candidate or not, bucket, which clocks are set.
struct Expected {
  bool candidate;
  Bucket bucket;
  std::string clocks;
};

std::string clocks_of(const ExecutionRecord& record) {
  const char* const names[] = {"delay", "lease", "attempt", "deadline"};
  std::string set;
  for (int kind = 0; kind < kTimerKinds; ++kind)
    if (timer_at(record, static_cast<TimerKind>(kind))) set += fmt::format("{}{}", set.empty() ? "" : " ", names[kind]);
  return set;
}

TEST(Domain, T15_each_state_has_its_place_in_the_access_paths) {
  const std::map<std::string, Expected> table = {
      {"waiting", {true, Bucket::eligible, "deadline"}},
      {"delayed", {false, Bucket::delayed, "delay deadline"}},
      {"active", {false, Bucket::active, "lease attempt deadline"}},
      {"lost", {true, Bucket::reclaimable, "attempt deadline"}},
      {"revoked", {true, Bucket::reclaimable, "attempt deadline"}},
      {"retry_backoff", {false, Bucket::delayed, "delay deadline"}},
      {"retry_waiting", {true, Bucket::eligible, "deadline"}},
      {"worker_delayed", {false, Bucket::delayed, "delay deadline"}},
      {"resumable", {true, Bucket::eligible, "deadline"}},
      {"children_done", {true, Bucket::eligible, "deadline"}},
      {"replay_waiting", {true, Bucket::eligible, "deadline"}},
      {"waiting_children", {false, Bucket::blocked_dependencies, "deadline"}},
      {"blocked_budget", {false, Bucket::blocked_budget, "deadline"}},
      {"blocked_quota", {false, Bucket::blocked_quota, "deadline"}},
      {"blocked_route", {false, Bucket::blocked_route, "deadline"}},
      {"suspended", {false, Bucket::suspended, "deadline"}},
  };
  const Submission with_clocks =
      job(R"({"timeout_policy":{"attempt_timeout_ms":600000,"execution_deadline_ms":9000000}})");
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionRecord& record = rules.record(situation.reach(rules, with_clocks));
    ASSERT_TRUE(table.contains(situation.name)) << situation.name;
    const Expected& expected = table.at(situation.name);
    EXPECT_EQ(is_candidate(record), expected.candidate) << situation.name;
    EXPECT_EQ(bucket_of(record), expected.bucket) << situation.name;
    EXPECT_EQ(clocks_of(record), expected.clocks) << situation.name;
    EXPECT_TRUE(due_at(record)) << situation.name;
  }
  for (const auto& situation : test::ended_situations()) {
    Rules rules;
    const ExecutionRecord& record = rules.record(situation.reach(rules, with_clocks));
    EXPECT_FALSE(is_candidate(record)) << situation.name;
    EXPECT_EQ(bucket_of(record), Bucket::terminal) << situation.name;
    EXPECT_EQ(due_at(record), std::nullopt) << situation.name << ": no clock rings for what has ended";
  }
}

TEST(Domain, T40_an_owed_cancel_takes_it_out_of_the_queue) {
  for (const auto& situation : test::open_situations()) {
    Rules rules;
    const ExecutionId id = situation.reach(rules, job());
    const bool before = is_candidate(rules.record(id));
    rules.forge(id, [](ExecutionRecord& r) { r.hold.cancel_owed = CancelOwed::on_release; });
    EXPECT_EQ(is_candidate(rules.record(id)), before) << situation.name;
    rules.forge(id, [](ExecutionRecord& r) { r.hold.cancel_owed = CancelOwed::now; });
    EXPECT_FALSE(is_candidate(rules.record(id))) << situation.name;
  }
}

TEST(Domain, limits_in_time_delays_ring_at_their_time_the_others_after_it) {
  Rules rules;
  Submission s = job(R"({"timeout_policy":{"attempt_timeout_ms":50}})");
  s.execution_deadline_at_ms = kStart + 40;
  const ExecutionId id = rules.submit(s);
  rules.claim(id, "w1", 1'000);
  const ExecutionRecord& leased = rules.record(id);
  auto edge = [](const ExecutionRecord& record, TimerKind kind, TimeMs at) {
    return std::tuple(has_rung(record, kind, at - 1), has_rung(record, kind, at), has_rung(record, kind, at + 1));
  };
  EXPECT_EQ(edge(leased, TimerKind::lease, kStart + 1000), std::tuple(false, false, true));
  EXPECT_EQ(edge(leased, TimerKind::attempt_timeout, kStart + 50), std::tuple(false, false, true));
  EXPECT_EQ(edge(leased, TimerKind::deadline, kStart + 40), std::tuple(false, false, true));
  EXPECT_FALSE(has_rung(leased, TimerKind::delay, kStart + 1'000'000)) << "unset is never due";
  EXPECT_EQ(due_at(leased), kStart + 40) << "the earliest of all";
  EXPECT_EQ(rings_from(TimerKind::delay, 7), 7);
  EXPECT_EQ(rings_from(TimerKind::lease, 7), 8);

  Submission delayed = job();
  delayed.delay_until_ms = kStart + 10;
  const ExecutionRecord& later = rules.record(rules.submit(delayed));
  EXPECT_EQ(edge(later, TimerKind::delay, kStart + 10), std::tuple(false, true, true));
}

TEST(Domain, a_lease_is_live_before_its_expiry_and_never_at_it) {
  Rules rules;
  const ExecutionId id = rules.submit();
  rules.claim(id, "w1", 1'000);
  EXPECT_TRUE(rules.record(id).is_live(kStart + 999));
  EXPECT_FALSE(rules.record(id).is_live(kStart + 1'000));
}

TEST(Domain, T27_order_within_a_queue) {
  const Uuid low = *Uuid::parse("00000000-0000-0000-0000-000000000001");
  const Uuid high = *Uuid::parse("00000000-0000-0000-0000-000000000002");
  const std::vector<OrderKey> ordered = {
      {9000, 500, {200, high}}, {5, 1, {0, high}}, {5, 2, {255, low}}, {5, 2, {0, high}}, {0, 0, {0, low}}};
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t j = 0; j < ordered.size(); ++j) EXPECT_EQ(ordered[i] < ordered[j], i < j) << i << " " << j;
}

TEST(Domain, T27_work_that_comes_back_takes_its_old_place) {
  Rules rules;
  const ExecutionId old = rules.submit(job(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":0}}})"));
  const OrderKey place = order_key(rules.record(old));
  rules.now += 1'000;
  const ExecutionId young = rules.submit();
  ASSERT_TRUE(rules.fail(rules.claim(old)));
  EXPECT_EQ(order_key(rules.record(old)), place);
  EXPECT_LT(order_key(rules.record(old)), order_key(rules.record(young)));
}

}  // namespace
}  // namespace ff::core
