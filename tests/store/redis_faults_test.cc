// What callers see, and what is kept, when a server fails.

#include "store/redis/layout.h"
#include "store/redis_load.h"
#include "support/fake_redis.h"
#include "support/redis_server.h"

namespace ff::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint16_t kPartitions = 16;

void wait_for(const Load& load, std::size_t more) {
  const std::size_t from = load.completed();
  EXPECT_TRUE(eventually([&] { return load.completed() >= from + more; })) << "the work stands still";
}

TEST(RedisFaults, two_engines_share_a_server) {
  RedisServer server;
  Load load({open_url(server.url()), open_url(server.url())}, kPartitions);
  wait_for(load, 2'000);
  EXPECT_TRUE(load.finish());
  EXPECT_THAT(load.surprises(), IsEmpty());
  load.expect_all_kept();
}

TEST(RedisFaults, a_restart_under_load_loses_nothing_that_was_acknowledged) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  Load load({open_url(server.url()), open_url(server.url())}, kPartitions);
  for (int restarts = 0; restarts < 2; ++restarts) {
    wait_for(load, 300);
    server.kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    server.start();
  }
  wait_for(load, 300);
  EXPECT_TRUE(load.finish());
  EXPECT_THAT(load.surprises(), IsEmpty());
  load.expect_all_kept();
}

TEST(RedisFaults, a_lost_library_is_loaded_again) {
  RedisServer server;
  Load load({open_url(server.url())}, kPartitions);
  for (int flushes = 0; flushes < 5; ++flushes) {
    wait_for(load, 200);
    server.call({"FUNCTION", "FLUSH"});
  }
  wait_for(load, 200);
  EXPECT_TRUE(load.finish());
  EXPECT_THAT(load.surprises(), IsEmpty());
  EXPECT_EQ(load.retries(), 0) << "callers notice nothing";
  load.expect_all_kept();
}

TEST(RedisFaults, killed_connections_do_nothing_twice) {
  RedisServer server;
  Load load({open_url(server.url()), open_url(server.url())}, kPartitions);
  for (int kills = 0; kills < 30; ++kills) {
    wait_for(load, 50);
    server.call({"CLIENT", "KILL", "TYPE", "normal"});
    server.call({"CLIENT", "KILL", "TYPE", "pubsub"});
  }
  EXPECT_TRUE(load.finish());
  EXPECT_THAT(load.surprises(), IsEmpty());
  load.expect_all_kept();
}

TEST(RedisFaults, a_commit_whose_reply_was_lost_is_answered_like_any_other) {
  RedisServer server;
  CuttingProxy proxy(server.address().port);
  Opened engine = open_url(proxy.url());
  const Fabric& fabric = engine.fabric;
  must(fabric.submit({.execution_kind = "job"}));

  proxy.cut_next_commit();
  auto submitted = fabric.submit({.execution_kind = "job"});
  ASSERT_THAT(submitted, Succeeds());
  EXPECT_FALSE(submitted->duplicate) << "it is the first, and the caller hears so";
  EXPECT_EQ(proxy.cuts(), 1);

  proxy.cut_next_commit();
  const auto tasks = must(fabric.claim(World::request("w1", 1)));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks.front().lease_epoch, 1U) << "the lease that was issued is the one that was handed out";
  EXPECT_EQ(proxy.cuts(), 2);

  proxy.cut_next_commit();
  ASSERT_THAT(fabric.complete({.handle = tasks.front().handle}), Succeeds());
  EXPECT_EQ(proxy.cuts(), 3);
  const auto history =
      must(fabric.history({.execution_id = tasks.front().execution.execution_id, .cursor = "", .limit = 50}));
  EXPECT_THAT(lines_of(history.items),
              ::testing::ElementsAre("lease acquired", HasSubstr("lease released"), "completion success"));
  engine.fabric.close();
}

TEST(RedisFaults, a_full_server_says_so_and_loses_nothing) {
  RedisServer server({"--maxmemory-policy", "noeviction"});
  Opened engine = open_url(server.url());
  const Fabric& fabric = engine.fabric;
  std::vector<ExecutionId> kept;
  for (int i = 0; i < 20; ++i) kept.push_back(must(fabric.submit({.execution_kind = "job"})).execution_id);
  const ExecutionId ended = must(fabric.submit({.execution_kind = "job"})).execution_id;
  must(fabric.cancel(ended));
  server.call({"CONFIG", "SET", "maxmemory", "1mb"});
  auto refused = fabric.submit({.execution_kind = "job"});
  ASSERT_THAT(refused, Refused(ErrorCode::resource_exhausted));
  EXPECT_THAT(refused.error().message, HasSubstr("maxmemory"));
  for (const auto& id : kept) EXPECT_THAT(fabric.get(id), Succeeds()) << "reads go on";
  EXPECT_THAT(fabric.remove(ended), Succeeds()) << "and so does what makes room";
  server.call({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_THAT(fabric.submit({.execution_kind = "job"}), Succeeds()) << "and writes, once there is room";
  EXPECT_EQ(must(fabric.lane_counts("default")).eligible.value, 21U);
  engine.fabric.close();
}

TEST(RedisFaults, work_is_found_although_its_partition_was_forgotten) {
  RedisServer server;
  Opened engine = open_url(server.url());
  const ExecutionId id{77, *Uuid::parse("01900000-0000-7000-8000-000000000001")};
  must(engine.fabric.submit({.execution_kind = "job", .execution_id = id}));
  engine.fabric.close();
  server.call({"DEL", store::redis::Place(0).places()});
  engine = open_url(server.url());
  const auto tasks = must(engine.fabric.claim(World::request("w1", 1)));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks.front().execution.execution_id, id);
  engine.fabric.close();
}

TEST(RedisFaults, commits_of_one_engine_wake_the_claimers_of_another) {
  RedisServer server;
  OpenOptions patient;
  patient.poll_interval_ms = 3'600'000;
  Opened waiting = open_url(server.url(), patient), submitting = open_url(server.url());
  ClaimRequest request = World::request("w1", 1);
  request.wait_ms = 60'000;
  std::vector<ClaimedTask> tasks;
  std::thread claimer([&] { tasks = must(waiting.fabric.claim(request)); });
  EXPECT_TRUE(eventually([&] { return waiting.engine->stats().claim_waiters == 1; }));
  must(submitting.fabric.submit({.execution_kind = "job"}));
  claimer.join();
  EXPECT_EQ(tasks.size(), 1U) << "without the wake-up the poll would have come an hour later";
  waiting.fabric.close();
  submitting.fabric.close();
}

}  // namespace
}  // namespace ff::test
