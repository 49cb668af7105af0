#include "api/middleware/token_bucket.h"

#include <gtest/gtest.h>

namespace ff::api {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucketTest, a_burst_and_then_one_by_one) {
  const TokenBucket::TimePoint start{};
  TokenBucket bucket(2, 3, start);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bucket.until_next(start), 0ms);
    bucket.take(start);
  }
  EXPECT_EQ(bucket.until_next(start), 500ms);
  bucket.take(start);
  EXPECT_EQ(bucket.until_next(start), 1'000ms) << "the one before has the next";
  EXPECT_EQ(bucket.until_next(start + 999ms), 1ms);
  EXPECT_EQ(bucket.until_next(start + 1s), 0ms);
}

TEST(TokenBucketTest, never_more_than_the_burst) {
  const TokenBucket::TimePoint start{};
  TokenBucket bucket(10, 2, start);
  EXPECT_TRUE(bucket.is_full(start));
  bucket.take(start);
  EXPECT_FALSE(bucket.is_full(start));
  const auto later = start + 24h;
  EXPECT_TRUE(bucket.is_full(later));
  bucket.take(later);
  bucket.take(later);
  EXPECT_EQ(bucket.until_next(later), 100ms);
}

TEST(TokenBucketTest, a_clock_that_goes_back_gives_nothing) {
  const auto start = TokenBucket::TimePoint() + 1h;
  TokenBucket bucket(1, 1, start);
  bucket.take(start);
  EXPECT_EQ(bucket.until_next(start - 1h), 1'000ms);
  EXPECT_EQ(bucket.until_next(start + 500ms), 500ms);
}

}  // namespace
}  // namespace ff::api
