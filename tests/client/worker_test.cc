// ff::Worker over the client, from end to end. Leases run on the machine's clock, as they do in a real worker.

#include "client/client_world.h"

#include <flowfabric/worker.h>

namespace ff::test {
namespace {

class ClientWorker : public ::testing::Test, public World {
 protected:
  ClientWorker() : World(store_under_test("memory_serial"), {}, Time::by_machine) {
    serve({});
    remote = must(client::open_remote(served->url(), {.log = quiet()}, {}));
  }
  ~ClientWorker() override {
    if (worker) worker->stop();
    if (thread.joinable()) thread.join();
    remote.close();
  }

  static LogSink quiet() {
    return [](LogLevel, std::string_view, std::span<const LogField>) {};
  }
  void serve(std::vector<std::string> listen) {
    ServedOptions options;
    if (!listen.empty()) options.transport.listen = std::move(listen);
    served.reset();
    served = std::make_unique<Served>(fabric, std::move(options), Served::Ends::server_only);
  }
  void run(Worker::Handler handler) {
    WorkerOptions options;
    options.concurrency = 16;
    options.lease_ttl_ms = 1'000;
    options.handle_signals = false;
    options.log = quiet();
    worker = std::make_unique<Worker>(remote, options);
    worker->on("job", std::move(handler));
    thread = std::thread([this] { returned = worker->run(); });
  }
  std::size_t count(PublicState state) { return list_all({.state = {state}}).size(); }

  std::unique_ptr<Served> served;
  Fabric remote;
  std::unique_ptr<Worker> worker;
  std::thread thread;
  Result<std::uint32_t> returned;
};

TEST_F(ClientWorker, many_tasks) {
  std::vector<Submission> many(1'000, {.execution_kind = "job"});
  for (std::size_t i = 0; i < many.size(); ++i) many[i].payload = std::to_string(i);
  for (const auto& answer : remote.submit_all(many)) must(answer);
  run([](Task& task) -> Outcome {
    if (std::stoi(task.payload()) % 10 == 0) throw std::runtime_error("broken");
    if (std::stoi(task.payload()) % 10 == 1) must(task.progress(50, "half"));
    return ff::complete(task.payload(), "application/json");
  });
  EXPECT_TRUE(eventually([&] { return count(PublicState::completed) == 900; }));
  EXPECT_TRUE(eventually([&] { return count(PublicState::delayed) + count(PublicState::waiting) + count(PublicState::failed) +
                                          count(PublicState::active) == 100; })) << "failures are tried again";
  worker->stop();
  thread.join();
  EXPECT_THAT(returned, Succeeds());
}

TEST_F(ClientWorker, leases_are_renewed_and_a_cancellation_is_seen) {
  const ExecutionId id = must(remote.submit({.execution_kind = "job"})).execution_id;
  std::atomic<bool> stopped = false;
  std::atomic<int> reason = -1;
  run([&](Task& task) -> Outcome {
    while (!task.cancelled().stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    reason = static_cast<int>(task.stop_reason());
    stopped = true;
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return get(id).lease && get(id).lease->last_renewed_at_ms > get(id).lease->acquired_at_ms + 1'000; }))
      << "longer than a lease lasts";
  must(remote.cancel(id));
  ASSERT_TRUE(eventually([&] { return stopped.load(); }));
  EXPECT_EQ(reason, static_cast<int>(StopReason::cancelled));
  EXPECT_EQ(get(id).state.public_state, PublicState::cancelled);
}

TEST_F(ClientWorker, it_works_on_through_a_restart_of_the_server) {
  std::atomic<int> begun = 0;
  run([&](Task& task) -> Outcome {
    ++begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return ff::complete(task.payload(), "text/plain");
  });
  const std::string address = served->url().substr(std::string("http://").size());
  for (int i = 0; i < 100; ++i) submit();
  ASSERT_TRUE(eventually([&] { return begun > 20; }));
  served.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  serve({address});
  EXPECT_TRUE(eventually([&] { return count(PublicState::completed) == 100; }));
}

}  // namespace
}  // namespace ff::test
