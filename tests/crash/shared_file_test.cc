// Two processes with sixteen workers each on one data set; one is killed with -9 halfway.

#include "support/child_process.h"
#include "support/temp_folder.h"

#include <flowfabric/fabric.h>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <thread>

namespace ff {
namespace {

using namespace std::chrono_literals;

constexpr int kExecutions = 50'000;
constexpr std::uint32_t kLeaseTtlMs = 2'000;

struct Log {
  std::map<std::string, int> completed;
  std::map<std::string, std::string> leases;  ///< by execution and epoch, the attempt id
  int refused = 0;
};

Log read_log(const std::string& path) {
  Log log;
  std::ifstream file(path);
  std::string what, id, epoch, attempt;
  while (file >> what >> id) {
    if (what == "leased" && file >> epoch >> attempt) log.leases[id + " " + epoch] = attempt;
    if (what == "completed") ++log.completed[id];
    if (what == "refused") ++log.refused;
  }
  return log;
}

std::uint64_t terminal_count(const Fabric& fabric) {
  std::uint64_t done = 0;
  ListExecutions query;
  query.filter.state = {PublicState::completed};
  query.limit = 500;
  while (true) {
    auto page = fabric.list(query);
    EXPECT_TRUE(page) << page.error().to_string();
    if (!page) return done;
    done += page->items.size();
    if (!page->next_cursor) return done;
    query.cursor = *page->next_cursor;
  }
}

TEST(Crash, T35_two_processes_share_a_file_and_one_is_killed) {
  test::TempFolder folder;
  const std::string url = "sqlite:" + folder.file("shared.db");
  auto fabric = open(url);
  ASSERT_TRUE(fabric) << fabric.error().to_string();

  std::vector<ExecutionId> ids;
  for (int i = 0; i < kExecutions; i += 500) {
    std::vector<Submission> batch(500, Submission{.execution_kind = "work"});
    for (auto& result : fabric->submit_all(std::move(batch))) {
      ASSERT_TRUE(result) << result.error().to_string();
      ids.push_back(result->execution_id);
    }
  }

  const std::string logs[] = {folder.file("a.log"), folder.file("b.log")};
  auto child = [&](int i) {
    return test::ChildProcess({FF_CRASH_CHILD, url, logs[i], "16", "20", std::to_string(kLeaseTtlMs)});
  };
  auto first = std::make_unique<test::ChildProcess>(child(0));
  test::ChildProcess second = child(1);

  auto waiting = [&] {
    auto counts = fabric->lane_counts("default");
    return counts ? static_cast<int>(counts->eligible.value) : kExecutions;
  };
  // Counts are exact up to 10,000: halfway is seen by the log of the first process instead.
  for (int i = 0; i < 1'200 && read_log(logs[0]).completed.size() + read_log(logs[1]).completed.size() < kExecutions / 2; ++i)
    std::this_thread::sleep_for(50ms);
  first->kill();

  for (int i = 0; i < 2'400; ++i) {
    auto counts = fabric->lane_counts("default");
    ASSERT_TRUE(counts) << counts.error().to_string();
    if (waiting() == 0 && counts->active.value == 0 && counts->reclaimable.value == 0) break;
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(second.finish(), 0);
  EXPECT_EQ(terminal_count(*fabric), kExecutions);

  const Log a = read_log(logs[0]), b = read_log(logs[1]);
  EXPECT_GT(a.completed.size(), kExecutions / 20) << "the first process starved";
  EXPECT_GT(b.completed.size(), kExecutions / 20) << "the second process starved";
  for (const auto& [lease, attempt] : a.leases)
    EXPECT_FALSE(b.leases.contains(lease)) << "held twice at one epoch: " << lease;
  std::size_t taken_over = 0;
  for (const auto& id : ids) {
    auto history = fabric->history({.execution_id = id, .cursor = "", .limit = 500});
    ASSERT_TRUE(history);
    int completions = 0;
    std::set<std::uint64_t> epochs;
    for (const auto& event : history->items) {
      completions += event.kind == EventKind::completion;
      if (event.event_type != "acquired" && event.event_type != "reclaimed") continue;
      EXPECT_TRUE(epochs.insert(*event.lease_epoch).second) << id.to_string();
    }
    EXPECT_EQ(completions, 1) << id.to_string();
    taken_over += epochs.size() > 1;
  }
  for (const auto& log : {a, b})
    for (const auto& [id, times] : log.completed) {
      auto result = fabric->result(*ExecutionId::parse(id));
      ASSERT_TRUE(result && *result) << "an acknowledged completion was lost: " << id;
      EXPECT_EQ((*result)->bytes, id);
    }
  RecordProperty("taken_over", static_cast<int>(taken_over));
  std::printf("completed %zu + %zu, taken over after the kill: %zu, refused: %d\n", a.completed.size(),
              b.completed.size(), taken_over, a.refused + b.refused);
  fabric->close();
}

}  // namespace
}  // namespace ff
