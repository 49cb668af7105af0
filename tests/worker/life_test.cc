// 05, T89 to T91: how a worker starts, stops, and bears trouble.

#include "worker/worker_world.h"

#include <csignal>

namespace ff::test {
namespace {

class WorkerLife : public WorkerTest {};

}  // namespace

TEST_F(WorkerLife, T89_a_drain_lets_handlers_finish) {
  const auto first = submit();
  std::atomic<bool> started = false;
  run(brief(1), [&](Task& task) {
    started = true;
    door->wait();
    EXPECT_FALSE(task.cancelled().stop_requested());
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  const auto second = submit();
  worker->stop();
  std::this_thread::sleep_for(1'200ms);  // longer than the lease: it is renewed meanwhile
  door->open();
  EXPECT_EQ(must(join()), 0U);
  EXPECT_EQ(state_of(first), PublicState::completed);
  EXPECT_EQ(state_of(second), PublicState::waiting) << "no new claims";
}

TEST_F(WorkerLife, T89_what_does_not_end_is_handed_back) {
  const auto id = submit();
  WorkerOptions options = brief(1);
  options.drain_timeout_ms = 50;
  options.stop_grace_ms = 50;
  auto reason = std::make_shared<std::atomic<StopReason>>(StopReason::none);
  auto started = std::make_shared<std::atomic<bool>>(false);
  auto returned_late = std::make_shared<std::atomic<bool>>(false);
  run(options, [reason, started, returned_late, held = door](Task& task) {
    *started = true;
    while (!task.cancelled().stop_requested()) std::this_thread::sleep_for(1ms);
    *reason = task.stop_reason();
    held->wait();  // does not care
    *returned_late = true;
    return ff::complete("too late");
  });
  ASSERT_TRUE(eventually([&] { return started->load(); }));
  EXPECT_EQ(must(stop_and_join()), 1U) << "handed back";
  EXPECT_TRUE(eventually([&] { return *reason == StopReason::draining; }));
  EXPECT_EQ(vector_of(id), kResumable);

  const ClaimedTask resumed = claim("w2");
  EXPECT_EQ(resumed.kind, HandleKind::resumed);
  EXPECT_EQ(resumed.attempt.attempt_index, 0U);
  EXPECT_EQ(resumed.lease_epoch, 2U);
  EXPECT_EQ(get(id).counters.retry_count, 0U);
  EXPECT_EQ(get(id).counters.lease_reclaim_count, 0U);
  door->open();
  EXPECT_TRUE(eventually([&] { return returned_late->load(); }));
  EXPECT_EQ(vector_of(id), kRunning) << "what it returned late changes nothing";
  must(complete(resumed));
}

TEST_F(WorkerLife, T89_a_handler_that_heeds_its_token_still_counts) {
  const auto id = submit();
  WorkerOptions options = brief(1);
  options.drain_timeout_ms = 20;
  options.stop_grace_ms = 30'000;
  auto started = std::make_shared<std::atomic<bool>>(false);
  run(options, [started](Task& task) {
    *started = true;
    while (!task.cancelled().stop_requested()) std::this_thread::sleep_for(1ms);
    return ff::complete("saved what there was");
  });
  ASSERT_TRUE(eventually([&] { return started->load(); }));
  EXPECT_EQ(must(stop_and_join()), 0U);
  const auto result = must(fabric.result(id));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->bytes, "saved what there was");
}

TEST_F(WorkerLife, T89_a_second_stop_skips_to_the_hand_back) {
  const auto id = submit();
  WorkerOptions options = brief(1);
  options.drain_timeout_ms = 600'000;
  options.stop_grace_ms = 600'000;
  run(options, [held = door](Task&) {
    held->wait();
    return ff::complete();
  });
  ASSERT_TRUE(comes_to(id, PublicState::active));
  worker->stop();
  worker->stop();
  EXPECT_EQ(must(join()), 1U);
  EXPECT_EQ(vector_of(id), kResumable);
}

TEST_F(WorkerLife, T89_signals_drain) {
  const auto id = submit();
  WorkerOptions options = brief(1);
  options.handle_signals = true;
  std::atomic<bool> started = false;
  run(options, [&](Task&) {
    started = true;
    door->wait();
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  std::raise(SIGTERM);
  door->open();
  EXPECT_EQ(must(join()), 0U);
  EXPECT_EQ(state_of(id), PublicState::completed);
}

TEST_F(WorkerLife, T90_tasks_that_a_claim_brings_after_the_stop) {
  wire->hold_claims();
  const auto id = submit();
  std::atomic<bool> started = false;
  run(brief(1), [&](Task&) {
    started = true;
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return wire->claims_under_way() == 1; }));
  EXPECT_EQ(vector_of(id), kRunning) << "leased, and nobody knows yet";
  worker->stop();
  wire->deliver_claims();
  EXPECT_EQ(must(join()), 1U);
  EXPECT_EQ(vector_of(id), kResumable) << "handed back";
  EXPECT_FALSE(started);
}

TEST_F(WorkerLife, T91_claims_that_fail_are_repeated_ever_more_slowly) {
  wire->refuse_claims(ErrorCode::store_unavailable);
  std::atomic<bool> done = false;
  run(brief(1), [&](Task&) {
    done = true;
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return wire->claims().size() >= 5; }));
  const auto claims = wire->claims();
  const int waits_ms[] = {50, 100, 200, 400};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_GE(claims[i + 1].at - claims[i].at, std::chrono::milliseconds(waits_ms[i]));
  wire->refuse_claims(std::nullopt);
  submit();
  EXPECT_TRUE(eventually([&] { return done.load(); }));
}

TEST_F(WorkerLife, T91_a_refusal_that_stays_ends_the_worker) {
  const auto id = submit();
  std::atomic<bool> started = false;
  run(brief(2), [&](Task&) {
    started = true;
    door->wait();
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  wire->refuse_claims(ErrorCode::unauthorized);
  must(fabric.submit({.execution_kind = "job"}));  // ends the claim that waits; the next one is refused
  door->open();
  EXPECT_THAT(join(), Refused(ErrorCode::unauthorized));
  EXPECT_EQ(state_of(id), PublicState::completed) << "drained first";
}

TEST_F(WorkerLife, wrong_options_are_named_before_any_call) {
  auto refused = [&](const std::function<void(WorkerOptions&)>& change) {
    WorkerOptions options = brief();
    change(options);
    Worker wrong(Fabric(wire), options);
    wrong.on("job", [](Task&) { return ff::complete(); });
    auto result = wrong.run();
    EXPECT_FALSE(result);
    return result ? std::string() : std::string(result.error().context.text("field"));
  };
  EXPECT_EQ(refused([](auto& o) { o.lanes.clear(); }), "lanes");
  EXPECT_EQ(refused([](auto& o) { o.lanes.assign(65, "lane"); }), "lanes");
  EXPECT_EQ(refused([](auto& o) { o.concurrency = 0; }), "concurrency");
  EXPECT_EQ(refused([](auto& o) { o.concurrency = 10'001; }), "concurrency");
  EXPECT_EQ(refused([](auto& o) { o.worker_id = "two words"; }), "worker_id");
  EXPECT_EQ(refused([](auto& o) { o.worker_instance_id = ""; }), "worker_instance_id");
  EXPECT_EQ(refused([](auto& o) { o.namespace_scope = "{a}"; }), "namespace_scope");
  EXPECT_EQ(refused([](auto& o) { o.lease_ttl_ms = 999; }), "lease_ttl_ms");
  EXPECT_EQ(refused([](auto& o) { o.wait_ms = 60'001; }), "wait_ms");
  EXPECT_EQ(refused([](auto& o) { o.liveness_ttl_ms = 999; }), "liveness_ttl_ms");
  refused([](auto& o) { o.capabilities = {"with space"}; });
  EXPECT_THAT(wire->claims(), IsEmpty());

  Worker idle(Fabric(wire), brief());
  EXPECT_THAT(idle.run(), Refused(ErrorCode::invalid_input)) << "no handler";
}

TEST_F(WorkerLife, instances_have_names_of_their_own) {
  Worker one(Fabric(wire), {}), other(Fabric(wire), {});
  EXPECT_NE(one.instance_id(), other.instance_id());
  EXPECT_THAT(one.instance_id(), HasSubstr(std::to_string(getpid())));
}

TEST_F(WorkerLife, T94_many_workers_and_each_task_once) {
  constexpr int kExecutions = 500;
  const auto ids = submit_many(kExecutions);
  std::mutex mutex;
  std::map<std::string, int> runs;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    WorkerOptions options = brief(4);
    options.worker_instance_id = "w" + std::to_string(i);
    options.lease_ttl_ms = 30'000;
    workers.push_back(std::make_unique<Worker>(fabric, options));
    workers.back()->on("job", [&](Task& task) {
      std::lock_guard guard(mutex);
      ++runs[task.execution_id().to_string()];
      return ff::complete();
    });
    threads.emplace_back([worker = workers.back().get()] { must(worker->run()); });
  }
  for (const auto& id : ids) EXPECT_TRUE(comes_to(id, PublicState::completed));
  for (auto& each : workers) each->stop();
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(runs, SizeIs(kExecutions));
  for (const auto& [id, times] : runs) EXPECT_EQ(times, 1) << id;
}

}  // namespace ff::test
