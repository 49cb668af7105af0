// What happens to work that fails: it is tried again with growing pauses, until it succeeds, or until its policy says
// that it is enough, or until a handler says that trying again is useless. Ended work can be replayed.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <atomic>
#include <iostream>
#include <thread>

namespace {

void tell(const ff::Fabric& fabric, const ff::ExecutionId& id) {
  std::cout << must(fabric.get(id)).why.text << "\n";
  for (const auto& attempt : must(fabric.attempts({.execution_id = id})).items)
    std::cout << "  attempt " << attempt.attempt_index << ", started at " << attempt.started_at_ms << ": "
              << attempt.failure_reason.value_or("fine") << "\n";
}

}  // namespace

int main() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:retries.db")));
  std::atomic<bool> printer_is_off = true;

  ff::Worker worker(fabric);
  // A failure without further words may heal. A handler that throws fails its attempt too, with what() as the message.
  worker.on("fetch", [](ff::Task& task) -> ff::Outcome {
    if (task.attempt_index() < 2) throw std::runtime_error("the other side is busy");
    return ff::complete("fetched");
  });
  worker.on("print", [&](ff::Task&) -> ff::Outcome {
    if (printer_is_off) return ff::fail("the printer is off");
    return ff::complete();
  });
  // This one cannot heal: no retry is spent on it.
  worker.on("parse", [](ff::Task&) -> ff::Outcome { return ff::fail_permanent("line 3 is no number"); });
  std::jthread working([&] { must(worker.run()); });

  // Without a policy there are three retries, after about 1, 2 and 4 seconds. Shorter here, to be quick.
  ff::Policy quick;
  quick.retry_policy = ff::RetryPolicy{
      .max_retries = 2,
      .backoff = ff::Backoff{.type = ff::BackoffType::exponential, .initial_delay_ms = 50, .multiplier = 3.0}};

  const auto fetch = must(fabric.submit({.execution_kind = "fetch", .policy = quick})).execution_id;
  const auto print = must(fabric.submit({.execution_kind = "print", .policy = quick})).execution_id;
  const auto parse = must(fabric.submit({.execution_kind = "parse", .policy = quick})).execution_id;
  for (const auto& id : {fetch, print, parse}) {
    must(fabric.wait(id, std::chrono::seconds(60)));
    tell(fabric, id);
  }
  expect(must(fabric.get(fetch)).state.public_state == ff::PublicState::completed, "the third attempt fetched it");
  expect(must(fabric.get(print)).counters.total_attempt_count == 3, "printing was tried three times");
  expect(must(fabric.get(parse)).counters.total_attempt_count == 1, "parsing was tried once");

  // Somebody switches the printer on and runs the failed work again: the same execution, one more attempt.
  printer_is_off = false;
  must(fabric.replay(print, "the printer is on"));
  must(fabric.wait(print, std::chrono::seconds(60)));
  tell(fabric, print);
  expect(must(fabric.get(print)).state.public_state == ff::PublicState::completed, "it is printed at last");
  worker.stop();
}
