// History is dropped by partition, with the same visible result as if it were deleted row by row.

#include "store/postgres_fixture.h"

namespace ff::test {
namespace {

constexpr TimeMs kDay = 86'400'000;

class PostgresHistory : public OnPostgres {
 protected:
  PostgresHistory() : clock(std::make_shared<ManualClock>(1'700'000'000'000)) {
    store::StoreOptions of_store = options();
    of_store.clock = clock;
    opened = std::make_unique<Opened>(open({.sweeps = false, .clock = clock}, of_store));
  }
  int partitions_of(const std::string& table) {
    return std::stoi(
        value("SELECT count(*) FROM pg_inherits WHERE inhparent = '" + schema + "." + table + "'::regclass"));
  }
  Fabric& fabric() { return opened->fabric; }

  std::shared_ptr<ManualClock> clock;
  std::unique_ptr<Opened> opened;
};

TEST_F(PostgresHistory, partitions_of_ended_executions_are_dropped_with_their_tags) {
  const auto id = must(fabric().submit({.execution_kind = "k", .tags = {{"a", "b"}}})).execution_id;
  must(fabric().cancel(id));
  const auto waiting = must(fabric().submit({.execution_kind = "k", .tags = {{"a", "b"}}})).execution_id;
  EXPECT_EQ(partitions_of("ff_exec_done"), 2) << "that for long retention, and the one that was needed";
  EXPECT_EQ(value("SELECT count(*) FROM ff_exec_core"), "1");

  clock->advance(kDay);
  EXPECT_FALSE(fabric().get(id)) << "hidden as soon as its retention is over, although no sweep runs";
  EXPECT_EQ(must(fabric().list({.filter = {.tags = {{"a", "b"}}}})).items.size(), 1U);
  EXPECT_EQ(must(fabric().lane_counts("default")).terminal.value, 0U);

  clock->advance(kDay);
  EXPECT_THAT(fabric().replay(id), Refused(ErrorCode::execution_not_found)) << "and nobody can bring it back";
  ASSERT_TRUE(eventually([&] { return partitions_of("ff_exec_done") == 1; }));
  EXPECT_EQ(value("SELECT count(*) FROM ff_exec_tag"), "1");
  EXPECT_TRUE(fabric().get(waiting));
}

TEST_F(PostgresHistory, an_id_is_free_again_before_the_partition_of_its_earlier_execution_is_dropped) {
  Submission job{.execution_kind = "k", .tags = {{"a", "b"}}};
  job.policy = Policy{};
  job.policy->retention_ttl_ms = 60'000;
  job.execution_id = must(fabric().submit({.execution_kind = "k"})).execution_id;
  job.execution_id->uuid.bytes[15] ^= 1;
  for (int round = 0; round < 3; ++round) {
    must(fabric().submit(job));
    EXPECT_EQ(must(fabric().list({.filter = {.tags = {{"a", "b"}}}})).items.size(), 1U) << round;
    must(fabric().cancel(*job.execution_id));
    EXPECT_EQ(value("SELECT count(*) FROM ff_exec_done"), "1");
    clock->advance(10 * 60'000);
    EXPECT_FALSE(fabric().get(*job.execution_id));
  }
}

TEST_F(PostgresHistory, an_execution_that_is_kept_for_long_has_a_place_of_its_own) {
  Submission kept{.execution_kind = "k"};
  kept.policy = Policy{};
  kept.policy->retention_ttl_ms = 30 * kDay;
  const auto id = must(fabric().submit(kept)).execution_id;
  must(fabric().cancel(id));
  EXPECT_EQ(value("SELECT count(*) FROM ff_exec_done_far"), "1");
  clock->advance(29 * kDay);
  EXPECT_TRUE(fabric().get(id));
}

TEST_F(PostgresHistory, partitions_of_events_are_dropped_and_those_of_operators_stay) {
  Submission kept{.execution_kind = "k"};
  kept.policy = Policy{};
  kept.policy->retention_ttl_ms = 30 * kDay;
  const auto id = must(fabric().submit(kept)).execution_id;
  must(fabric().change_priority(id, 5));
  must(fabric().cancel(id));
  EXPECT_EQ(partitions_of("ff_event"), 2);
  clock->advance(2 * kDay);
  auto session = must(opened->engine->store().open_session());
  ASSERT_TRUE(session->trim_events(clock->now_ms() - kDay, clock->now_ms() - 90 * kDay, 100));
  for (const auto& event : must(fabric().history({.execution_id = id})).items)
    EXPECT_EQ(event.kind, EventKind::operator_);
  ASSERT_TRUE(eventually([&] { return partitions_of("ff_event") == 1; }));
  EXPECT_EQ(must(fabric().history({.execution_id = id})).items.front().event_type, "priority_changed");
}

TEST_F(PostgresHistory, events_of_one_shard_rise_in_the_order_of_their_commits) {
  // Two engines write to the same executions; each execution's story must read in the order in which it happened.
  store::StoreOptions of_store = options();
  of_store.clock = clock;
  Opened other = open({.sweeps = false, .clock = clock}, of_store);
  const auto id = must(fabric().submit({.execution_kind = "k"})).execution_id;
  for (int i = 1; i <= 20; ++i) must((i % 2 ? fabric() : other.fabric).change_priority(id, i));
  const auto events = must(fabric().history({.execution_id = id, .limit = 100})).items;
  ASSERT_EQ(events.size(), 20U);
  for (int i = 1; i <= 20; ++i)
    EXPECT_THAT(*events[static_cast<std::size_t>(i - 1)].details,
                ::testing::HasSubstr("\"new_priority\":" + std::to_string(i)));
}

}  // namespace
}  // namespace ff::test
