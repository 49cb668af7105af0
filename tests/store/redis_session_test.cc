// What a session relies on: commits that compare, units that fail alone, walks that go on where they stopped.

#include "store/redis/layout.h"
#include "store/redis/redis_store.h"
#include "store/redis_load.h"
#include "support/redis_server.h"

namespace ff::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ExecutionId id_of(std::uint8_t last, std::uint16_t partition = 7) {
  ExecutionId id{partition, *Uuid::parse("01900000-0000-7000-8000-000000000000")};
  id.uuid.bytes[15] = last;
  return id;
}

/// An engine on a server, and a session beside it, as another process would have.
class RedisSessions : public ::testing::Test {
 protected:
  static RedisServer& server() {
    static RedisServer one;
    return one;
  }
  RedisSessions() {
    server().call({"FLUSHALL"});
    engine = open_url(server().url());
    store = must(store::open_redis(server().url(), {}));
    must(store->adopt_dataset({}));
    session = must(store->open_session());
    reader = must(store->open_reader());
  }
  ~RedisSessions() override { engine.fabric.close(); }

  void submit(const ExecutionId& id, std::uint64_t delay_ms = 0) {
    Submission one{.execution_kind = "job", .execution_id = id};
    if (delay_ms > 0) one.delay_ms = delay_ms;
    must(engine.fabric.submit(one));
  }
  void remove(const ExecutionId& id) {
    must(engine.fabric.cancel(id));
    must(engine.fabric.remove(id));
  }

  /// Loads each execution into a unit of its own.
  void load(const std::vector<ExecutionId>& ids) {
    must(session->begin());
    std::vector<core::Reads> reads;
    for (const auto& id : ids) {
      store::Unit& unit = units.emplace_back();
      pointers.push_back(&unit);
      reads.emplace_back(unit.set).execution(id);
    }
    must(session->load(pointers, reads, store::LoadMode::lock));
  }
  void change_priority(std::size_t unit, std::int32_t priority) {
    core::WorkingSet& set = units[unit].set;
    const ExecutionId id = set.executions().slots().front().key;
    auto changed = std::make_shared<core::ExecutionRecord>(*set.execution(id));
    changed->priority = priority;
    ++changed->version;
    set.executions().write(id, std::move(changed));
  }
  std::vector<store::Unit::Outcome> save() {
    must(session->save(pointers));
    std::vector<store::Unit::Outcome> outcomes;
    for (const auto& unit : units) outcomes.push_back(unit.outcome);
    return outcomes;
  }
  std::int32_t priority_of(const ExecutionId& id) { return must(engine.fabric.get(id)).priority; }

  Opened engine;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<store::Session> session;
  std::unique_ptr<store::Reader> reader;
  std::deque<store::Unit> units;
  std::vector<store::Unit*> pointers;
};

constexpr auto kCommitted = store::Unit::Outcome::committed, kConflict = store::Unit::Outcome::conflict;

TEST_F(RedisSessions, an_execution_removed_and_made_again_is_another_one) {
  submit(id_of(1));
  load({id_of(1)});
  const std::uint64_t version = units[0].set.execution(id_of(1))->version;
  remove(id_of(1));
  submit(id_of(1));
  ASSERT_EQ(must(engine.fabric.get(id_of(1))).version, version) << "it counts from the beginning";
  change_priority(0, 5);
  EXPECT_THAT(save(), ElementsAre(kConflict));
  EXPECT_EQ(priority_of(id_of(1)), 0);
}

TEST_F(RedisSessions, units_of_a_partition_fail_alone) {
  for (std::uint8_t i = 1; i <= 4; ++i) submit(id_of(i));
  load({id_of(1), id_of(2), id_of(3), id_of(4)});
  must(engine.fabric.change_priority(id_of(2), 9));
  must(engine.fabric.cancel(id_of(4)));
  for (std::size_t i = 0; i < 4; ++i) change_priority(i, 5);
  EXPECT_THAT(save(), ElementsAre(kCommitted, kConflict, kCommitted, kConflict));
  EXPECT_EQ(priority_of(id_of(1)), 5);
  EXPECT_EQ(priority_of(id_of(2)), 9);
  EXPECT_EQ(priority_of(id_of(3)), 5);
  EXPECT_THAT(must(reader->verify(10)), IsEmpty());
}

TEST_F(RedisSessions, a_decision_that_is_too_old_is_made_again) {
  submit(id_of(1));
  load({id_of(1)});
  units[0].now -= 60'000;
  change_priority(0, 5);
  EXPECT_THAT(save(), ElementsAre(kConflict));
  EXPECT_EQ(priority_of(id_of(1)), 0);
}

TEST_F(RedisSessions, a_walk_over_clocks_goes_on_where_it_stopped) {
  std::vector<ExecutionId> all;
  for (std::uint8_t i = 1; i <= 7; ++i) {
    all.push_back(id_of(i, i % 3));
    submit(all.back(), 3'600'000 + i / 2);
  }
  store::DueQuery query;
  query.kind = core::TimerKind::delay;
  query.now = must(reader->clock()) + 2 * 3'600'000;
  query.limit = 2;
  query.accept = [](const core::ExecutionRecord& record) { return record.id.uuid.bytes[15] != 4; };
  std::vector<ExecutionId> found;
  std::uint64_t filtered = 0;
  int pages = 0;
  do {
    auto page = must(reader->due(query));
    EXPECT_LE(page.due.size(), 2U);
    found.insert(found.end(), page.due.begin(), page.due.end());
    filtered += page.filtered;
    query.after = page.next;
    ASSERT_LT(++pages, 10);
  } while (!query.after.empty());
  all.erase(all.begin() + 3);
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(all)) << "each once, and the refused one hides nobody";
  EXPECT_EQ(filtered, 1U);
}

TEST_F(RedisSessions, nothing_but_events_is_left_of_what_was_removed) {
  submit(id_of(1));
  const auto tasks = must(engine.fabric.claim(World::request("w1", 1)));
  must(engine.fabric.complete({.handle = tasks.at(0).handle, .result = "done"}));
  must(engine.fabric.remove(id_of(1)));
  std::set<std::string> kinds;
  const auto keys = server().call({"KEYS", "*"});
  for (std::size_t i = 0; i < keys.value().size(); ++i) {
    const std::string key(keys[i].text());
    if (key.find("{fp:7}") != std::string::npos) kinds.insert(key);
  }
  EXPECT_THAT(kinds, UnorderedElementsAre("ff:events:{fp:7}", "ff:audit:{fp:7}"));
  EXPECT_THAT(must(reader->log("", 100)).items, ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace ff::test
