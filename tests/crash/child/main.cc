// A process that works on a data set until it is killed or told to end: many claimers with quick completions, each
// acknowledged one written to a file that the test compares with the store.
//
//     ff_crash_child STORE_URL OUTPUT_FILE WORKERS CLAIM_MAX LEASE_TTL_MS

#include <flowfabric/fabric.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace {

/// Closed by the parent: the sign to end in good order.
bool parent_is_gone() {
  char byte = 0;
  return read(STDIN_FILENO, &byte, 1) == 0;
}

class Output {
 public:
  explicit Output(const char* path) : file_(std::fopen(path, "a")) {}
  ~Output() { std::fclose(file_); }
  void line(const std::string& text) {
    std::lock_guard guard(mutex_);
    std::fprintf(file_, "%s\n", text.c_str());
    std::fflush(file_);
  }

 private:
  std::mutex mutex_;
  std::FILE* file_;
};

/// One claimer. Completions are sent without waiting; slots come back as they are answered.
void work(const ff::Fabric& fabric, std::uint32_t number, std::uint32_t claim_max, std::uint32_t lease_ttl_ms,
          const std::atomic<bool>& stop, Output& output) {
  auto held = std::make_shared<std::atomic<std::uint32_t>>(0);
  ff::ClaimRequest request;
  request.worker_id = "crash";
  request.worker_instance_id = "p" + std::to_string(getpid()) + "-" + std::to_string(number);
  request.lanes = {"default"};
  request.wait_ms = 200;
  request.lease_ttl_ms = lease_ttl_ms;
  while (!stop) {
    const std::uint32_t busy = held->load();
    if (busy >= claim_max) {
      held->wait(busy);
      continue;
    }
    request.max = claim_max - busy;
    auto tasks = fabric.claim(request);
    if (!tasks) {
      std::fprintf(stderr, "claim: %s\n", tasks.error().to_string().c_str());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    held->fetch_add(static_cast<std::uint32_t>(tasks->size()));
    for (auto& task : *tasks) {
      const std::string id = task.execution.execution_id.to_string();
      const std::string lease = id + " " + std::to_string(task.lease_epoch) + " " + task.attempt.attempt_id.to_string();
      output.line("leased " + lease);
      fabric.complete({.handle = task.handle, .result = id, .content_type = std::nullopt},
                      [held, id, &output](ff::Result<ff::Changed> done) {
                        output.line((done ? "completed " : "refused ") + id);
                        held->fetch_sub(1);
                        held->notify_all();
                      });
    }
  }
  while (const std::uint32_t busy = held->load()) held->wait(busy);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  auto fabric = ff::open(argv[1]);
  if (!fabric) {
    std::fprintf(stderr, "open: %s\n", fabric.error().to_string().c_str());
    return 1;
  }
  Output output(argv[2]);
  std::atomic<bool> stop = false;
  std::vector<std::thread> workers;
  for (int i = 0; i < std::atoi(argv[3]); ++i)
    workers.emplace_back([&, i] {
      work(*fabric, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(std::atoi(argv[4])),
           static_cast<std::uint32_t>(std::atoi(argv[5])), stop, output);
    });
  while (!parent_is_gone()) {
  }
  stop = true;
  for (auto& worker : workers) worker.join();
  fabric->close();
  return 0;
}
