#include "server/rate_limits.h"

#include <gtest/gtest.h>

namespace ff::server {
namespace {

int taken(RateLimits& limits, const std::string& caller, std::int64_t now_ms, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += limits.take(caller, now_ms) ? 0 : 1;
  return count;
}

TEST(ServerRateLimits, a_burst_is_twice_the_rate_and_then_the_rate_holds) {
  RateLimits limits(10);
  EXPECT_EQ(taken(limits, "a", 1'000, 30), 20);
  EXPECT_EQ(taken(limits, "a", 1'099, 5), 0);
  EXPECT_EQ(taken(limits, "a", 1'100, 5), 1);
  EXPECT_EQ(taken(limits, "a", 2'100, 30), 10);
  EXPECT_EQ(taken(limits, "a", 900'000, 30), 20) << "a long rest gives no more than a burst";
}

TEST(ServerRateLimits, each_caller_has_its_own) {
  RateLimits limits(1);
  EXPECT_EQ(taken(limits, "a", 0, 9), 2);
  EXPECT_EQ(taken(limits, "b", 0, 9), 2);
}

TEST(ServerRateLimits, the_refusal_says_when_to_come_again) {
  RateLimits limits(4);
  EXPECT_EQ(taken(limits, "a", 0, 8), 8);
  const auto error = limits.take("a", 100);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::rate_limit_exceeded);
  EXPECT_EQ(error->context.number("retry_after_ms"), 150);
  EXPECT_EQ(taken(limits, "a", 249, 1), 0);
  EXPECT_EQ(taken(limits, "a", 250, 2), 1);
}

TEST(ServerRateLimits, a_clock_that_stands_or_goes_back_gives_nothing) {
  RateLimits limits(1'000'000);
  EXPECT_EQ(taken(limits, "a", 5'000, 2'000'001), 2'000'000);
  EXPECT_EQ(taken(limits, "a", 0, 1), 0);
  EXPECT_EQ(taken(limits, "a", 5'001, 2'000), 1'000);
}

TEST(ServerRateLimits, no_limit_counts_nothing) {
  RateLimits limits(0);
  EXPECT_EQ(taken(limits, "a", 0, 1'000), 1'000);
  EXPECT_EQ(limits.buckets(), 0U);
}

TEST(ServerRateLimits, callers_that_rest_are_forgotten) {
  RateLimits limits(1);
  for (int i = 0; i < 30'000; ++i) EXPECT_FALSE(limits.take(std::to_string(i), i));
  EXPECT_LE(limits.buckets(), 10'000U);
}

}  // namespace
}  // namespace ff::server
