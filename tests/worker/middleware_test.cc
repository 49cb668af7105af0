// 05, 9.4: functions around handlers, in a running worker.

#include "worker/worker_world.h"

#include <flowfabric/middleware.h>

namespace ff::test {
namespace {

class WorkerMiddleware : public WorkerTest {
 protected:
  /// Notes when a task goes in and when it comes out.
  Middleware noting(const std::string& name) {
    return [this, name](Task& task, const Next& next) {
      note(name + " in");
      try {
        Outcome outcome = next(task);
        note(name + " out");
        return outcome;
      } catch (const std::exception& error) {
        note(name + " saw " + error.what());
        throw;
      }
    };
  }
  void note(std::string text) {
    std::lock_guard guard(mutex);
    notes.push_back(std::move(text));
  }

  std::mutex mutex;
  std::vector<std::string> notes;
};

}  // namespace

TEST_F(WorkerMiddleware, the_last_added_is_the_outermost) {
  worker = std::make_unique<Worker>(Fabric(wire), brief(1));
  worker->use(noting("inner")).use(noting("outer")).on("job", [this](Task&) {
    note("handler");
    return ff::complete();
  });
  run();
  EXPECT_TRUE(comes_to(submit(), PublicState::completed));
  stop_and_join();
  EXPECT_THAT(notes, ElementsAre("outer in", "inner in", "handler", "inner out", "outer out"));
}

TEST_F(WorkerMiddleware, exceptions_pass_through) {
  worker = std::make_unique<Worker>(Fabric(wire), brief(1));
  worker->use(noting("inner")).use(noting("outer")).on("job", [](Task&) -> Outcome { throw std::runtime_error("broke"); });
  run();
  const auto id = submit(R"({"retry_policy":{"max_retries":0}})");
  EXPECT_TRUE(comes_to(id, PublicState::failed));
  stop_and_join();
  EXPECT_THAT(notes, ElementsAre("outer in", "inner in", "inner saw broke", "outer saw broke"));
  EXPECT_EQ(get(id).ending.failure_reason, "broke");
}

TEST_F(WorkerMiddleware, one_that_throws_fails_the_attempt) {
  worker = std::make_unique<Worker>(Fabric(wire), brief(1));
  worker->use([](Task&, const Next&) -> Outcome { throw std::runtime_error("not today"); });
  worker->on("job", [](Task&) { return ff::complete(); });
  run();
  const auto id = submit(R"({"retry_policy":{"max_retries":0}})");
  EXPECT_TRUE(comes_to(id, PublicState::failed));
  EXPECT_EQ(get(id).ending.failure_reason, "not today");
}

TEST_F(WorkerMiddleware, T93_an_open_circuit_costs_no_retry) {
  std::atomic<bool> broken = true;
  std::atomic<int> runs = 0;
  worker = std::make_unique<Worker>(Fabric(wire), brief(1));
  worker->use(break_circuit({.failures = 1, .open_for = 200ms, .trial_delay = 20ms}));
  worker->on("job", [&](Task&) {
    ++runs;
    return broken ? ff::fail("the other side is down") : ff::complete();
  });
  run();
  const auto first = submit(R"({"retry_policy":{"max_retries":0}})");
  EXPECT_TRUE(comes_to(first, PublicState::failed));
  broken = false;
  const auto second = submit(R"({"retry_policy":{"max_retries":0}})");
  EXPECT_TRUE(comes_to(second, PublicState::completed));
  EXPECT_EQ(get(second).counters.retry_count, 0U);
  EXPECT_EQ(runs, 2);
}

TEST_F(WorkerMiddleware, T93_all_of_them_together) {
  auto metrics = std::make_shared<TaskMetrics>();
  worker = std::make_unique<Worker>(Fabric(wire), brief(4));
  worker->use(break_circuit())
      .use(limit_rate({.per_second = 10'000}))
      .use(count_tasks(metrics))
      .use(log_tasks([](LogLevel, std::string_view, std::span<const LogField>) {}));
  worker->on("job", [](Task&) { return ff::complete(); });
  run();
  for (const auto& id : submit_many(50)) EXPECT_TRUE(comes_to(id, PublicState::completed));
  stop_and_join();
  ASSERT_THAT(metrics->snapshot().entries, SizeIs(1));
  EXPECT_EQ(metrics->snapshot().entries[0].count, 50U);
}

}  // namespace ff::test
