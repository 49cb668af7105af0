// 02, section 4: claims by lane.

#include "conformance/conformance.h"

#include <thread>

namespace ff::test {
namespace {

std::vector<ExecutionId> ids_of(const std::vector<ClaimedTask>& tasks) {
  std::vector<ExecutionId> ids;
  for (const auto& task : tasks) ids.push_back(task.execution.execution_id);
  return ids;
}

}  // namespace

TEST_P(Executions, T11_empty_lane) {
  EXPECT_THAT(claim(1), IsEmpty());
  ClaimRequest waiting = request();
  waiting.wait_ms = 60'000;
  std::jthread creator([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    submit();
  });
  const auto started = std::chrono::steady_clock::now();
  EXPECT_THAT(must(fabric.claim(waiting)), SizeIs(1));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(50)) << "it did not wait to the end";
}

TEST_P(Executions, T11_waiting_ends) {
  ClaimRequest waiting = request();
  waiting.wait_ms = 50;
  const auto started = std::chrono::steady_clock::now();
  EXPECT_THAT(must(fabric.claim(waiting)), IsEmpty());
  EXPECT_GE(std::chrono::steady_clock::now() - started, std::chrono::milliseconds(50));
}

TEST_P(Executions, T12_order_of_claims) {
  // By priority, then age, then uuid; partitions play no part.
  std::vector<std::pair<int, ExecutionId>> expected;
  for (int round = 0; round < 3; ++round) {
    for (int priority : {5, 100, 0}) {
      for (const std::uint16_t spread : std::initializer_list<std::uint16_t>{7, 3, 5}) {
        Submission submission = job();
        submission.execution_id = next_id(spread);
        submission.priority = priority;
        expected.emplace_back(-priority, submit(submission));
      }
    }
    advance(10);
  }
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ExecutionId> order;
  for (const auto& [priority, id] : expected) order.push_back(id);
  EXPECT_EQ(ids_of(claim(100)), order);
}

TEST_P(Executions, T13_work_that_a_worker_cannot_do_hides_nothing) {
  Submission gpu = job(R"({"priority": 9000, "routing_requirements": {"required_capabilities": ["gpu"]}})");
  submit(gpu);
  Submission other_kind = job();
  other_kind.execution_kind = "other";
  other_kind.priority = 8'000;
  submit(other_kind);
  const auto plain = submit();
  ClaimRequest request_job = request("w1", 10);
  request_job.kinds = {"job"};
  EXPECT_THAT(ids_of(must(fabric.claim(request_job))), ElementsAre(plain));
}

TEST_P(Executions, T14_concurrent_claimers) {
  constexpr std::size_t kWork = 300;
  for (int claimers : {2, 64}) {
    std::vector<Submission> work(kWork);
    for (auto& submission : work) submission.execution_kind = "job";
    for (const auto& answer : fabric.submit_all(work)) ASSERT_THAT(answer, Succeeds());
    std::mutex mutex;
    std::map<ExecutionId, int> returned;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < claimers; ++i)
        threads.emplace_back([&, i] {
          const std::string name = fmt::format("w{}", i);
          eventually([&] {
            const auto tasks = claim(3, name);
            std::lock_guard guard(mutex);
            for (const auto& task : tasks) ++returned[task.execution.execution_id];
            return returned.size() == kWork;
          });
        });
    }
    EXPECT_EQ(returned.size(), kWork);
    for (const auto& [id, times] : returned) EXPECT_EQ(times, 1) << id.to_string();
    for (const auto& [id, times] : returned) EXPECT_EQ(get(id).counters.current_lease_epoch, 1U);
  }
}

