// 05, 9.2 and T92: a worker is on the list while it works, whatever the list says.

#include "worker/worker_world.h"

namespace ff::test {
namespace {

class WorkerRegistry : public WorkerTest {
 protected:
  /// Signs of life come about three times a second.
  static WorkerOptions lively(std::uint32_t concurrency = 2) {
    WorkerOptions options = brief(concurrency);
    options.worker_id = "pool";
    options.liveness_ttl_ms = 1'000;
    return options;
  }
  std::vector<std::string> listed() {
    std::vector<std::string> names;
    for (const auto& item : must(fabric.workers()).items) names.push_back(item.worker_instance_id);
    return names;
  }
  std::ptrdiff_t signs(const std::string& name) const {
    const auto all = wire->signs();
    return std::count(all.begin(), all.end(), name);
  }
  /// Keeps what the worker logs.
  LogSink keeping() {
    return [this](LogLevel, std::string_view message, std::span<const LogField>) {
      std::lock_guard guard(mutex);
      logged.emplace_back(message);
    };
  }
  std::ptrdiff_t lines_with(std::string_view text) {
    std::lock_guard guard(mutex);
    return std::count_if(logged.begin(), logged.end(), [&](const auto& line) { return line.find(text) != line.npos; });
  }

  std::mutex mutex;
  std::vector<std::string> logged;
};

}  // namespace

TEST_F(WorkerRegistry, a_worker_introduces_itself) {
  WorkerOptions options = lively(3);
  options.lanes = {"default", "video"};
  options.capabilities = {"gpu"};
  run(options, [](Task&) { return ff::complete(); });
  ASSERT_TRUE(eventually([&] { return wire->signs().size() >= 1; }));
  const RegisterWorker said = wire->introduced();
  EXPECT_EQ(said.worker_id, "pool");
  EXPECT_EQ(said.worker_instance_id, "w1");
  EXPECT_THAT(said.lanes, ElementsAre("default", "video"));
  EXPECT_THAT(said.capabilities, ElementsAre("gpu"));
  EXPECT_THAT(said.kinds, ElementsAre("job"));
  EXPECT_EQ(said.liveness_ttl_ms, 1'000U);
  EXPECT_EQ(said.max_concurrent_tasks, 3U);
  ASSERT_TRUE(said.boot_id);
  EXPECT_FALSE(said.boot_id->is_nil());
  EXPECT_TRUE(said.client_version);
  EXPECT_EQ(wire->signs().front(), "register");
  EXPECT_TRUE(eventually([&] { return listed() == std::vector<std::string>{"w1"}; }));
}

TEST_F(WorkerRegistry, who_takes_everything_names_no_kinds) {
  worker = std::make_unique<Worker>(Fabric(wire), lively());
  worker->on("job", [](Task&) { return ff::complete(); }).on_any([](Task&) { return ff::complete(); });
  run();
  ASSERT_TRUE(eventually([&] { return wire->signs().size() >= 1; }));
  EXPECT_THAT(wire->introduced().kinds, IsEmpty());
}

TEST_F(WorkerRegistry, the_time_to_live_follows_the_lease) {
  WorkerOptions options = lively();
  options.liveness_ttl_ms.reset();
  options.lease_ttl_ms = 45'000;
  run(options, [](Task&) { return ff::complete(); });
  ASSERT_TRUE(eventually([&] { return wire->signs().size() >= 1; }));
  EXPECT_EQ(wire->introduced().liveness_ttl_ms, 90'000U);
  stop_and_join();
  options.lease_ttl_ms = 1'000;
  run(options, [](Task&) { return ff::complete(); });
  ASSERT_TRUE(eventually([&] { return signs("register") >= 2; }));
  EXPECT_EQ(wire->introduced().liveness_ttl_ms, 60'000U) << "a minute at least";
}

TEST_F(WorkerRegistry, T92_signs_of_life_while_all_slots_are_busy) {
  submit();
  std::atomic<bool> started = false;
  run(lively(1), [&](Task&) {
    started = true;
    door->wait();
    return ff::complete();
  });
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  const auto before = signs("heartbeat");
  EXPECT_TRUE(eventually([&] { return signs("heartbeat") >= before + 3; }));
  EXPECT_EQ(signs("register"), 1);
}

TEST_F(WorkerRegistry, T92_who_was_struck_off_enters_again) {
  run(lively(), [](Task&) { return ff::complete(); });
  ASSERT_TRUE(eventually([&] { return listed().size() == 1; }));
  const auto boot_id = wire->introduced().boot_id;
  must(fabric.mark_worker_dead({.worker_instance_id = "w1", .reason = "by mistake"}));
  EXPECT_TRUE(eventually([&] { return signs("register") >= 2 && listed().size() == 1; }));
  EXPECT_EQ(wire->introduced().boot_id, boot_id) << "the same start of the process";
}

TEST_F(WorkerRegistry, T89_a_worker_that_ends_is_off_the_list) {
  run(lively(), [](Task&) { return ff::complete(); });
  ASSERT_TRUE(eventually([&] { return listed().size() == 1; }));
  EXPECT_EQ(must(stop_and_join()), 0U);
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(wire->signs().back(), "deregister");
  EXPECT_EQ(signs("deregister"), 1);
}

TEST_F(WorkerRegistry, a_list_that_refuses_stops_nothing) {
  wire->refuse_signs(ErrorCode::forbidden);
  const auto id = submit();
  WorkerOptions options = lively();
  options.log = keeping();
  run(options, [](Task&) { return ff::complete(); });
  EXPECT_TRUE(comes_to(id, PublicState::completed));
  EXPECT_TRUE(eventually([&] { return signs("register") >= 3; })) << "asked again and again";
  EXPECT_EQ(lines_with("does not take this one"), 1) << "said once";
  wire->refuse_signs(std::nullopt);
  EXPECT_TRUE(eventually([&] { return lines_with("on the list of workers again") == 1; }));
  wire->refuse_signs(ErrorCode::store_unavailable);
  EXPECT_TRUE(eventually([&] { return lines_with("does not take this one") == 2; }));
  EXPECT_EQ(must(stop_and_join()), 0U) << "a farewell that fails is no failure";
}

TEST_F(WorkerRegistry, a_worker_comes_back_when_all_could_be_reached_again) {
  WorkerOptions options = lively();
  options.log = keeping();
  options.wait_ms = 50;
  run(options, [](Task&) { return ff::complete(); });
  ASSERT_TRUE(eventually([&] { return listed().size() == 1; }));
  wire->cut = true;
  ASSERT_TRUE(eventually([&] { return listed().empty(); })) << "missed";
  EXPECT_TRUE(eventually([&] { return lines_with("a claim failed") == 1; })) << "said once";
  const auto id = submit();
  wire->cut = false;
  EXPECT_TRUE(comes_to(id, PublicState::completed));
  EXPECT_TRUE(eventually([&] { return listed().size() == 1; }));
  EXPECT_EQ(lines_with("claims are answered again"), 1);
}

TEST_F(WorkerRegistry, who_does_not_register_says_nothing) {
  WorkerOptions options = lively();
  options.registers = false;
  const auto id = submit();
  run(options, [](Task&) { return ff::complete(); });
  EXPECT_TRUE(comes_to(id, PublicState::completed));
  stop_and_join();
  EXPECT_THAT(wire->signs(), IsEmpty());
}

}  // namespace ff::test
