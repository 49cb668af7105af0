#pragma once

// Several processes with sixteen workers each on one data set, and what must hold afterwards.

#include "support/child_process.h"

#include <flowfabric/fabric.h>

#include <map>
#include <string>
#include <vector>

namespace ff::test {

inline constexpr int kExecutions = 50'000;

/// What a working process wrote down: see child/main.cc.
struct WorkLog {
  std::map<std::string, int> completed;
  std::map<std::string, std::string> leases;  ///< by execution and epoch, the attempt id
  int refused = 0;

  static WorkLog read(const std::string& path);
};

/// Submits all executions, 500 at a time.
std::vector<ExecutionId> submit_many(const Fabric& fabric);
/// A process with sixteen workers that writes down what it does.
ChildProcess start_workers(const std::string& url, const std::string& log);
/// Waits until that many completions have been acknowledged to some process, for at most two minutes.
void wait_for_completions(const std::vector<std::string>& logs, std::size_t count);
/// Whether nothing waits, runs or is left behind any more, before two minutes have gone by.
bool wait_until_done(const Fabric& fabric);

/// Every execution ended exactly once, no lease was held twice at one epoch, no acknowledged completion is lost, and no
/// process starved. Prints what each did.
void expect_each_done_once(const Fabric& fabric, const std::vector<ExecutionId>& ids,
                           const std::vector<std::string>& logs);

/// Three processes: one is killed with -9 halfway, one is stopped for ten seconds and goes on, and the third works
/// through all of it.
void survive_a_kill_and_a_stop(const std::string& url);

}  // namespace ff::test
