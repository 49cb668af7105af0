// Functions around handlers: what every task needs is written once. One of our own, and those that come with the
// library: figures, a rate limit, and a circuit breaker that leaves a service alone while it is down.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <atomic>
#include <iostream>
#include <thread>

int main() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:middleware.db")));
  std::atomic<int> calls_to_the_bank = 0;
  auto metrics = std::make_shared<ff::TaskMetrics>();

  ff::Worker worker(fabric, {.concurrency = 1});
  // The last added is the outermost. Ours stands inside all others: it sees a task only when it really runs.
  worker.use([](ff::Task& task, const ff::Next& next) -> ff::Outcome {
    std::cout << "-> " << task.kind() << " for " << task.tags().at("customer") << "\n";
    return next(task);
  });
  // Two transient failures in a row, and the bank is left alone for a moment. Its tasks wait; they lose no retry.
  worker.use(ff::break_circuit({.failures = 2, .open_for = std::chrono::milliseconds(500)}));
  // No more than a hundred tasks a second; whoever is over it waits for its turn.
  worker.use(ff::limit_rate({.per_second = 100}));
  worker.use(ff::count_tasks(metrics));

  worker.on("charge", [&](ff::Task&) -> ff::Outcome {
    if (++calls_to_the_bank <= 2) throw std::runtime_error("the bank does not answer");
    return ff::complete();
  });
  std::jthread working([&] { must(worker.run()); });

  ff::Policy patient;
  patient.retry_policy = ff::RetryPolicy{
      .max_retries = 2, .backoff = ff::Backoff{.type = ff::BackoffType::fixed, .delay_ms = 50}};
  std::vector<ff::ExecutionId> charges;
  for (const char* customer : {"ana", "ben", "cleo", "dora"})
    charges.push_back(must(fabric.submit({.execution_kind = "charge", .tags = {{"customer", customer}}, .policy = patient}))
                          .execution_id);

  // The first two calls fail and open the circuit: the other tasks do not even try. Then the bank is back.
  for (const auto& id : charges) must(fabric.wait(id, std::chrono::seconds(60)));
  worker.stop();
  working.join();

  for (const auto& id : charges)
    expect(must(fabric.get(id)).state.public_state == ff::PublicState::completed, "all were charged");
  expect(calls_to_the_bank == 6, "two calls failed, four succeeded, and nobody knocked in between");
  std::uint64_t completed = 0;
  for (const auto& entry : metrics->snapshot().entries) {
    std::cout << entry.name << " " << entry.outcome << ": " << entry.count << "\n";  // `delayed`: given back meanwhile
    if (entry.outcome == "completed") completed = entry.count;
  }
  expect(completed == 4, "the figures say so too");
}
