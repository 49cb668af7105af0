// The store on a cluster whose slots move and whose primaries fail.

#include "store/redis/layout.h"
#include "store/redis_load.h"
#include "support/redis_server.h"

namespace ff::test {
namespace {

using store::redis::Place;
using ::testing::IsEmpty;

constexpr std::uint16_t kPartitions = 32;

void wait_for(const Load& load, std::size_t more) {
  const std::size_t from = load.completed();
  EXPECT_TRUE(eventually([&] { return load.completed() >= from + more; })) << "the work stands still";
}

TEST(RedisCluster, slots_move_under_load) {
  RedisCluster cluster;
  Opened calm = open_url(cluster.url());
  Load load({open_url(cluster.url()), open_url(cluster.url())}, kPartitions);
  wait_for(load, 300);
  for (std::uint16_t partition : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}}) {
    const std::uint16_t slot = Place(partition).slot;
    const std::size_t from = cluster.owner(slot);
    cluster.move_slot(slot, from, (from + 1) % 3, [&] {
      // Commits of the partition that is under way wait until it has arrived; those of others do not.
      Submission other;
      other.execution_kind = "other";
      other.execution_id = ExecutionId{static_cast<std::uint16_t>(100 + partition), {}};
      EXPECT_THAT(calm.fabric.submit(other), Succeeds());
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    });
    wait_for(load, 100);
  }
  EXPECT_TRUE(load.finish());
  EXPECT_THAT(load.surprises(), IsEmpty());
  load.expect_all_kept();
  calm.fabric.close();
}

TEST(RedisCluster, a_killed_primary_is_replaced_and_nothing_confirmed_is_lost) {
  RedisCluster cluster(true, {"--appendonly", "yes", "--appendfsync", "always"});
  // On disk, and with a replica's confirmation before each answer: a failover loses nothing that was answered.
  const std::string url = cluster.url() + "?replicas=1";
  EXPECT_EQ(must(open_url(url).fabric.info()).durability, Durability::full);
  Load load({open_url(url), open_url(url)}, kPartitions);
  wait_for(load, 300);
  const std::size_t killed = cluster.owner(Place(5).slot);
  cluster.node(killed).kill();
  EXPECT_TRUE(eventually([&] { return cluster.owner(Place(5).slot) != killed; })) << "nobody took over";
  // The new primary of those slots has no replica to confirm: the killed one comes back as that.
  cluster.node(killed).start();
  wait_for(load, 300);
  EXPECT_TRUE(load.finish());
  EXPECT_THAT(load.surprises(), IsEmpty());
  load.expect_all_kept();
}

TEST(RedisCluster, every_key_lies_in_the_slot_of_its_partition) {
  RedisCluster cluster;
  Opened engine = open_url(cluster.url());
  for (int i = 0; i < 50; ++i)
    must(engine.fabric.submit({.execution_kind = "job", .idempotency_key = std::to_string(i)}));
  EXPECT_EQ(must(engine.fabric.claim(World::request("w1", 50))).size(), 50U) << "a claim reaches every node";
  std::size_t keys = 0;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const auto found = cluster.node(i).call({"KEYS", "*"});
    keys += found.value().size();
    for (std::size_t j = 0; j < found.value().size(); ++j)
      EXPECT_THAT(std::string(found[j].text()), ::testing::MatchesRegex("ff:[a-z_]+:\\{fp:[0-9]+\\}.*"));
    EXPECT_GT(found.value().size(), 0U) << "node " << i << " holds nothing";
  }
  EXPECT_GT(keys, 100U);
  engine.fabric.close();
}

}  // namespace
}  // namespace ff::test
