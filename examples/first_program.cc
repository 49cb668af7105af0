// Submit a piece of work, let a worker of the same program do it, print its result.
//
// The state is in the file first.db. Stop the program at any moment and start it again: what was submitted is still
// there, and a worker takes it up.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <iostream>
#include <thread>

int main() {
  // Makes the file when it is not there. Any number of processes may open it.
  ff::Fabric fabric = must(ff::open(store_or("sqlite:first.db")));

  // A worker takes executions of the kinds it has handlers for; four at a time here.
  ff::Worker worker(fabric, {.concurrency = 4});
  worker.on("greet", [](ff::Task& task) -> ff::Outcome {
    return ff::complete("Hello, " + task.payload() + "!");  // the bytes are the result
  });
  std::jthread working([&] { must(worker.run()); });

  // When submit has returned, the work is on disk.
  const auto submitted = must(fabric.submit({.execution_kind = "greet", .payload = "world"}));
  std::cout << "submitted " << submitted.execution_id.to_string() << "\n";

  const auto ended = must(fabric.wait(submitted.execution_id, std::chrono::seconds(60)));
  expect(ended.state.public_state == ff::PublicState::completed, "it is completed, not: " + ended.why.text);

  const auto result = must(fabric.result(submitted.execution_id));
  expect(result.has_value(), "there is a result");
  std::cout << "its result is: " << result->bytes << "\n";

  worker.stop();  // finishes what it has, then run() returns
}
