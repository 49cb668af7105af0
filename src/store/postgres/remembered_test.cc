#include "store/postgres/remembered.h"

#include "store/postgres/rows.h"

#include <gtest/gtest.h>

namespace ff::store::postgres {
namespace {

ExecutionId id(std::uint32_t number) {
  ExecutionId made;
  for (int i = 0; i < 4; ++i)
    made.uuid.bytes[static_cast<std::size_t>(12 + i)] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return made;
}

std::shared_ptr<const core::ExecutionRecord> record(std::uint32_t number, std::uint64_t version) {
  core::ExecutionRecord made;
  made.id = id(number);
  made.version = version;
  return std::make_shared<const core::ExecutionRecord>(std::move(made));
}

TEST(Remembered, gives_away_the_newest_once) {
  Remembered remembered;
  EXPECT_FALSE(remembered.take(id(1)));
  remembered.put({record(1, 2), "first", 1});
  remembered.put({record(1, 3), "second", 2});
  const auto item = remembered.take(id(1));
  ASSERT_TRUE(item);
  EXPECT_EQ(item->record->version, 3U);
  EXPECT_EQ(item->tid, "second");
  EXPECT_EQ(item->log_place_count, 2U);
  EXPECT_FALSE(remembered.take(id(1)));
}

TEST(Remembered, forgets_the_oldest_beyond_its_limit) {
  Remembered remembered;
  for (std::uint32_t i = 0; i < kRememberedMax; ++i) remembered.put({record(i, 1), "place", 0});
  remembered.put({record(kRememberedMax, 1), "place", 0});
  EXPECT_FALSE(remembered.take(id(0)));
  EXPECT_TRUE(remembered.take(id(1)));
  EXPECT_TRUE(remembered.take(id(kRememberedMax)));
}

TEST(TimesInIds, tell_strays_at_the_edge) {
  ExecutionId made;
  const TimeMs time = 0x0190'1234'5678;
  for (std::size_t i = 0; i < 6; ++i) made.uuid.bytes[i] = static_cast<std::uint8_t>(time >> (8 * (5 - i)));
  EXPECT_FALSE(is_stray(made, time));
  EXPECT_FALSE(is_stray(made, time + kNearMs - 1));
  EXPECT_FALSE(is_stray(made, time - kNearMs + 1));
  EXPECT_TRUE(is_stray(made, time + kNearMs));
  EXPECT_TRUE(is_stray(made, time - kNearMs));
}

TEST(TimesInIds, give_the_bounds_of_searches) {
  EXPECT_EQ(ids_from(0x0190'1234'5678), std::string("\x01\x90\x12\x34\x56\x78", 6));
  EXPECT_EQ(ids_from(-5), std::string(6, '\0'));
  EXPECT_EQ(ids_from(TimeMs{1} << 48), std::string(7, '\xff')) << "greater than every id";
}

}  // namespace
}  // namespace ff::store::postgres
