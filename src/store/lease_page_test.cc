#include "store/lease_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeasePageTest : public ::testing::Test {
 protected:
  LeasePageTest() {
    add(3, 300, "w1", "default");
    add(1, 100, "w2", "default");
    add(4, 100, "w1", "other");
    add(2, 200, "w1", "default");
    core::ExecutionRecord lost = records.back();  // its lease is kept for audit, but nobody holds it
    lost.id.uuid.bytes[15] = 9;
    lost.state.ownership_state = OwnershipState::lease_expired_reclaimable;
    records.push_back(lost);
  }

  void add(std::uint8_t number, TimeMs expires, std::string worker, std::string namespace_) {
    core::ExecutionRecord record;
    record.id.uuid.bytes[15] = number;
    record.queue = core::make_queue("default", std::move(namespace_), "job", {});
    record.state.lifecycle_phase = LifecyclePhase::active;
    record.state.ownership_state = OwnershipState::leased;
    record.lease.emplace();
    record.lease->lease_expires_at_ms = expires;
    record.lease->current_worker_instance_id = std::move(worker);
    record.attempt.emplace();
    record.counters.total_attempt_count = 1;
    records.push_back(std::move(record));
  }

  /// The last byte of each id, in the order of the page.
  std::vector<int> page(const LeaseQuery& query) {
    LeasePage leases(query);
    for (const auto& record : records) leases.add(record);
    std::vector<int> numbers;
    for (const auto& item : leases.items()) numbers.push_back(item.execution_id.uuid.bytes[15]);
    return numbers;
  }

  std::vector<core::ExecutionRecord> records;
};

TEST_F(LeasePageTest, held_leases_come_by_expiry_then_id) { EXPECT_THAT(page({}), ElementsAre(1, 4, 2, 3)); }

TEST_F(LeasePageTest, filters_combine) {
  LeaseQuery query;
  query.worker = "w1";
  EXPECT_THAT(page(query), ElementsAre(4, 2, 3));
  query.namespace_ = "default";
  EXPECT_THAT(page(query), ElementsAre(2, 3));
  query.expired_before_ms = 200;
  EXPECT_THAT(page(query), ElementsAre(2));
  query.worker = "nobody";
  EXPECT_THAT(page(query), IsEmpty());
}

TEST_F(LeasePageTest, pages_join_without_gap_or_repeat) {
  std::vector<int> all;
  LeaseQuery query;
  query.limit = 1;
  for (int pages = 0; pages < 10; ++pages) {
    LeasePage leases(query);
    for (const auto& record : records) leases.add(record);
    const auto items = leases.items();
    if (items.empty()) break;
    ASSERT_EQ(items.size(), 1U);
    all.push_back(items[0].execution_id.uuid.bytes[15]);
    query.after = std::pair(items[0].expires_at_ms, items[0].execution_id.to_string());
  }
  EXPECT_THAT(all, ElementsAre(1, 4, 2, 3));
}

}  // namespace
}  // namespace ff::store
