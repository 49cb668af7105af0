// A thousand at once. submit_all sends all of them before it waits, so that they share a few commits; the answers stand
// in the order of the submissions, and one that is refused does not harm the others.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <iostream>
#include <thread>

int main() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:batch.db")));

  std::vector<ff::Submission> batch;
  for (int i = 1; i <= 1'000; ++i)
    batch.push_back({.execution_kind = "square", .payload = std::to_string(i), .tags = {{"batch", "squares"}}});
  batch[499].execution_kind = "";  // a mistake in the middle

  std::vector<ff::ExecutionId> ids;
  for (const auto& answer : fabric.submit_all(batch)) {
    if (answer)
      ids.push_back(answer->execution_id);
    else
      std::cout << "refused: " << answer.error().to_string() << "\n";
  }
  expect(ids.size() == 999, "999 were accepted");

  ff::Worker worker(fabric, {.concurrency = 16});
  worker.on("square", [](ff::Task& task) -> ff::Outcome {
    const long number = std::stol(task.payload());
    return ff::complete(std::to_string(number * number));
  });
  std::jthread working([&] { must(worker.run()); });

  long sum = 0;
  for (const auto& id : ids) {
    const auto ended = must(fabric.wait(id, std::chrono::seconds(60)));
    expect(ended.state.public_state == ff::PublicState::completed, ended.why.text);
    sum += std::stol(must(fabric.result(id))->bytes);
  }
  std::cout << "the sum of the squares is " << sum << "\n";
  expect(sum == 333'833'500 - 500 * 500, "every number was squared once");

  // Lists come in pages, here by tag and state.
  ff::ListExecutions query{.limit = 200};
  query.filter = {.state = {ff::PublicState::completed}, .tags = {{"batch", "squares"}}};
  std::size_t listed = 0;
  for (int page = 1;; ++page) {
    const auto found = must(fabric.list(query));
    listed += found.items.size();
    std::cout << "page " << page << ": " << found.items.size() << "\n";
    if (!found.next_cursor) break;
    query.cursor = *found.next_cursor;
  }
  expect(listed == ids.size(), "all of them are listed");
  worker.stop();
}
