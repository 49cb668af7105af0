#include "core/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace ff::core {
namespace {

constexpr std::string_view kUuid = "550e8400-e29b-41d4-a716-446655440000";

Uuid uuid(std::string_view text) { return Uuid::parse(text).value_or(Uuid{}); }

std::string parse_fault(const std::string& text) {
  auto parsed = ExecutionId::parse(text);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_input);
  EXPECT_EQ(parsed.error().context.text("field"), "execution_id");
  return std::string(parsed.error().context.text("reason"));
}

std::string key_fault(std::string_view text) {
  auto parsed = parse_partition_key(text);
  return parsed ? "accepted" : std::string(parsed.error().context.text("reason"));
}

TEST(Domain, T1_ids_lie_where_the_vectors_say) {
  const Partitioning counts;
  EXPECT_EQ(solo_partition("default", uuid(kUuid), counts), 88);
  EXPECT_EQ(solo_partition("worker-pool-1", uuid("018f0000-0000-7000-8000-000000000001"), counts), 83);
  EXPECT_EQ(keyed_partition("default", "order-42", counts), 178);
  EXPECT_EQ(keyed_partition("tenant-a", "order-42", counts), 34);
  EXPECT_EQ(flow_partition(Uuid{}, counts), 0);
  EXPECT_EQ(flow_partition(uuid(kUuid), counts), 24);
}

TEST(Domain, T2_an_id_gives_its_partition_and_round_trips) {
  const std::string text = "{fp:42}:550e8400-e29b-41d4-a716-446655440000";
  auto id = ExecutionId::parse(text);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->partition, 42);
  EXPECT_EQ(id->to_string(), text);
  auto upper = ExecutionId::parse("{fp:42}:550E8400-E29B-41D4-A716-446655440000");
  ASSERT_TRUE(upper);
  EXPECT_EQ(upper->to_string(), text);
  EXPECT_EQ(ExecutionId::parse("{fp:65535}:550e8400-e29b-41d4-a716-446655440000")->partition, 65535);
}

TEST(Domain, T3_what_is_no_id_is_refused_with_its_fault) {
  const std::string u(kUuid);
  EXPECT_EQ(parse_fault(u), "missing_tag");
  EXPECT_EQ(parse_fault(""), "missing_tag");
  EXPECT_EQ(parse_fault("{b:1}:" + u), "missing_tag");
  EXPECT_EQ(parse_fault("{fp:1}" + u), "missing_tag");
  EXPECT_EQ(parse_fault("{FP:1}:" + u), "missing_tag");
  EXPECT_EQ(parse_fault("{fp:}:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:x}:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:65536}:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:99999999999}:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:007}:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:+1}:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:-1}:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:1 }:" + u), "invalid_partition_index");
  EXPECT_EQ(parse_fault("{fp:1}:not-a-uuid"), "invalid_uuid");
  EXPECT_EQ(parse_fault("{fp:1}:{" + u + "}"), "invalid_uuid");
  EXPECT_EQ(parse_fault("{fp:1}:urn:uuid:" + u), "invalid_uuid");
  EXPECT_EQ(parse_fault("{fp:1}:" + u + "0"), "invalid_uuid");
  EXPECT_EQ(parse_fault("{fp:1}:550e8400e29b41d4a716446655440000"), "invalid_uuid");
  EXPECT_EQ(parse_fault("{fp:1}:550e8400-e29b-41d4-a716-44665544000g"), "invalid_uuid");
  EXPECT_EQ(parse_fault("{fp:1}:550e8400+e29b-41d4-a716-446655440000"), "invalid_uuid");
}

TEST(Domain, T4_the_tag_decides_whatever_the_uuid_hashes_to) {
  auto id = ExecutionId::parse("{fp:0}:550e8400-e29b-41d4-a716-446655440000");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->partition, 0);
  EXPECT_NE(solo_partition("default", id->uuid, {}), 0);
}

