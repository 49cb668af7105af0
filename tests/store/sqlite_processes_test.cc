// 07, T8: several processes on one file, and what a killed one leaves behind.

#include "store/store_file.h"
#include "support/child_process.h"
#include "support/world.h"

#include <fstream>
#include <sstream>
#include <thread>

namespace ff::test {
namespace {

class Processes : public StoreFile {
 protected:
  /// The executions that the program in `tests/crash/child` has acknowledged as completed.
  std::vector<std::string> completed(const std::string& log) const {
    std::vector<std::string> ids;
    std::ifstream file(log);
    std::string what, id;
    for (std::string line; std::getline(file, line);)
      if (std::istringstream words(line); words >> what >> id && what == "completed") ids.push_back(id);
    return ids;
  }
};

}  // namespace

TEST_F(Processes, T8_a_process_killed_between_batches) {
  constexpr std::size_t kExecutions = 2'000;
  {
    const Opened opened = open();
    for (const auto& answer : opened.fabric.submit_all(std::vector<Submission>(kExecutions, {.execution_kind = "job"})))
      must(answer);
    opened.fabric.close();
  }
  const std::string log = folder_.file("completed");
  ChildProcess child({FF_CRASH_CHILD, url(), log, "2", "5", "1000"});
  ASSERT_TRUE(eventually([&] { return completed(log).size() >= 100; }));
  child.kill();

  const Opened opened = open();
  EXPECT_THAT(faults(opened), IsEmpty());
  const auto acknowledged = completed(log);
  for (const auto& id : acknowledged)
    EXPECT_EQ(must(opened.fabric.result(must(ExecutionId::parse(id))))->bytes, id) << "acknowledged and lost";
  EXPECT_GE(std::stoull(value("SELECT count(*) FROM ff_completion_event")), acknowledged.size());
  EXPECT_EQ(value("SELECT count(*) FROM ff_exec_core"), std::to_string(kExecutions));
  EXPECT_EQ(value("SELECT count(*) FROM (SELECT execution_id FROM ff_completion_event GROUP BY execution_id HAVING "
                  "count(*) > 1)"),
            "0");
}

TEST_F(Processes, T8_everything_is_there_after_a_restart) {
  auto clock = std::make_shared<ManualClock>();
  Opened before = open({.clock = clock});
  const ExecutionId waiting = submit(before.fabric, std::string("\0\xff", 2));
  must(before.fabric.set_tags(waiting, {{"team", "red"}}));
  const auto keyed =
      must(before.fabric.submit({.execution_kind = "job", .lane_id = "keys", .idempotency_key = "order"}));
  const ClaimedTask task = claim(before.fabric);
  const Execution as_it_was = must(before.fabric.get(waiting));
  before.fabric.close();

  const Opened after = open({.clock = clock});
  const Execution as_it_is = must(after.fabric.get(waiting));
  EXPECT_EQ(as_it_is.version, as_it_was.version);
  EXPECT_EQ(as_it_is.lease, as_it_was.lease);
  EXPECT_EQ(as_it_is.tags, as_it_was.tags);
  EXPECT_EQ(must(after.fabric.payload(waiting))->bytes, std::string("\0\xff", 2));
  EXPECT_EQ(
      must(after.fabric.submit({.execution_kind = "job", .lane_id = "keys", .idempotency_key = "order"})).execution_id,
      keyed.execution_id);
  EXPECT_THAT(after.fabric.renew({.handle = task.handle}), Succeeds()) << "the handle is still good";
  EXPECT_THAT(after.fabric.complete({.handle = task.handle}), Succeeds());
  EXPECT_THAT(faults(after), IsEmpty());
}

TEST_F(Processes, T8_two_engines_on_one_file) {
  const Opened one = open(), other = open();
  const ExecutionId id = submit(one.fabric);
  std::vector<ClaimedTask> tasks;
  ASSERT_TRUE(eventually([&] {  // within the time in which an engine looks at the queues of others
    tasks = must(
        other.fabric.claim({.worker_id = "pool", .worker_instance_id = "w2", .lanes = {"default"}, .wait_ms = 100}));
    return !tasks.empty();
  }));
  EXPECT_EQ(tasks[0].execution.execution_id, id);
  EXPECT_THAT(one.fabric.renew({.handle = tasks[0].handle}), Succeeds()) << "a handle of the other is good here";
  EXPECT_THAT(one.fabric.complete({.handle = tasks[0].handle}), Succeeds());
  EXPECT_EQ(must(other.fabric.wait(id, std::chrono::seconds(30))).state.public_state, PublicState::completed);
  EXPECT_THAT(faults(one), IsEmpty());
  EXPECT_THAT(faults(other), IsEmpty());
}

/// Whoever holds the lock for too long is told from, and the call can be repeated.
TEST_F(Processes, T8_a_program_that_keeps_the_write_lock) {
  const Opened opened = open();
  std::jthread holder([this] {
    execute(
        "BEGIN IMMEDIATE; SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n LIMIT 3000000) SELECT i FROM n); COMMIT;");
  });
  auto answer = opened.fabric.submit({.execution_kind = "job"});
  EXPECT_TRUE(answer || answer.error().code == ErrorCode::resource_exhausted);
  holder.join();
  EXPECT_THAT(opened.fabric.submit({.execution_kind = "job"}), Succeeds());
  EXPECT_THAT(faults(opened), IsEmpty());
}

}  // namespace ff::test
