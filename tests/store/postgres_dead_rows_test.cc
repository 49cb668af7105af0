// An old transaction that somebody has left open: what was taken meanwhile stands dead at the heads of the queues.

#include "store/postgres_fixture.h"

#include "store/postgres/connection.h"

#include <thread>

namespace ff::test {
namespace {

using namespace std::chrono_literals;

constexpr int kDead = 200'000;

class PostgresDeadRows : public OnPostgres {
 protected:
  PostgresDeadRows() : idle(*store::postgres::parse_url(url()), {}) {}

  /// Opens a transaction that still sees everything, then fills the queue and empties it again. The rows have clocks
  /// that have rung.
  void leave_dead_rows() {
    ASSERT_TRUE(idle.open(10s));
    must(idle.execute("SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"));
    value(
        "INSERT INTO ff_exec_core SELECT created_at_ms - n, created_at_ms - n, started_at_ms, last_mutation_at_ms, "
        "version, current_lease_epoch, queue_id, priority, state, total_attempt_count, bucket, "
        "candidate, decode(lpad(to_hex(n), 32, '0') || '0000', 'hex'), lease, worker, claim_key, details, "
        "log_places, past_attempts, policy, tags, origin, "
        "payload_content_type, payload FROM ff_exec_core, generate_series(1, " +
        std::to_string(kDead) +
        ") n; DELETE FROM ff_exec_core");
  }
  static std::vector<ClaimedTask> claim(const Fabric& fabric, std::uint32_t max = 10) {
    return must(fabric.claim({.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}, .max = max}));
  }
  /// Claims until something comes.
  static std::vector<ClaimedTask> claim_soon(const Fabric& fabric) {
    std::vector<ClaimedTask> tasks;
    EXPECT_TRUE(eventually([&] { return !(tasks = claim(fabric)).empty(); }));
    return tasks;
  }

  store::postgres::Connection idle;
};

TEST_F(PostgresDeadRows, do_not_hide_what_comes_back) {
  Opened first = open(), second = open();
  Submission job{.execution_kind = "k"};
  must(first.fabric.submit(job));
  leave_dead_rows();
  EXPECT_THAT(claim(first.fabric), ::testing::IsEmpty());
  EXPECT_THAT(claim(second.fabric), ::testing::IsEmpty());

  // Early ones that are taken, then later ones: the queue now goes on behind the early ones.
  std::vector<ExecutionId> early;
  for (int i = 0; i < 5; ++i) early.push_back(must(first.fabric.submit(job)).execution_id);
  std::vector<ClaimedTask> held;
  while (held.size() < early.size())
    for (auto& task : claim_soon(first.fabric)) held.push_back(std::move(task));
  std::this_thread::sleep_for(600ms);
  for (int i = 0; i < 5; ++i) must(first.fabric.submit(job));
  for (auto& task : claim_soon(first.fabric)) must(first.fabric.complete({.handle = task.handle}));

  // What this process puts back is there at once, first in its queue.
  must(first.fabric.revoke_lease({.execution_id = early[0]}));
  EXPECT_EQ(claim_soon(first.fabric).at(0).execution.execution_id, early[0]);
  // What another puts back is found soon.
  must(second.fabric.revoke_lease({.execution_id = early[1]}));
  EXPECT_TRUE(eventually([&] {
    for (const auto& task : claim(first.fabric))
      if (task.execution.execution_id == early[1]) return true;
    return false;
  }));
}

TEST_F(PostgresDeadRows, clocks_ring_beside_them) {
  Opened opened = open();
  must(opened.fabric.submit({.execution_kind = "k"}));
  leave_dead_rows();
  for (int round = 0; round < 3; ++round) {
    const auto id = must(opened.fabric.submit({.execution_kind = "k", .delay_ms = 300})).execution_id;
    EXPECT_TRUE(eventually([&] {
      for (const auto& task : claim(opened.fabric))
        if (task.execution.execution_id == id) return true;
      return false;
    }));
  }
}

}  // namespace
}  // namespace ff::test