TEST_P(Executions, T15_first_claim) {
  const auto id = submit();
  advance(1'000);
  ClaimRequest with_ttl = request("w1");
  with_ttl.lease_ttl_ms = 9'000;
  const auto tasks = must(fabric.claim(with_ttl));
  ASSERT_THAT(tasks, SizeIs(1));
  const ClaimedTask& task = tasks.front();
  EXPECT_EQ(task.kind, HandleKind::fresh);
  EXPECT_EQ(task.lease_epoch, 1U);
  EXPECT_EQ(task.lease_expires_at_ms, now() + 9'000);
  EXPECT_EQ(task.attempt.attempt_index, 0U);
  EXPECT_EQ(task.attempt.attempt_type, AttemptType::initial);

  const Execution execution = get(id);
  EXPECT_EQ(vector_of(id), kRunning);
  EXPECT_EQ(execution.times.started_at_ms, now());
  EXPECT_EQ(execution.times.last_transition_at_ms, now());
  EXPECT_EQ(execution.counters.current_lease_epoch, 1U);
  EXPECT_EQ(execution.counters.claim_count, 1U);
  EXPECT_EQ(execution.counters.total_attempt_count, 1U);
  ASSERT_TRUE(execution.lease);
  EXPECT_EQ(execution.lease->worker_id, "pool");
  EXPECT_EQ(execution.lease->worker_instance_id, "w1");
  EXPECT_EQ(execution.lease->acquired_at_ms, now());
  EXPECT_EQ(execution.lease->last_renewed_at_ms, now());
  EXPECT_EQ(execution.lease->expires_at_ms, now() + 9'000);
  ASSERT_TRUE(execution.current_attempt);
  EXPECT_EQ(*execution.current_attempt, task.attempt);

  const Attempt attempt = attempts(id).at(0);
  EXPECT_THAT(attempt_lines(id), ElementsAre("0 initial started"));
  EXPECT_EQ(attempt.attempt_id, task.attempt.attempt_id);
  EXPECT_EQ(attempt.created_at_ms, now());
  EXPECT_EQ(attempt.started_at_ms, now());
  EXPECT_EQ(attempt.lease_id, execution.lease->lease_id);
  EXPECT_EQ(attempt.worker_instance_id, "w1");

  const Event event = history(id).at(0);
  EXPECT_THAT(events(id), ElementsAre("lease acquired"));
  EXPECT_EQ(event.lease_id, execution.lease->lease_id);
  EXPECT_EQ(event.lease_epoch, 1U);
  EXPECT_EQ(event.attempt_index, 0U);
  EXPECT_EQ(event.attempt_id, attempt.attempt_id);
  EXPECT_EQ(event.worker_id, "pool");
  EXPECT_EQ(event.worker_instance_id, "w1");

  // Later attempts keep started_at.
  const TimeMs started = now();
  must(fail(task));
  advance(2'000);
  claim();
  EXPECT_EQ(get(id).times.started_at_ms, started);
}

TEST_P(Executions, T16_the_three_kinds_of_claim) {
  const auto id = submit(R"({"retry_policy": {"max_retries": 5, "backoff": {"type": "fixed", "delay_ms": 0}}})");
  must(fail(claim()));  // attempt 0, epoch 1
  must(fail(claim()));  // attempt 1, epoch 2
  EXPECT_EQ(vector_of(id), kWaitingRetry);

  ClaimedTask task = claim("w2");
  EXPECT_EQ(task.kind, HandleKind::fresh);
  EXPECT_EQ(task.attempt.attempt_index, 2U);
  EXPECT_EQ(task.attempt.attempt_type, AttemptType::retry);
  EXPECT_EQ(task.lease_epoch, 3U);

  must(fabric.delay({.handle = task.handle, .delay_ms = 0}));
  const ClaimedTask resumed = claim("w3");
  EXPECT_EQ(resumed.kind, HandleKind::resumed);
  EXPECT_EQ(resumed.attempt, task.attempt);
  EXPECT_EQ(resumed.lease_epoch, 4U);

  advance(30'001);
  EXPECT_EQ(vector_of(id), kLeaseLost);
  const ClaimedTask reclaimed = claim("w4");
  EXPECT_EQ(reclaimed.kind, HandleKind::reclaimed);
  EXPECT_EQ(reclaimed.attempt.attempt_index, 3U);
  EXPECT_EQ(reclaimed.attempt.attempt_type, AttemptType::reclaim);
  EXPECT_EQ(reclaimed.lease_epoch, 5U);
  EXPECT_THAT(attempt_lines(id),
              ElementsAre("0 initial ended_failure retry", "1 retry ended_failure retry",
                          "2 retry interrupted_reclaimed interrupted_reclaimed", "3 reclaim started"));
}

TEST_P(Executions, T19_claim_repeated_with_its_key) {
  for (int i = 0; i < 5; ++i) {
    Submission submission = job();
    submission.payload = fmt::format("payload {}", i);
    submission.priority = i % 3;
    submit(submission);
  }
  ClaimRequest keyed = request("w1", 2);
  keyed.idempotency_key = "try-1";
  const auto first = must(fabric.claim(keyed));
  ASSERT_THAT(first, SizeIs(2));
  const auto again = must(fabric.claim(keyed));
  ASSERT_THAT(again, SizeIs(2));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(again[i].handle, first[i].handle);
    EXPECT_EQ(again[i].payload, first[i].payload);
    EXPECT_EQ(again[i].kind, first[i].kind);
    EXPECT_EQ(again[i].execution, first[i].execution);
    EXPECT_EQ(again[i].attempt, first[i].attempt);
    EXPECT_EQ(again[i].lease_expires_at_ms, first[i].lease_expires_at_ms);
    EXPECT_EQ(get(first[i].execution.execution_id).counters.claim_count, 1U);
  }

  ClaimRequest other_key = keyed;
  other_key.idempotency_key = "try-2";
  EXPECT_THAT(must(fabric.claim(other_key)), SizeIs(2)) << "another key gets other work";
  ClaimRequest other_worker = keyed;
  other_worker.worker_instance_id = "w2";
  EXPECT_THAT(must(fabric.claim(other_worker)), SizeIs(1)) << "a key belongs to its worker instance";

  // Those that ended are no longer given again; when all have, the key means nothing.
  must(complete(first[0]));
  EXPECT_THAT(must(fabric.claim(keyed)), SizeIs(1));
  must(complete(first[1]));
  EXPECT_THAT(must(fabric.claim(keyed)), IsEmpty());
  submit();
  EXPECT_THAT(must(fabric.claim(keyed)), SizeIs(1));
}

TEST_P(Executions, T19_a_key_finds_work_that_another_process_submitted) {
  const auto id = submit();
  const Opened other = open_another();
  ClaimRequest keyed = request();
  keyed.idempotency_key = "try-1";
  const auto tasks = must(other.fabric.claim(keyed));
  ASSERT_THAT(tasks, SizeIs(1)) << "without waiting";
  EXPECT_EQ(tasks[0].execution.execution_id, id);
}

TEST_P(Executions, T19_the_key_means_nothing_after_the_leases_lapsed) {
  const auto id = submit();
  ClaimRequest keyed = request("w1", 2);
  keyed.idempotency_key = "try-1";
  const auto first = must(fabric.claim(keyed));
  ASSERT_THAT(first, SizeIs(1));
  clock->advance(30'000);  // lapsed, and no sweep has marked it yet
  EXPECT_THAT(must(fabric.claim(keyed)), IsEmpty());
  advance(1);
  const auto second = must(fabric.claim(keyed));
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].execution.execution_id, id);
  EXPECT_EQ(second[0].kind, HandleKind::reclaimed);
  EXPECT_NE(second[0].handle, first[0].handle);
  const auto again = must(fabric.claim(keyed));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].handle, second[0].handle);
  EXPECT_EQ(again[0].kind, HandleKind::reclaimed);
}

TEST_P(Executions, T21_at_most_max) {
  std::vector<ExecutionId> expected;
  for (int i = 0; i < 25; ++i) expected.push_back(submit());
  std::vector<ExecutionId> claimed;
  for (std::size_t size : {10, 10, 5, 0}) {
    const auto tasks = ids_of(claim(10));
    EXPECT_THAT(tasks, SizeIs(size));
    claimed.insert(claimed.end(), tasks.begin(), tasks.end());
  }
  EXPECT_EQ(claimed, expected);
  EXPECT_THAT(fabric.claim(request("w1", 0)), RefusedWith(ErrorCode::invalid_input, "field", "max"));
  EXPECT_THAT(fabric.claim(request("w1", 1'001)), RefusedWith(ErrorCode::invalid_input, "field", "max"));
  ClaimRequest short_lease = request();
  short_lease.lease_ttl_ms = 999;
  EXPECT_THAT(fabric.claim(short_lease), RefusedWith(ErrorCode::invalid_input, "field", "lease_ttl_ms"));
}

TEST_P(Domain, T21_two_workers_race_for_one) {
  for (int round = 0; round < 20; ++round) {
    const auto id = submit();
    std::atomic<int> won = 0;
    {
      std::jthread one([&] { won += static_cast<int>(claim(1, "w1").size()); });
      std::jthread two([&] { won += static_cast<int>(claim(1, "w2").size()); });
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(get(id).counters.current_lease_epoch, 1U);
    EXPECT_THAT(events(id), ElementsAre("lease acquired"));
  }
}

}  // namespace ff::test
