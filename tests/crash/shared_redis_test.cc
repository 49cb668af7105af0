#include "crash/shared_load.h"
#include "support/redis_server.h"

#include <gtest/gtest.h>

namespace ff::test {

TEST(Crash, T35_three_processes_share_a_redis_server) {
  RedisServer server({"--appendonly", "yes"});
  survive_a_kill_and_a_stop(server.url());
}

TEST(Crash, T35_three_processes_share_a_redis_cluster) {
  RedisCluster cluster;
  survive_a_kill_and_a_stop(cluster.url());
}

}  // namespace ff::test
