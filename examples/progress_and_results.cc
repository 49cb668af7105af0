// Payloads and results as types of your own, kept as JSON, and progress that others can watch.

#include <flowfabric/flowfabric.h>
#include <flowfabric/json.h>

#include "expect.h"

#include <iostream>
#include <semaphore>
#include <thread>

struct Resize {
  std::string picture;
  std::vector<int> widths;
};
BOOST_DESCRIBE_STRUCT(Resize, (), (picture, widths))

struct Resized {
  std::vector<std::string> files;
};
BOOST_DESCRIBE_STRUCT(Resized, (), (files))

int main() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:pictures.db")));
  std::binary_semaphore halfway(0), seen(0);

  ff::Worker worker(fabric);
  worker.on("resize", [&](ff::Task& task) -> ff::Outcome {
    // A payload that is not such a thing throws PayloadError, which fails the execution for good.
    const auto job = task.payload_as<Resize>();
    Resized answer;
    for (std::size_t i = 0; i < job.widths.size(); ++i) {
      answer.files.push_back(std::to_string(job.widths[i]) + "-" + job.picture);
      const auto percent = static_cast<std::uint32_t>(100 * (i + 1) / job.widths.size());
      // An error here means that the lease is gone: go on, or stop early.
      if (!task.progress(percent, "made " + answer.files.back())) return ff::fail("the task was taken away");
      if (i == 0) {  // only here so that the example can look at a moment it knows
        halfway.release();
        seen.acquire();
      }
    }
    return ff::complete(answer);  // as JSON
  });
  std::jthread working([&] { must(worker.run()); });

  const Resize job{.picture = "cat.png", .widths = {100, 200}};
  const auto id = must(fabric.submit({.execution_kind = "resize", .payload = ff::to_payload(job)})).execution_id;

  halfway.acquire();
  const auto running = must(fabric.get(id));
  std::cout << running.progress.progress_pct.value_or(0) << " %: "
            << running.progress.progress_message.value_or("") << "\n";
  expect(running.progress.progress_pct == 50u, "half of it is done");
  seen.release();

  must(fabric.wait(id, std::chrono::seconds(60)));
  const auto result = must(fabric.result(id));
  expect(result.has_value(), "there is a result");
  std::cout << result->content_type << ": " << result->bytes << "\n";
  const auto answer = ff::from_payload<Resized>(result->bytes);
  expect(answer.files == std::vector<std::string>{"100-cat.png", "200-cat.png"}, "both sizes were made");

  const auto wrong = must(fabric.submit({.execution_kind = "resize", .payload = R"({"picture": 7})"})).execution_id;
  const auto failed = must(fabric.wait(wrong, std::chrono::seconds(60)));
  std::cout << failed.why.text << "\n";
  expect(failed.state.public_state == ff::PublicState::failed && failed.counters.total_attempt_count == 1,
         "a payload that does not decode is not tried again");
  worker.stop();
}