TEST(Domain, T5_minted_ids_sort_by_time_and_spread_over_their_lane) {
  IdSource ids(1, 2);
  const Uuid first = ids.next(1'700'000'000'000), second = ids.next(1'700'000'000'001);
  EXPECT_LT(first, second);
  EXPECT_NE(first, ids.next(1'700'000'000'000));
  EXPECT_EQ(first.to_string()[14], '7');
  EXPECT_THAT(std::string("89ab"), testing::HasSubstr(first.to_string().substr(19, 1)));
  EXPECT_TRUE(first.to_string().starts_with("018bcfe5-6800-7")) << first.to_string();

  std::set<std::uint16_t> partitions;
  for (int i = 0; i < 1000; ++i) partitions.insert(solo_partition("default", ids.next(1'700'000'000'000 + i), {}));
  EXPECT_EQ(partitions.size(), 8U);
  Partitioning narrow;
  narrow.lane_spread = 1;
  partitions.clear();
  for (int i = 0; i < 100; ++i) partitions.insert(solo_partition("default", ids.next(1'700'000'000'000 + i), narrow));
  EXPECT_EQ(partitions, std::set<std::uint16_t>{54870 % 256});

  EXPECT_EQ(keyed_partition("a", "k", {}), keyed_partition("a", "k", {}));
  EXPECT_EQ(flow_partition(first, {}), flow_partition(first, {}));
}

TEST(Domain, T5_ids_are_a_function_of_the_seed) {
  IdSource one(5, 6), same(5, 6), other(5, 7);
  std::set<Uuid> seen;
  for (int i = 0; i < 1000; ++i) {
    const Uuid id = one.next(1000);
    EXPECT_EQ(id, same.next(1000));
    EXPECT_NE(id, other.next(1000));
    EXPECT_TRUE(seen.insert(id).second);
  }
}

TEST(Domain, T6_placement_is_deterministic_and_follows_the_counts) {
  Partitioning four, many;
  four.num_flow_partitions = 4;
  EXPECT_EQ(solo_partition("default", Uuid{}, many), solo_partition("default", Uuid{}, many));
  IdSource ids(3, 4);
  int moved = 0;
  for (int i = 0; i < 256; ++i) {
    const Uuid id = ids.next(1000);
    EXPECT_LT(solo_partition("default", id, four), 4);
    moved += solo_partition("default", id, four) != solo_partition("default", id, many) ? 1 : 0;
  }
  EXPECT_GT(moved, 0);
}

TEST(Domain, T8_partition_keys_round_trip) {
  for (std::string_view text : {"{fp:3}", "{b:0}", "{q:31}", "{fp:65535}"}) {
    auto key = parse_partition_key(text);
    ASSERT_TRUE(key) << text;
    EXPECT_EQ(to_string(*key), text);
  }
  EXPECT_EQ(parse_partition_key("{b:7}")->family, PartitionFamily::budget);
  EXPECT_EQ(key_fault("fp:3"), "no_braces");
  EXPECT_EQ(key_fault(""), "no_braces");
  EXPECT_EQ(key_fault("{"), "no_braces");
  EXPECT_EQ(key_fault("{fp3}"), "no_prefix_index");
  EXPECT_EQ(key_fault("{zz:1}"), "unknown_prefix");
  EXPECT_EQ(key_fault("{fp:65536}"), "invalid_index");
  EXPECT_EQ(key_fault("{fp:}"), "invalid_index");
  EXPECT_EQ(key_fault("{fp:01}"), "invalid_index");
}

TEST(Domain, T27_ids_are_ordered_by_their_uuid_bytes) {
  const ExecutionId low{9, uuid("00000000-0000-0000-0000-000000000001")};
  const ExecutionId high{1, uuid("ff000000-0000-0000-0000-000000000000")};
  EXPECT_LT(low, high);
  EXPECT_LT((ExecutionId{1, low.uuid}), low);
  EXPECT_TRUE(Uuid{}.is_nil());
  EXPECT_FALSE(low.uuid.is_nil());
  EXPECT_NE(std::hash<ExecutionId>{}(low), std::hash<ExecutionId>{}(high));
}

}  // namespace
}  // namespace ff::core
