#pragma once

// 05, section 9: the worker runtime, over a wire that keeps what it does. Leases run on the machine's clock, as they do
// in a real worker; whatever has to be waited for is waited for generously.

#include "support/world.h"
#include "worker/wire.h"

#include <flowfabric/worker.h>

#include <thread>

namespace ff::test {

using namespace std::chrono_literals;

/// A door that handlers wait behind until the test opens it, or until they are told to stop.
class Door {
 public:
  /// False: told to stop first.
  bool wait(const std::stop_token& stop) {
    while (!open_ && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
    return open_;
  }
  void wait() {
    while (!open_) std::this_thread::sleep_for(1ms);
  }
  void open() { open_ = true; }

 private:
  std::atomic<bool> open_ = false;
};

class WorkerTest : public ::testing::Test, public World {
 protected:
  WorkerTest()
      : World(store_under_test("memory_serial"), {}, Time::by_machine),
        wire(std::make_shared<Wire>(fabric.backend())) {}
  void TearDown() override {
    door->open();
    stop_and_join();
  }

  /// Options that keep tests short: brief leases, no signals.
  static WorkerOptions brief(std::uint32_t concurrency = 8) {
    WorkerOptions options;
    options.concurrency = concurrency;
    options.worker_instance_id = "w1";
    options.lease_ttl_ms = 1'000;
    options.handle_signals = false;
    options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
    return options;
  }

  /// Runs a worker beside the test.
  void run(WorkerOptions options, Worker::Handler handler) {
    worker = std::make_unique<Worker>(Fabric(wire), std::move(options));
    worker->on("job", std::move(handler));
    run();
  }
  void run() {
    thread_ = std::thread([this] { returned = worker->run(); });
  }
  /// What `run` returned.
  Result<std::uint32_t> stop_and_join() {
    if (worker) worker->stop();
    return join();
  }
  Result<std::uint32_t> join() {
    if (thread_.joinable()) thread_.join();
    return returned;
  }

  std::vector<ExecutionId> submit_many(int count) {
    std::vector<ExecutionId> ids;
    for (int i = 0; i < count; ++i) ids.push_back(submit());
    return ids;
  }
  bool comes_to(const ExecutionId& id, PublicState state) {
    return eventually([&] { return state_of(id) == state; });
  }

  std::shared_ptr<Wire> wire;
  std::unique_ptr<Worker> worker;
  std::shared_ptr<Door> door = std::make_shared<Door>();
  Result<std::uint32_t> returned = 0U;

 private:
  std::thread thread_;
};

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

}  // namespace ff::test
