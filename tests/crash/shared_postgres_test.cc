#include "crash/shared_load.h"
#include "support/postgres_server.h"

#include <gtest/gtest.h>

namespace ff::test {

TEST(Crash, T35_three_processes_share_a_postgres_server) {
  PostgresServer server(true);
  survive_a_kill_and_a_stop(server.url());
}

}  // namespace ff::test
