// Order and separation. Within a lane the higher priority comes first, and the older among equals. Lanes are queues of
// their own: one that is paused, or full of work, does not hold up the others.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <iostream>
#include <mutex>
#include <thread>

int main() {
  ff::Fabric fabric = must(ff::open(store_or("sqlite:lanes.db")));

  // Submitted before any worker is there, so that they wait together.
  std::vector<ff::ExecutionId> mails;
  auto mail = [&](const char* text, int priority) {
    const ff::Submission submission{.execution_kind = "mail", .lane_id = "mail", .payload = text, .priority = priority};
    mails.push_back(must(fabric.submit(submission)).execution_id);
  };
  mail("newsletter", 0);
  mail("reminder", 10);
  mail("second reminder", 10);
  mail("password reset", 900);
  const auto report =
      must(fabric.submit({.execution_kind = "report", .lane_id = "reports", .payload = "november"})).execution_id;

  // Nothing of a paused lane is handed out; it still accepts submissions.
  must(fabric.pause_lane("reports", "the warehouse is being moved"));

  std::mutex mutex;
  std::vector<std::string> done;
  auto note = [&](ff::Task& task) -> ff::Outcome {
    std::lock_guard guard(mutex);
    std::cout << task.lane() << ": " << task.payload() << "\n";
    done.push_back(task.payload());
    return ff::complete();
  };
  // One worker serves both lanes, one task at a time.
  ff::Worker worker(fabric, {.lanes = {"mail", "reports"}, .concurrency = 1});
  worker.on("mail", note).on("report", note);
  std::jthread working([&] { must(worker.run()); });

  for (const auto& id : mails) must(fabric.wait(id, std::chrono::seconds(60)));
  {
    std::lock_guard guard(mutex);
    expect(done == std::vector<std::string>{"password reset", "reminder", "second reminder", "newsletter"},
           "the mails went out by priority, then by age");
  }

  std::cout << must(fabric.get(report)).why.text << "\n";
  for (const auto& status : must(fabric.lanes()).items)
    std::cout << "lane " << status.lane.lane_id << ": " << status.depth.eligible.value << " waiting, "
              << status.depth.terminal.value << " ended\n";
  expect(must(fabric.get(report)).state.public_state == ff::PublicState::waiting, "the report waits");

  must(fabric.resume_lane("reports"));
  expect(must(fabric.wait(report, std::chrono::seconds(60))).state.public_state == ff::PublicState::completed,
         "after the resume it ran");
  worker.stop();
}
