// History is dropped by partition, with the same visible result as if it were deleted row by row.

#include "store/postgres_fixture.h"

#include "store/postgres/rows.h"

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
  EXPECT_EQ(partitions_of("ff_event_log"), 2);
  clock->advance(2 * kDay);
  auto session = must(opened->engine->store().open_session());
  ASSERT_TRUE(session->trim_events(clock->now_ms() - kDay, clock->now_ms() - 90 * kDay, 100));
  for (const auto& event : must(fabric().history({.execution_id = id})).items)
    EXPECT_EQ(event.kind, EventKind::operator_);
  ASSERT_TRUE(eventually([&] { return partitions_of("ff_event_log") == 1; }));
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

TEST_F(PostgresHistory, a_long_story_is_told_whole_and_page_by_page) {
  // More commits than an execution remembers the places of, several times over.
  constexpr int kChanges = 3 * static_cast<int>(store::postgres::kLogPlacesMax) + 7;
  const auto id = must(fabric().submit({.execution_kind = "k"})).execution_id;
  for (int i = 1; i <= kChanges; ++i) must(fabric().change_priority(id, i));
  auto leased = must(fabric().claim({.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}}));
  must(fabric().delay({leased.front().handle, std::nullopt, 0}));
  std::vector<std::string> told;
  std::string cursor;
  do {
    auto page = must(fabric().history({.execution_id = id, .cursor = cursor, .limit = 50}));
    for (const auto& event : page.items) told.push_back(event.details.value_or(event.event_type));
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());
  ASSERT_EQ(told.size(), static_cast<std::size_t>(kChanges) + 2);
  EXPECT_EQ(told.back(), "released");
  for (int i = 1; i <= kChanges; ++i)
    EXPECT_THAT(told[static_cast<std::size_t>(i - 1)],
                ::testing::HasSubstr("\"new_priority\":" + std::to_string(i) + "}"));
  EXPECT_EQ(value("SELECT max(length(log_places)) <= 8 * " + std::to_string(store::postgres::kLogPlacesMax) +
                  " FROM ff_exec_core"),
            "t");

  // What led to the earlier ones is kept as long as they are.
  clock->advance(2 * kDay);
  auto session = must(opened->engine->store().open_session());
  ASSERT_TRUE(session->trim_events(clock->now_ms() - kDay, clock->now_ms() - 90 * kDay, 100));
  EXPECT_THAT(*must(fabric().history({.execution_id = id, .limit = 1})).items.front().details,
              ::testing::HasSubstr("\"new_priority\":1}"));
}

TEST_F(PostgresHistory, leases_and_operators_take_turns) {
  const auto id = must(fabric().submit({.execution_kind = "k"})).execution_id;
  std::vector<std::string> happened, told;
  for (int i = 1; i <= 100; ++i) {
    auto leased = must(fabric().claim({.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}}));
    must(fabric().delay({leased.front().handle, std::nullopt, 0}));
    happened.insert(happened.end(), {"acquired", "released"});
    if (i % 13 != 0) continue;
    must(fabric().change_priority(id, i));
    happened.emplace_back("priority_changed");
  }
  std::string cursor;
  do {
    auto page = must(fabric().history({.execution_id = id, .cursor = cursor, .limit = 500}));
    for (const auto& event : page.items) told.push_back(event.event_type);
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());
  EXPECT_EQ(told, happened);
}

TEST_F(PostgresHistory, what_one_batch_did_to_an_execution_may_fill_several_pages) {
  constexpr int kChanges = 60;
  const auto id = must(fabric().submit({.execution_kind = "k"})).execution_id;
  for (int i = 0; i < 3; ++i) {  // while the executor is busy with one call, the others gather for one batch
    std::vector<std::thread> callers;
    for (int n = 0; n < kChanges; ++n)
      callers.emplace_back([&, n] { must(fabric().change_priority(id, n % 2 + 1)); });
    for (auto& caller : callers) caller.join();
  }
  std::size_t told = 0;
  std::string cursor;
  do {
    auto page = must(fabric().history({.execution_id = id, .cursor = cursor, .limit = 7}));
    told += page.items.size();
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());
  EXPECT_EQ(told, 3U * kChanges);
}

TEST_F(PostgresHistory, views_show_the_log_event_by_event) {
  const auto id = must(fabric().submit({.execution_kind = "k", .tags = {{"a", "b"}}})).execution_id;
  must(fabric().change_priority(id, 5));
  auto tasks = must(fabric().claim({.worker_id = "w", .worker_instance_id = "w-1", .lanes = {"default"}}));
  must(fabric().complete({tasks.front().handle, "done", std::nullopt}));
  const std::string text = id.to_string();
  EXPECT_EQ(value("SELECT string_agg(kind, ' ' ORDER BY event_id) FROM ff_event WHERE execution_id = '" + text + "'"),
            "operator lease lease completion");
  EXPECT_EQ(value("SELECT outcome || ' ' || namespace || ' ' || (tags::json ->> 'a') FROM ff_completion_event"),
            "success default b");
  EXPECT_EQ(value("SELECT string_agg(event_type || ' ' || coalesce(reason, '-') || ' ' || worker_instance_id || ' ' || "
                  "lease_epoch, ', ' ORDER BY event_id) FROM ff_lease_event"),
            "acquired - w-1 1, released completed w-1 1");
  EXPECT_EQ(value("SELECT event_type || ' ' || actor || ' ' || (details::json ->> 'new_priority') FROM ff_operator_event "
                  "WHERE execution_id = '" + text + "'"),
            "priority_changed embedded 5");
  EXPECT_EQ(value("SELECT public_state || ' ' || lane_id || ' ' || execution_kind || ' ' || priority || ' ' || "
                  "worker_instance_id FROM ff_execution WHERE execution_id = '" + text + "'"),
            "completed default k 5 w-1");
}

}  // namespace
}  // namespace ff::test
