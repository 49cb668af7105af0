#include "store/postgres/new_work.h"

#include <gtest/gtest.h>

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t kQueue = 7, kOther = 8;

ExecutionId id(std::uint32_t number) {
  ExecutionId made;
  for (int i = 0; i < 4; ++i)
    made.uuid.bytes[static_cast<std::size_t>(12 + i)] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return made;
}

NewWork::Item item(std::uint32_t number, std::uint32_t xact, std::size_t payload_bytes = 0) {
  auto record = std::make_shared<core::ExecutionRecord>();
  record->id = id(number);
  auto payload = std::make_shared<const core::PayloadPart>(std::make_shared<const Bytes>(payload_bytes, 'x'));
  return {std::move(record), std::make_shared<const core::ExecutionInfo>(), std::move(payload), xact, 0};
}

class NewWorkTest : public ::testing::Test {
 protected:
  bool finds(std::uint32_t number, std::uint32_t xact) {
    const NewWork::Key key{id(number), xact};
    return work.find({&key, 1}).front().record != nullptr;
  }

  NewWork work;
  NewWork::Clock::time_point now{};
};

TEST_F(NewWorkTest, finds_a_row_only_as_that_transaction_wrote_it) {
  work.put(kQueue, item(1, 100), now);
  EXPECT_TRUE(finds(1, 100));
  EXPECT_TRUE(finds(1, 100)) << "what was found may stay in its queue";
  EXPECT_FALSE(finds(1, 101));
  EXPECT_FALSE(finds(2, 100));
  work.put(kQueue, item(1, 101), now);
  EXPECT_FALSE(finds(1, 100));
  EXPECT_TRUE(finds(1, 101));
  EXPECT_FALSE(work.knows(kQueue, 2)) << "it is one execution";
}

TEST_F(NewWorkTest, knows_how_many_wait_in_a_queue) {
  EXPECT_FALSE(work.knows(kQueue, 1));
  for (std::uint32_t i = 0; i < 3; ++i) work.put(kQueue, item(i, 1), now);
  EXPECT_TRUE(work.knows(kQueue, 3));
  EXPECT_FALSE(work.knows(kQueue, 4));
  EXPECT_FALSE(work.knows(kOther, 1));
  const ExecutionId taken = id(1);
  work.erase({&taken, 1});
  EXPECT_FALSE(work.knows(kQueue, 3));
  EXPECT_TRUE(work.knows(kQueue, 2));
  EXPECT_FALSE(finds(1, 1));
}

TEST_F(NewWorkTest, forgets_one_queue_and_no_other) {
  work.put(kQueue, item(1, 1), now);
  work.put(kOther, item(2, 1), now);
  work.forget(kQueue);
  EXPECT_FALSE(finds(1, 1));
  EXPECT_FALSE(work.knows(kQueue, 1));
  EXPECT_TRUE(finds(2, 1));
}

TEST_F(NewWorkTest, forgets_what_has_waited_for_too_long) {
  work.put(kQueue, item(1, 1), now);
  work.put(kQueue, item(2, 1), now + 1s);
  work.put(kOther, item(3, 1), now + NewWork::kKept);
  EXPECT_FALSE(finds(1, 1));
  EXPECT_TRUE(finds(2, 1));
  EXPECT_TRUE(finds(3, 1));
}

TEST_F(NewWorkTest, keeps_nothing_that_only_others_take) {
  work.put(kQueue, item(1, 1), now);
  work.put(kQueue, item(2, 1), now + NewWork::kKept);
  EXPECT_FALSE(finds(2, 1)) << "nobody here has taken from that queue";
  work.put(kOther, item(3, 1), now + NewWork::kKept);
  EXPECT_TRUE(finds(3, 1));
  EXPECT_FALSE(work.knows(kQueue, 1)) << "a take";
  work.put(kQueue, item(4, 1), now + NewWork::kKept);
  EXPECT_TRUE(finds(4, 1));
}

TEST_F(NewWorkTest, a_payload_at_the_limit_is_kept_and_a_larger_one_is_not) {
  work.put(kQueue, item(1, 1, NewWork::kOwnBytesMax), now);
  work.put(kQueue, item(2, 1, NewWork::kOwnBytesMax + 1), now);
  EXPECT_TRUE(finds(1, 1));
  EXPECT_FALSE(finds(2, 1));
}

TEST_F(NewWorkTest, tags_count_as_the_payload_does) {
  auto tagged = [](std::uint32_t number, std::size_t bytes) {
    NewWork::Item made = item(number, 1);
    auto record = std::make_shared<core::ExecutionRecord>(*made.record);
    record->tags = std::make_shared<const Tags>(Tags{{"t", std::string(bytes, 'x')}});
    made.record = std::move(record);
    return made;
  };
  work.put(kQueue, tagged(1, NewWork::kOwnBytesMax / 2), now);
  work.put(kQueue, tagged(2, NewWork::kOwnBytesMax), now);
  EXPECT_TRUE(finds(1, 1));
  EXPECT_FALSE(finds(2, 1));
}

TEST_F(NewWorkTest, one_that_nobody_takes_is_in_nobodys_way) {
  work.put(kOther, item(0, 1), now);
  for (std::uint32_t i = 1; i < 100'000; ++i) {
    work.put(kQueue, item(i, 1), now);
    ASSERT_TRUE(finds(i, 1)) << i;
    const ExecutionId taken = id(i);
    work.erase({&taken, 1});
  }
  EXPECT_TRUE(finds(0, 1));
  work.put(kQueue, item(1, 1), now + NewWork::kKept);
  EXPECT_FALSE(finds(0, 1));
  EXPECT_TRUE(finds(1, 1));
}

TEST_F(NewWorkTest, is_bounded_and_takes_more_when_something_has_left) {
  std::uint32_t kept = 0;
  for (; kept < 100'000; ++kept) {
    work.put(kQueue, item(kept, 1, NewWork::kOwnBytesMax), now);
    if (!finds(kept, 1)) break;
  }
  EXPECT_LT(kept, NewWork::kBytesMax / NewWork::kOwnBytesMax);
  EXPECT_GT(kept, NewWork::kBytesMax / NewWork::kOwnBytesMax / 2);
  EXPECT_TRUE(finds(0, 1)) << "the oldest are handed out first";
  const ExecutionId taken = id(0);
  work.erase({&taken, 1});
  work.put(kQueue, item(kept, 1, NewWork::kOwnBytesMax), now);
  EXPECT_TRUE(finds(kept, 1));
}

}  // namespace
}  // namespace ff::store::postgres
