// A reply that is lost must not make the work happen twice. Give the submission a key: its repeat, now or after a
// restart, gets the first execution again.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <atomic>
#include <iostream>
#include <thread>

int main() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:orders.db")));
  std::atomic<int> charged = 0;

  const ff::Submission order{.execution_kind = "charge",
                             .payload = R"({"order": 17, "euros": 40})",
                             .idempotency_key = "charge-order-17"};
  const auto first = must(fabric.submit(order));
  std::cout << "first call:  " << first.execution_id.to_string() << "\n";

  // The caller never saw the answer, or crashed, and sends it again.
  const auto again = must(fabric.submit(order));
  std::cout << "second call: " << again.execution_id.to_string() << ", a duplicate\n";
  expect(again.duplicate && again.execution_id == first.execution_id, "the repeat got the first execution");

  // The same key for something else is a mistake of the caller, and is told so.
  ff::Submission other = order;
  other.payload = R"({"order": 17, "euros": 4000})";
  const auto refused = fabric.submit(other);
  expect(!refused && refused.error().code == ff::ErrorCode::idempotency_conflict, "other content is refused");
  std::cout << "other content: " << refused.error().to_string() << "\n";

  ff::Worker worker(fabric);
  worker.on("charge", [&](ff::Task& task) -> ff::Outcome {
    // A worker that dies after this line is replaced by another, which runs the handler again: what a handler does to
    // the outside world should carry a key too. The id of the execution is a good one.
    std::cout << "charging, with " << task.execution_id().to_string() << " as the key for the bank\n";
    ++charged;
    return ff::complete();
  });
  std::jthread working([&] { must(worker.run()); });
  must(fabric.wait(first.execution_id, std::chrono::seconds(60)));

  // A key is remembered after the end, for a day unless the policy's dedup_window_ms says otherwise.
  const auto late = must(fabric.submit(order));
  expect(late.duplicate && late.public_state == ff::PublicState::completed, "the late repeat learns that it is done");
  expect(charged == 1, "one charge");
  worker.stop();
}
