#include "engine/workers.h"

#include "engine/lane_rates.h"
#include "support/idle_reader.h"

#include <gmock/gmock.h>

namespace ff::engine {
namespace {

class Registry final : public test::IdleReader {
 public:
  Result<std::vector<core::Document>> documents(core::DocumentKind, const std::string& after,
                                                std::uint32_t limit) override {
    ++looks;
    std::exchange(meanwhile, [] {})();
    std::vector<core::Document> page;
    for (const auto& document : all)
      if (document.id.key > after && page.size() < limit) page.push_back(document);
    return page;
  }
  void add(const std::string& instance, TimeMs heartbeat) {
    core::WorkerRecord worker;
    worker.worker_instance_id = instance;
    worker.liveness_ttl_ms = 1'000;
    worker.last_heartbeat_at_ms = heartbeat;
    all.push_back(core::make_document(core::worker_key("", instance), worker, core::expires_at(worker)));
  }

  std::vector<core::Document> all;
  int looks = 0;
  std::function<void()> meanwhile = [] {};
};

TEST(LiveWorkersTest, the_registry_is_read_once_a_second_or_after_a_change) {
  Registry registry;
  registry.add("a", 10'000);
  registry.add("b", 9'000);
  LiveWorkers live;
  EXPECT_EQ(live.get(registry, 10'000).value()->size(), 1U) << "the other has lapsed";
  registry.add("c", 10'000);
  EXPECT_EQ(live.get(registry, 10'999).value()->size(), 1U);
  EXPECT_EQ(registry.looks, 1);
  live.forget();
  EXPECT_EQ(live.get(registry, 10'999).value()->size(), 2U);
  EXPECT_EQ(live.get(registry, 12'000).value()->size(), 0U);
  EXPECT_EQ(registry.looks, 3);
}

TEST(LiveWorkersTest, a_list_that_was_read_before_a_change_is_not_kept) {
  Registry registry;
  LiveWorkers live;
  registry.meanwhile = [&] { live.forget(); };
  EXPECT_EQ(live.get(registry, 10'000).value()->size(), 0U);
  registry.add("a", 10'000);
  EXPECT_EQ(live.get(registry, 10'000).value()->size(), 1U);
  EXPECT_EQ(live.get(registry, 10'000).value()->size(), 1U);
  EXPECT_EQ(registry.looks, 2);
}

TEST(NotedClaimersTest, one_note_in_a_while) {
  NotedClaimers noted;
  EXPECT_TRUE(noted.due("", "a", 100, 1'000));
  EXPECT_FALSE(noted.due("", "a", 100, 1'099));
  EXPECT_TRUE(noted.due("x", "a", 100, 1'099)) << "another namespace";
  EXPECT_TRUE(noted.due("", "a", 100, 1'100));
  EXPECT_TRUE(noted.due("", "a", 100, 500)) << "a clock that went back is no reason for silence";
}

TEST(LaneRatesTest, count_the_last_minute) {
  LaneRates rates;
  std::deque<store::Unit> units;
  store::Unit& unit = units.emplace_back();
  unit.outcome = store::Unit::Outcome::committed;
  core::ExecutionRecord record;
  auto queue = std::make_shared<core::Queue>();
  queue->lane_id = "video";
  record.queue = queue;
  record.counters.current_lease_epoch = 1;
  unit.set.executions().write(record.id, std::make_shared<core::ExecutionRecord>(record));
  constexpr SteadyUs kSecond = 1'000'000;
  for (int i = 0; i < 6; ++i) rates.committed(units, 100 * kSecond);
  rates.committed(units, 130 * kSecond);
  EXPECT_DOUBLE_EQ(rates.of("video", 130 * kSecond).claims_per_s, 7.0 / 60);
  EXPECT_DOUBLE_EQ(rates.of("video", 159 * kSecond).claims_per_s, 7.0 / 60);
  EXPECT_DOUBLE_EQ(rates.of("video", 160 * kSecond).claims_per_s, 1.0 / 60) << "what is older no longer counts";
  EXPECT_DOUBLE_EQ(rates.of("other", 130 * kSecond).claims_per_s, 0);
  EXPECT_DOUBLE_EQ(rates.of("video", 130 * kSecond).completions_per_s, 0);
}

}  // namespace
}  // namespace ff::engine
