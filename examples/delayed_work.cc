// Work for later: submitted with a delay, or put off by its own handler. And how to test such a thing without waiting:
// with a clock that the test moves.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <iostream>
#include <thread>

namespace {

void with_the_real_clock() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:later.db")));
  ff::Worker worker(fabric);
  worker.on("remind", [](ff::Task& task) -> ff::Outcome {
    // Put off by the handler: the same attempt goes on later, perhaps on another worker. It costs no retry.
    if (task.claim_kind() == ff::HandleKind::fresh) return ff::delay(std::chrono::milliseconds(200));
    return ff::complete("reminded");
  });
  std::jthread working([&] { must(worker.run()); });

  const auto id = must(fabric.submit({.execution_kind = "remind", .delay_ms = 300})).execution_id;
  std::cout << must(fabric.get(id)).why.text << "\n";
  const auto ended = must(fabric.wait(id, std::chrono::seconds(60)));
  const auto took = *ended.times.completed_at_ms - ended.times.created_at_ms;
  std::cout << "it ended " << took << " ms after its submission\n";
  expect(ended.state.public_state == ff::PublicState::completed && took >= 500, "both delays were kept");
  expect(ended.counters.total_attempt_count == 1, "it was one attempt");
  worker.stop();
}

void with_a_clock_of_our_own() {
  // Any store takes such a clock; in memory nothing is left behind.
  auto clock = std::make_shared<ff::ManualClock>();
  ff::Fabric fabric = must(ff::open("memory:", {.clock = clock}));
  ff::Worker worker(fabric, {.handle_signals = false});
  worker.on("invoice", [](ff::Task&) -> ff::Outcome { return ff::complete(); });
  std::jthread working([&] { must(worker.run()); });

  constexpr ff::TimeMs kDay = 24 * 60 * 60 * 1'000;
  const auto id = must(fabric.submit({.execution_kind = "invoice", .delay_ms = 30 * kDay})).execution_id;
  clock->advance(29 * kDay);
  expect(must(fabric.get(id)).state.public_state == ff::PublicState::delayed, "after 29 days it is not yet time");
  clock->advance(kDay);
  expect(must(fabric.wait(id, std::chrono::seconds(60))).state.public_state == ff::PublicState::completed,
         "after 30 days the invoice goes out");
  std::cout << "thirty days later: " << must(fabric.get(id)).why.text << "\n";
  worker.stop();
}

}  // namespace

int main() {
  with_the_real_clock();
  with_a_clock_of_our_own();
}
