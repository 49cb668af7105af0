// Two processes with sixteen workers each on one file; one is killed with -9 halfway.

#include "crash/shared_load.h"
#include "support/temp_folder.h"

#include <gtest/gtest.h>

namespace ff::test {

TEST(Crash, T35_two_processes_share_a_file_and_one_is_killed) {
  TempFolder folder;
  const std::string url = "sqlite:" + folder.file("shared.db");
  auto fabric = open(url);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  const auto ids = submit_many(*fabric);
  const std::vector<std::string> logs = {folder.file("a.log"), folder.file("b.log")};
  ChildProcess first = start_workers(url, logs[0]), second = start_workers(url, logs[1]);
  wait_for_completions(logs, kExecutions / 2);
  first.kill();
  EXPECT_TRUE(wait_until_done(*fabric));
  EXPECT_EQ(second.finish(), 0);
  expect_each_done_once(*fabric, ids, logs);
  fabric->close();
}

}  // namespace ff::test
