// 05, section 8: listing leases.

#include "conformance/conformance.h"

namespace ff::test {
namespace {

std::vector<ExecutionId> ids_of(const std::vector<LeaseItem>& items) {
  std::vector<ExecutionId> ids;
  for (const auto& item : items) ids.push_back(item.execution_id);
  return ids;
}

}  // namespace

TEST_P(Scheduling, T82_list_expired_leases) {
  restart({.sweeps = false});
  std::vector<ExecutionId> five;
  for (std::uint16_t i = 0; i < 5; ++i) {
    Submission submission = job();
    submission.execution_id = next_id(static_cast<std::uint16_t>(i * 3 % 5));
    submission.namespace_ = i < 2 ? "a" : "b";
    five.push_back(submit(submission));
  }
  ASSERT_THAT(claim(5), SizeIs(5));
  const TimeMs expiry = now() + 30'000;
  clock->advance(1'000);
  const auto later = running("{}").execution.execution_id;
  std::sort(five.begin(), five.end(), [](const auto& a, const auto& b) { return a.to_string() < b.to_string(); });

  EXPECT_THAT(must(fabric.leases({.expired_before_ms = now()})).items, IsEmpty()) << "nothing that lies ahead";
  EXPECT_THAT(must(fabric.leases({.expired_before_ms = expiry - 1})).items, IsEmpty());
  std::vector<ExecutionId> found;
  ListLeases query{.expired_before_ms = expiry, .limit = 2};
  std::vector<std::size_t> sizes;
  while (true) {
    const auto page = must(fabric.leases(query));
    sizes.push_back(page.items.size());
    for (const auto& id : ids_of(page.items)) found.push_back(id);
    if (!page.next_cursor) break;
    query.cursor = *page.next_cursor;
  }
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));
  EXPECT_EQ(found, five) << "equal expiry: by the text of the id, over all partitions";

  EXPECT_THAT(must(fabric.leases({.expired_before_ms = expiry, .namespace_ = "a"})).items, SizeIs(2));
  EXPECT_THAT(must(fabric.leases()).items, SizeIs(6)) << "without a time: all that are held";
  EXPECT_EQ(must(fabric.leases()).items.back().execution_id, later);
  EXPECT_THAT(must(fabric.leases({.worker = "nobody"})).items, IsEmpty());
  EXPECT_THAT(must(fabric.leases({.limit = 0})).items, IsEmpty());
  EXPECT_THAT(must(fabric.leases({.limit = 10'000})).items, SizeIs(6));
  EXPECT_THAT(fabric.leases({.limit = 10'001}), Refused(ErrorCode::invalid_input));
  EXPECT_THAT(fabric.leases({.cursor = "nonsense"}), Refused(ErrorCode::invalid_offset));
}

TEST_P(Scheduling, T82_items_of_the_list) {
  Submission submission = job();
  submission.namespace_ = "tenant";
  submission.lane_id = "other";
  const auto id = submit(submission);
  const ClaimedTask task = must(claim_named(id, "w1")).at(0);
  const auto held = must(fabric.leases());
  EXPECT_THAT(held.items, ElementsAre(LeaseItem{id, get(id).lease->lease_id, 1, "w1", now() + 30'000, 0, "tenant", "other"}));

  // Revoked and lost leases are not listed, and neither is what has ended.
  must(fabric.revoke_lease({.execution_id = id}));
  EXPECT_THAT(must(fabric.leases()).items, IsEmpty());
  const ClaimedTask again = must(claim_named(id, "w2")).at(0);
  EXPECT_THAT(must(fabric.leases()).items, SizeIs(1));
  EXPECT_EQ(must(fabric.leases()).items[0].attempt_index, 1U);
  must(complete(again));
  EXPECT_THAT(must(fabric.leases()).items, IsEmpty());
}

}  // namespace ff::test
