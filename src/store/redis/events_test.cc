#include "store/redis/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store::redis {
namespace {

constexpr std::uint16_t kPartition = 9;

core::EventRecord event(EventKind kind, TimeMs at_ms = 5'000) {
  core::EventRecord record;
  record.kind = kind;
  record.partition = kPartition;
  record.execution_id = ExecutionId{kPartition, *Uuid::parse("01900000-0000-7000-8000-000000000001")};
  record.namespace_ = "tenant";
  record.occurred_at_ms = at_ms;
  record.outcome = TerminalOutcome::success;
  if (kind == EventKind::lease) record.lease_event = LeaseEventType::released;
  if (kind == EventKind::operator_) {
    record.event_type = "priority_changed";
    record.details = "{}";
  }
  return record;
}

std::vector<std::int64_t> ids_of(const std::vector<Event>& events) {
  std::vector<std::int64_t> ids;
  for (const auto& one : events) ids.push_back(one.event_id);
  return ids;
}

TEST(RedisEvents, those_of_a_commit_share_an_entry) {
  EventEntries entries;
  const auto lease = event(EventKind::lease), completion = event(EventKind::completion);
  entries.add(nullptr, lease, {}, std::nullopt);
  const auto last = entries.add(&lease, completion, {}, std::nullopt);
  ASSERT_EQ(entries.entries().size(), 1U);
  EXPECT_EQ(entries.entries()[0].count, 3U);
  EXPECT_EQ(last.any.place, 2U) << "of two events that are kept as one, the second names both";
  const auto events = read_events(entries.entries()[0].body, 7, kPartition);
  ASSERT_TRUE(events);
  EXPECT_THAT(ids_of(*events), ::testing::ElementsAre(7 * 1024, 7 * 1024 + 1, 7 * 1024 + 2));
  EXPECT_EQ((*events)[1], core::to_event(lease, 7 * 1024 + 1));
  EXPECT_EQ((*events)[2], core::to_event(completion, 7 * 1024 + 2));
}

TEST(RedisEvents, what_is_kept_differently_stands_apart) {
  EventEntries entries;
  entries.add(nullptr, event(EventKind::lease), {}, std::nullopt);
  const auto by_operator = entries.add(nullptr, event(EventKind::operator_), {}, std::nullopt);
  entries.add(nullptr, event(EventKind::lease), {}, by_operator);
  entries.add(nullptr, event(EventKind::lease, 60'000), {}, std::nullopt);
  ASSERT_EQ(entries.entries().size(), 4U) << "operator events, and what is not of the same time";
  EXPECT_TRUE(entries.entries()[1].by_operator);
  ASSERT_TRUE(by_operator.by_operator);
  EXPECT_EQ(by_operator.by_operator->entry, 1U);
  const auto events = read_events(entries.entries()[1].body, 3, kPartition);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->at(0), core::to_event(event(EventKind::operator_), 3 * 1024));
}

TEST(RedisEvents, an_entry_has_a_bound) {
  EventEntries entries;
  for (std::uint32_t i = 0; i <= kPlacesPerEntry; ++i) entries.add(nullptr, event(EventKind::lease), {}, std::nullopt);
  ASSERT_EQ(entries.entries().size(), 2U);
  EXPECT_EQ(entries.entries()[0].count, kPlacesPerEntry);
}

TEST(RedisEvents, damage_is_noticed) {
  EventEntries entries;
  entries.add(nullptr, event(EventKind::operator_), {}, std::nullopt);
  const std::string body = entries.entries()[0].body;
  ASSERT_TRUE(read_events(body, 1, kPartition));
  for (std::size_t size = 1; size < body.size(); ++size)
    EXPECT_FALSE(read_events(std::string_view(body).substr(0, size), 1, kPartition)) << size;
}

}  // namespace
}  // namespace ff::store::redis
