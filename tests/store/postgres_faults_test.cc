// What a Postgres store does when the server, a connection or another engine gets in its way.

#include "store/postgres_fixture.h"

#include "api/backend.h"

#include <atomic>
#include <set>
#include <thread>

namespace ff::test {
namespace {

using namespace std::chrono_literals;

/// Submits, claims and completes until it is told to stop, and keeps book of what was acknowledged.
class Traffic {
 public:
  explicit Traffic(Fabric fabric, std::string name) : fabric_(std::move(fabric)), name_(std::move(name)) {
    producer_ = std::thread([this] { produce(); });
    worker_ = std::thread([this] { work(); });
  }
  ~Traffic() { stop(); }
  void stop() {
    stop_ = true;
    if (producer_.joinable()) producer_.join();
    if (worker_.joinable()) worker_.join();
  }
  std::size_t completed() const { return completed_.load(); }

  std::vector<ExecutionId> submitted;           ///< acknowledged; read after `stop`
  std::set<ExecutionId> acknowledged_complete;  ///< likewise
  std::vector<std::string> fatal;               ///< errors that are not retryable

 private:
  void produce() {
    for (int i = 0; !stop_; ++i) {
      auto done = fabric_.submit(
          {.execution_kind = "k", .payload = std::to_string(i), .idempotency_key = name_ + std::to_string(i)});
      for (int tries = 0; !done && done.error().retryable() && tries < 200; ++tries) {
        std::this_thread::sleep_for(20ms);
        done = fabric_.submit(
            {.execution_kind = "k", .payload = std::to_string(i), .idempotency_key = name_ + std::to_string(i)});
      }
      if (done)
        submitted.push_back(done->execution_id);
      else
        note(done.error());
    }
  }
  void work() {
    ClaimRequest request{.worker_id = name_, .worker_instance_id = name_, .lanes = {"default"}, .max = 20};
    request.wait_ms = 50;
    while (!stop_) {
      auto tasks = fabric_.claim(request);
      if (!tasks) {
        note(tasks.error());
        std::this_thread::sleep_for(20ms);
        continue;
      }
      for (const auto& task : *tasks) {
        auto done = fabric_.complete({.handle = task.handle});
        for (int tries = 0; !done && done.error().retryable() && tries < 200; ++tries) {
          std::this_thread::sleep_for(20ms);
          done = fabric_.complete({.handle = task.handle});
        }
        if (done) {
          acknowledged_complete.insert(task.execution.execution_id);
          ++completed_;
        } else {
          note(done.error());
        }
      }
    }
  }
  void note(const Error& error) {
    if (error.retryable()) return;
    std::lock_guard guard(mutex_);
    fatal.push_back(error.to_string());
  }

