// Takes of several processes on one queue: they pass over what others hold, and give nothing twice.

#include "store/postgres_fixture.h"

#include "store/postgres/connection.h"

#include <set>
#include <thread>

namespace ff::test {
namespace {

class PostgresTakes : public OnPostgres {
 protected:
  static std::vector<ExecutionId> claim(Opened& opened, std::uint32_t max, int worker = 0) {
    const std::string name = "w" + std::to_string(worker);
    std::vector<ExecutionId> taken;
    for (const auto& task :
         must(opened.fabric.claim({.worker_id = name, .worker_instance_id = name, .lanes = {"default"}, .max = max})))
      taken.push_back(task.execution.execution_id);
    return taken;
  }
  static std::vector<ExecutionId> submit(Opened& opened, int count) {
    std::vector<ExecutionId> made;
    for (int i = 0; i < count; ++i) made.push_back(must(opened.fabric.submit({.execution_kind = "k"})).execution_id);
    return made;
  }
};

TEST_F(PostgresTakes, two_processes_with_several_workers_share_a_queue_without_giving_anything_twice) {
  Opened here = open({.sweeps = false, .executors = 2}), there = open({.sweeps = false, .executors = 2});
  constexpr int kCount = 600, kWorkers = 8;
  submit(here, kCount);
  std::mutex mutex;
  std::vector<ExecutionId> all;
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < kWorkers; ++worker)
    threads.emplace_back([&, worker] {
      while (true) {
        const auto taken = claim(worker % 2 == 0 ? here : there, 5, worker);
        std::lock_guard guard(mutex);
        all.insert(all.end(), taken.begin(), taken.end());
        if (all.size() >= kCount) return;
      }
    });
  threads.clear();
  EXPECT_EQ(all.size(), std::size_t{kCount});
  EXPECT_EQ(std::set<ExecutionId>(all.begin(), all.end()).size(), std::size_t{kCount});
}

TEST_F(PostgresTakes, a_candidate_that_somebody_has_locked_is_passed_over) {
  Opened here = open({.sweeps = false});
  const auto made = submit(here, 3);
  store::postgres::Connection other(must(store::postgres::parse_url(url())), {});
  ASSERT_TRUE(other.open(std::chrono::seconds(10)));
  must(other.execute("BEGIN; SELECT FROM ff_exec_core WHERE ctid = (SELECT ctid FROM ff_exec_core ORDER BY execution_id "
                     "LIMIT 1) FOR UPDATE"));
  EXPECT_THAT(claim(here, 1), ::testing::ElementsAre(made[1]));
  EXPECT_THAT(claim(here, 1), ::testing::ElementsAre(made[2]));
  must(other.execute("ROLLBACK"));
  // As soon as the queue has been looked at again.
  EXPECT_TRUE(eventually([&] { return claim(here, 1) == std::vector{made[0]}; }));
}

TEST_F(PostgresTakes, what_is_cancelled_while_it_is_claimed_is_one_or_the_other) {
  Opened here = open({.sweeps = false, .executors = 2}), there = open({.sweeps = false, .executors = 2});
  const auto made = submit(here, 100);
  std::set<ExecutionId> cancelled, claimed;
  {
    std::jthread canceller([&] {
      for (const auto& id : made)
        if (there.fabric.cancel(id).has_value()) cancelled.insert(id);
    });
    for (int tries = 0; tries < 150 && claimed.size() < made.size(); ++tries)
      for (const auto& id : claim(here, 3)) EXPECT_TRUE(claimed.insert(id).second);
  }
  for (const auto& id : made) {
    const auto seen = must(there.fabric.get(id));
    EXPECT_EQ(seen.state.public_state == PublicState::cancelled, cancelled.contains(id));
    EXPECT_TRUE(cancelled.contains(id) || claimed.contains(id));
  }
}

}  // namespace
}  // namespace ff::test
