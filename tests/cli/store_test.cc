// Several processes at one store; its schema and its verification.

#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <csignal>

namespace ff::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(CliStore, many_may_make_the_same_new_store_at_once) {
  for (int round = 0; round < 4; ++round) {
    Sandbox box;
    std::vector<Process> crowd;
    for (int i = 0; i < 8; ++i) crowd.push_back(box.start({"submit", "k"}));
    for (auto& one : crowd) {
      const Ended ended = one.wait();
      EXPECT_EQ(ended.code, 0) << ended.err;
    }
    EXPECT_THAT(box.ff_json({"list"}).at("items").as_array(), SizeIs(8));
  }
}

TEST(CliMigrate, numbers_count_for_a_new_store_only) {
  Sandbox box;
  const auto made = box.ff_json({"migrate", "--flow-partitions", "64", "--lane-spread", "2"});
  EXPECT_EQ(made.at("flow_partitions"), 64);
  EXPECT_EQ(made.at("lane_spread"), 2);
  EXPECT_EQ(box.ff_json({"migrate"}).at("flow_partitions"), 64) << "the stored numbers count";
  EXPECT_EQ(box.ff({"migrate", "--flow-partitions", "64", "--lane-spread", "2"}).code, 0);
  const Ended other = box.ff({"migrate", "--flow-partitions", "128", "--lane-spread", "2"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("stored=64, config=128"));
  for (const char* number : {"0", "-1", "70000", "many"})
    EXPECT_EQ(box.ff({"migrate", "--store", "sqlite:new.db", "--flow-partitions", number}).code, 2) << number;
}

TEST(CliCheck, works_beside_a_running_worker) {
  Sandbox box;
  Process worker = box.start({"worker", "exec", "--kind", "k", "--lease", "1s", "--quiet", "--", "sleep", "1000"});
  const std::string held = box.submit({"k"});
  box.wait_for_state(held, "active");
  const Ended ended = box.ff({"check"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("no findings"));
  EXPECT_THAT(box.ff_json({"leases"}).at("items").as_array(), SizeIs(1));
}

TEST(CliLeases, those_that_ran_out_unnoticed_are_shown_apart) {
  Sandbox box;
  Process worker = box.start({"worker", "exec", "--kind", "k", "--lease", "1s", "--quiet", "--", "sleep", "1000"});
  const std::string id = box.submit({"k"});
  box.wait_for_state(id, "active");
  worker.signal(SIGKILL);
  worker.wait();
  // Nobody with sweeps is left: the lease runs out and stays.
  EXPECT_TRUE(eventually([&] { return box.ff({"leases", "--expired"}).out.find(id) != std::string::npos; }));
  EXPECT_THAT(box.ff({"why", id}).out, HasSubstr("that time is over"));
}

}  // namespace
}  // namespace ff::test