  Fabric fabric_;
  std::string name_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> completed_ = 0;
  std::mutex mutex_;
  std::thread producer_, worker_;
};

/// Everything that was acknowledged is there.
void expect_kept(const Fabric& fabric, const Traffic& traffic) {
  EXPECT_THAT(traffic.fatal, ::testing::IsEmpty());
  for (const auto& id : traffic.submitted) {
    auto found = fabric.get(id);
    ASSERT_TRUE(found) << id.to_string() << ": " << found.error().message;
    if (traffic.acknowledged_complete.contains(id)) {
      EXPECT_EQ(found->state.public_state, PublicState::completed);
    }
  }
}

class PostgresFaults : public OnPostgres {};

TEST_F(PostgresFaults, a_connection_that_is_ended_is_made_again_and_nobody_notices) {
  Opened opened = open();
  ASSERT_TRUE(opened.fabric.submit({.execution_kind = "k"}));
  Traffic traffic(opened.fabric, "w");
  for (int round = 0; round < 5; ++round) {
    const std::size_t before = traffic.completed();
    server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'flowfabric%'");
    ASSERT_TRUE(eventually([&] { return traffic.completed() > before + 20; }));
  }
  traffic.stop();
  expect_kept(opened.fabric, traffic);
}

TEST_F(PostgresFaults, two_engines_share_one_database) {
  Opened first = open(), second = open();
  Traffic one(first.fabric, "one"), two(second.fabric, "two");
  ASSERT_TRUE(eventually([&] { return one.completed() + two.completed() > 2'000; }));
  one.stop();
  two.stop();
  expect_kept(second.fabric, one);
  expect_kept(first.fabric, two);
  std::set<ExecutionId> both;
  for (const auto& id : one.acknowledged_complete)
    if (two.acknowledged_complete.contains(id)) both.insert(id);
  EXPECT_TRUE(both.empty()) << "an execution was completed twice";
  EXPECT_EQ(value("SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"), "0");
}

TEST_F(PostgresFaults, work_that_another_engine_submits_wakes_a_waiting_claim) {
  Opened first = open({.poll_interval_ms = 60'000}), second = open({.poll_interval_ms = 60'000});
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> got = false;
    ClaimRequest request{.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}};
    request.wait_ms = 20'000;
    std::thread waiter([&] {
      auto tasks = second.fabric.claim(request);
      got = tasks && tasks->size() == 1;
    });
    std::this_thread::sleep_for(100ms);
    ASSERT_TRUE(first.fabric.submit({.execution_kind = "k"}));
    waiter.join();
    EXPECT_TRUE(got);
  }
}

TEST_F(PostgresFaults, the_store_says_whether_notifications_arrive) {
  Opened opened = open();
  auto wake_ups = [&] {
    for (const auto& [name, setting] : opened.engine->store().info().settings)
      if (name == "wake_ups") return setting;
    return std::string();
  };
  EXPECT_TRUE(eventually([&] { return wake_ups() == "LISTEN"; }));
  // Cut off, the listener comes back by itself.
  server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'flowfabric listen'");
  Opened other = open();
  std::atomic<bool> got = false;
  ClaimRequest request{.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}};
  request.wait_ms = 20'000;
  std::thread waiter([&] { got = !must(opened.fabric.claim(request)).empty(); });
  ASSERT_TRUE(other.fabric.submit({.execution_kind = "k"}));
  waiter.join();
  EXPECT_TRUE(got);
}

TEST_F(PostgresFaults, batches_that_touch_the_same_executions_from_two_engines_never_deadlock) {
  Opened first = open({.sweeps = false}), second = open({.sweeps = false});
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(must(first.fabric.submit({.execution_kind = "k"})).execution_id);
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (Fabric* fabric : {&first.fabric, &second.fabric})
    for (int worker = 0; worker < 4; ++worker)
      threads.emplace_back([&, fabric, worker] {
        std::atomic<int> open_calls = 0;
        for (int i = 0; i < 400; ++i) {
          const ExecutionId& id = ids[static_cast<std::size_t>((i * 7 + worker * 13) % 40)];
          ++open_calls;
          fabric->backend()->start(ChangePriority{id, i % 50}, false, [&](const auto& done) {
            if (!done) ++failed;
            --open_calls;
          });
        }
        while (open_calls > 0) std::this_thread::sleep_for(1ms);
      });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(value("SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"), "0");
}

TEST(PostgresRestart, a_server_that_crashes_under_load_loses_nothing_that_was_acknowledged) {
  PostgresServer server(true);
  auto store = store::open_postgres(server.url(), {});
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->info().durability, Durability::full);
  auto opened = open_embedded(std::move(*store), {});
  ASSERT_TRUE(opened) << opened.error().message;
  Traffic traffic(opened->fabric, "w");
  for (int round = 0; round < 3; ++round) {
    const std::size_t before = traffic.completed();
    ASSERT_TRUE(eventually([&] { return traffic.completed() > before + 100; })) << "work goes on by itself";
    server.stop(round > 0);  // once in good order, then as in a crash
    server.start();
  }
  const std::size_t before = traffic.completed();
  ASSERT_TRUE(eventually([&] { return traffic.completed() > before + 100; }));
  traffic.stop();
  expect_kept(opened->fabric, traffic);
}

}  // namespace
}  // namespace ff::test
