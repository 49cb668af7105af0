// Leased executions are not loaded again by the process that leased them. What others did to them meanwhile is found out
// when the batch is saved.

#include "store/postgres_fixture.h"

#include <future>

namespace ff::test {
namespace {

class PostgresRemembers : public OnPostgres {
 protected:
  PostgresRemembers() : here(open({.sweeps = false})), there(open({.sweeps = false})) {}

  ClaimedTask leased() {
    must(here.fabric.submit({.execution_kind = "k"}));
    return must(here.fabric.claim({.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}})).at(0);
  }

  Opened here, there;
};

TEST_F(PostgresRemembers, a_lease_that_was_revoked_elsewhere_is_not_completed) {
  const ClaimedTask task = leased();
  must(there.fabric.cancel(task.execution.execution_id));
  EXPECT_THAT(here.fabric.complete({.handle = task.handle}), Refused(ErrorCode::execution_not_active));
  EXPECT_EQ(must(there.fabric.get(task.execution.execution_id)).state.public_state, PublicState::cancelled);
}

TEST_F(PostgresRemembers, a_lease_that_was_renewed_elsewhere_is_completed_here) {
  const ClaimedTask task = leased();
  must(there.fabric.renew({.handle = task.handle}));
  must(here.fabric.complete({.handle = task.handle}));
  EXPECT_EQ(must(there.fabric.get(task.execution.execution_id)).state.public_state, PublicState::completed);
}

/// This process remembers the first lease; the second is held elsewhere, and its holder calls here.
TEST_F(PostgresRemembers, a_newer_lease_of_another_process_is_not_refused_by_what_is_remembered) {
  const ClaimedTask first = leased();
  const ExecutionId id = first.execution.execution_id;
  must(there.fabric.revoke_lease({.execution_id = id}));
  const auto again = must(there.fabric.claim({.worker_id = "v", .worker_instance_id = "v", .lanes = {"default"}}));
  ASSERT_EQ(again.size(), 1U);
  must(here.fabric.complete({.handle = again[0].handle}));
  EXPECT_THAT(here.fabric.complete({.handle = first.handle}), ::testing::Not(Succeeds()));
  EXPECT_EQ(must(there.fabric.get(id)).state.public_state, PublicState::completed);
}

TEST_F(PostgresRemembers, a_stale_record_among_many_costs_nobody_the_answer) {
  std::vector<ClaimedTask> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(leased());
  must(there.fabric.cancel(tasks[7].execution.execution_id));
  std::vector<std::promise<bool>> answers(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    here.fabric.complete({.handle = tasks[i].handle},
                         [&, i](Result<Changed> done) { answers[i].set_value(done.has_value()); });
  for (std::size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(answers[i].get_future().get(), i != 7) << i;
}

/// As a claim does that is repeated with its key: it looks at what it holds, without a lock.
TEST_F(PostgresRemembers, what_was_only_looked_at_is_compared_when_it_is_written) {
  const ExecutionId id = must(here.fabric.submit({.execution_kind = "k"})).execution_id;
  auto store = must(open_store());
  must(store->adopt_dataset({}));
  auto session = must(store->open_session());
  must(session->begin());
  store::Unit unit;
  store::Unit* units[] = {&unit};
  std::vector<core::Reads> reads;
  reads.emplace_back(unit.set).execution(id);
  must(session->load(units, reads, store::LoadMode::discover));
  must(there.fabric.change_priority(id, 9));
  auto changed = std::make_shared<core::ExecutionRecord>(*unit.set.execution(id));
  changed->priority = 5;
  ++changed->version;
  unit.set.executions().write(id, std::move(changed));
  EXPECT_THAT(session->save(units), Refused(ErrorCode::retry_exhausted));
  session->rollback();
  EXPECT_EQ(must(here.fabric.get(id)).priority, 9);
}

}  // namespace
}  // namespace ff::test
