#include "crash/shared_load.h"

#include "support/temp_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

namespace ff::test {
namespace {

using namespace std::chrono_literals;

constexpr int kLeaseTtlMs = 2'000;

std::uint64_t completed_count(const Fabric& fabric) {
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

}  // namespace

WorkLog WorkLog::read(const std::string& path) {
  WorkLog log;
  std::ifstream file(path);
  std::string what, id, epoch, attempt;
  while (file >> what >> id) {
    if (what == "leased" && file >> epoch >> attempt) log.leases[id + " " + epoch] = attempt;
    if (what == "completed") ++log.completed[id];
    if (what == "refused") ++log.refused;
  }
  return log;
}

std::vector<ExecutionId> submit_many(const Fabric& fabric) {
  std::vector<ExecutionId> ids;
  for (int i = 0; i < kExecutions; i += 500) {
    std::vector<Submission> batch(500, Submission{.execution_kind = "work"});
    for (auto& result : fabric.submit_all(std::move(batch))) {
      EXPECT_TRUE(result) << result.error().to_string();
      if (result) ids.push_back(result->execution_id);
    }
  }
  return ids;
}

ChildProcess start_workers(const std::string& url, const std::string& log) {
  return ChildProcess({FF_CRASH_CHILD, url, log, "16", "20", std::to_string(kLeaseTtlMs)});
}

void wait_for_completions(const std::vector<std::string>& logs, std::size_t count) {
  for (int i = 0; i < 600; ++i) {
    std::size_t done = 0;
    for (const auto& log : logs) done += WorkLog::read(log).completed.size();
    if (done >= count) return;
    std::this_thread::sleep_for(200ms);
  }
}

bool wait_until_done(const Fabric& fabric) {
  for (int i = 0; i < 2'400; ++i) {
    auto counts = fabric.lane_counts("default");
    EXPECT_TRUE(counts) << counts.error().to_string();
    if (counts && counts->eligible.value == 0 && counts->active.value == 0 && counts->reclaimable.value == 0)
      return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

void expect_each_done_once(const Fabric& fabric, const std::vector<ExecutionId>& ids,
                           const std::vector<std::string>& paths) {
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kExecutions));
  EXPECT_EQ(completed_count(fabric), ids.size());
  std::vector<WorkLog> logs;
  for (const auto& path : paths) logs.push_back(WorkLog::read(path));
  std::map<std::string, std::string> holders;
  for (const auto& log : logs) {
    EXPECT_GT(log.completed.size(), kExecutions / 20) << "a process starved";
    for (const auto& [lease, attempt] : log.leases)
      EXPECT_TRUE(holders.emplace(lease, attempt).second) << "held twice at one epoch: " << lease;
    for (const auto& [id, times] : log.completed) {
      auto result = fabric.result(*ExecutionId::parse(id));
      ASSERT_TRUE(result && *result) << "an acknowledged completion was lost: " << id;
      EXPECT_EQ((*result)->bytes, id);
    }
    std::printf("completed %zu, refused %d; ", log.completed.size(), log.refused);
  }
  std::size_t taken_over = 0;
  for (const auto& id : ids) {
    auto history = fabric.history({.execution_id = id, .cursor = "", .limit = 500});
    ASSERT_TRUE(history) << history.error().to_string();
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
  std::printf("taken over %zu\n", taken_over);
}

void survive_a_kill_and_a_stop(const std::string& url) {
  TempFolder folder;
  auto fabric = open(url);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  const auto ids = submit_many(*fabric);
  const std::vector<std::string> logs = {folder.file("killed"), folder.file("stopped"), folder.file("steady")};
  ChildProcess killed = start_workers(url, logs[0]), stopped = start_workers(url, logs[1]),
               steady = start_workers(url, logs[2]);
  wait_for_completions(logs, kExecutions / 4);
  stopped.signal(SIGSTOP);
  const std::size_t at_stop = WorkLog::read(logs[2]).completed.size();
  wait_for_completions(logs, kExecutions / 2);
  killed.kill();
  std::this_thread::sleep_for(10s);
  EXPECT_GT(WorkLog::read(logs[2]).completed.size(), at_stop) << "the others stood still";
  stopped.signal(SIGCONT);
  EXPECT_TRUE(wait_until_done(*fabric));
  EXPECT_EQ(stopped.finish(), 0);
  EXPECT_EQ(steady.finish(), 0);
  expect_each_done_once(*fabric, ids, logs);
  fabric->close();
}

}  // namespace ff::test
