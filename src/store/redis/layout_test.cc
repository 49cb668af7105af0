#include "store/redis/layout.h"

#include "store/redis/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ff::store::redis {
namespace {

ExecutionId id(std::uint16_t partition, std::uint8_t last) {
  ExecutionId made{partition, {}};
  made.uuid.bytes[15] = last;
  return made;
}

TEST(RedisLayout, keys_of_a_partition_share_its_slot) {
  const Place place(7);
  const auto queue = core::make_queue("a {lane}", "tenant", "kind", {"gpu"});
  EXPECT_EQ(place.record(id(7, 1).uuid), "ff:exec:{fp:7}:00000000-0000-0000-0000-000000000001");
  for (const auto& key :
       {place.record({}), place.data({}), place.result({}), place.attempts({}), place.queue(*queue),
        place.queues("a {lane}"), place.due(), place.retention(), place.created(), place.tagged("k", "{x}"),
        place.claim("{y}"), place.reserved(), place.counts(), place.events(), place.event_head(),
        place.key({"tenant", "create_execution", "{z}"}), place.key_expiry(), place.wake(), place.lane("{l}")})
    EXPECT_EQ(slot_of(key), place.slot) << key;
}

TEST(RedisLayout, slots_are_those_of_the_cluster) {
  EXPECT_EQ(slot_of("123456789"), 12'739);
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{}{bar}"), slot_of("foo{}{bar}"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
}

TEST(RedisLayout, members_of_a_queue_sort_like_their_places) {
  constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min(),
                         kHigh = std::numeric_limits<std::int32_t>::max();
  const std::vector<core::OrderKey> in_order = {{kHigh, 5, id(3, 9)}, {10, 1, id(3, 1)},
                                                {10, 2, id(3, 0)},    {10, 2, id(3, 200)},
                                                {0, 1, id(3, 1)},     {-1, 1'700'000'000'000, id(3, 1)},
                                                {kLow, 0, id(3, 0)}};
  for (std::size_t i = 0; i + 1 < in_order.size(); ++i) {
    EXPECT_LT(in_order[i], in_order[i + 1]);
    EXPECT_LT(order_bytes(in_order[i]), order_bytes(in_order[i + 1])) << i;
  }
  for (const auto& key : in_order) EXPECT_EQ(order_from(order_bytes(key), 3), key);
}

TEST(RedisLayout, keys_are_read_back_from_their_index) {
  const core::IdempotencyId key{"tenant:a", "create_execution", "order 42: x"};
  EXPECT_EQ(key_from(key_member(key)), key);
  EXPECT_EQ(key_from("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace ff::store::redis
