// Three ways to bound work in time: a deadline for all of it, a timeout for each attempt, and a person who cancels it.
// A handler that runs long looks at its stop token, and leaves when nobody waits for its result any more.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <atomic>
#include <iostream>
#include <thread>

int main() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:deadlines.db")));
  std::atomic<int> stopped = 0;

  // The worker learns of a cancellation when it next renews the lease, every third of its length.
  ff::Worker worker(fabric, {.lease_ttl_ms = 1'000});
  worker.on("endless", [&](ff::Task& task) -> ff::Outcome {
    const std::stop_token stop = task.cancelled();
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ++stopped;
    return ff::fail("stopped");  // nobody takes this outcome: the lease is gone
  });
  std::jthread working([&] { must(worker.run()); });

  // 1. A deadline counts from the submission, whether the work waits or runs. No worker has this kind.
  const auto nobody = must(fabric.submit({.execution_kind = "a_kind_without_worker",
                                          .policy = ff::Policy{.timeout_policy = {{.execution_deadline_ms = 300}}}}));
  const auto expired = must(fabric.wait(nobody.execution_id, std::chrono::seconds(60)));
  std::cout << expired.why.text << "\n";
  expect(expired.state.public_state == ff::PublicState::expired, "it expired while it waited");

  // 2. A timeout per attempt; retries count, so there are two attempts here.
  ff::Policy short_attempts;
  short_attempts.timeout_policy = ff::TimeoutPolicy{.attempt_timeout_ms = 200};
  short_attempts.retry_policy = ff::RetryPolicy{
      .max_retries = 1, .backoff = ff::Backoff{.type = ff::BackoffType::fixed, .delay_ms = 50}};
  const auto slow = must(fabric.submit({.execution_kind = "endless", .policy = short_attempts}));
  const auto timed_out = must(fabric.wait(slow.execution_id, std::chrono::seconds(60)));
  std::cout << timed_out.why.text << "\n";
  expect(timed_out.state.public_state == ff::PublicState::expired, "its last attempt took too long");
  expect(timed_out.counters.total_attempt_count == 2, "it was tried twice");

  // 3. Cancelled while it runs. The execution is over at once; the handler is told soon after.
  const auto unwanted = must(fabric.submit({.execution_kind = "endless"})).execution_id;
  while (must(fabric.get(unwanted)).state.public_state != ff::PublicState::active)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  must(fabric.cancel(unwanted, "the customer left"));
  std::cout << must(fabric.get(unwanted)).why.text << "\n";
  expect(must(fabric.get(unwanted)).state.public_state == ff::PublicState::cancelled, "it is cancelled");

  worker.stop();
  working.join();
  expect(stopped >= 3, "every handler was told to stop, and did");
}
