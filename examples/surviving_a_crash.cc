// A worker process is killed with -9 in the middle of a task, and another process takes the task over.
//
// The program starts itself again as a worker: the store, a file, is all that the processes share.

#include <flowfabric/flowfabric.h>

#include "expect.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <thread>

namespace {

const std::string kStore = store_or("sqlite:crash.db");

int work() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // for the example only: do not outlive it
  ff::Fabric fabric = must(ff::open(kStore));
  // While a task runs its lease is renewed. A worker that is gone stops renewing; when the second is over, others may
  // take its task.
  ff::Worker worker(fabric, {.lease_ttl_ms = 1'000});
  worker.on("import", [](ff::Task& task) -> ff::Outcome {
    if (task.attempt_index() == 0) std::this_thread::sleep_for(std::chrono::hours(1));
    return ff::complete("imported by attempt " + std::to_string(task.attempt_index()));
  });
  must(worker.run());  // until SIGTERM, which lets it finish what it has
  return 0;
}

pid_t start_worker() {
  char name[] = "worker", word[] = "work";
  char* words[] = {name, word, nullptr};
  pid_t pid = 0;
  expect(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, words, environ) == 0, "a worker process started");
  std::cout << "worker process " << pid << " started\n";
  return pid;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return work();

  ff::Fabric fabric = must(ff::open(kStore));
  const auto id = must(fabric.submit({.execution_kind = "import"})).execution_id;

  const pid_t first = start_worker();
  while (must(fabric.get(id)).state.public_state != ff::PublicState::active)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::cout << must(fabric.get(id)).why.text << "\n";

  std::cout << "killing " << first << "\n";
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);

  const pid_t second = start_worker();
  const auto ended = must(fabric.wait(id, std::chrono::seconds(60)));
  expect(ended.state.public_state == ff::PublicState::completed, "the second worker finished it");
  std::cout << must(fabric.result(id))->bytes << "\n";

  // Both attempts are on record, and so is the lease that was lost.
  for (const auto& attempt : must(fabric.attempts({.execution_id = id})).items)
    std::cout << "attempt " << attempt.attempt_index << " on " << attempt.worker_instance_id << ", epoch "
              << attempt.lease_epoch << "\n";
  for (const auto& event : must(fabric.history({.execution_id = id})).items)
    if (!event.event_type.empty()) std::cout << "  " << event.event_type << " " << event.reason.value_or("") << "\n";
  expect(ended.counters.total_attempt_count >= 2, "there were two attempts");
  expect(ended.counters.lease_reclaim_count >= 1, "a lease was lost and taken over");

  int status = 0;
  kill(second, SIGTERM);
  waitpid(second, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the second worker drained and ended well");
}
