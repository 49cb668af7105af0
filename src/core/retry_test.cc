#include "core/retry.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using F = FailureClass;

RetryPolicy exponential(std::uint64_t initial, std::uint64_t cap, double multiplier, bool jitter = false) {
  RetryPolicy policy;
  policy.max_retries = 4'000'000'000;
  policy.backoff = Backoff{BackoffType::exponential, std::nullopt, initial, cap, multiplier, jitter};
  return policy;
}

std::optional<std::uint64_t> delay(const RetryPolicy& policy, std::uint32_t retry_count, double draw = 0) {
  return retry_delay_ms(policy, F::transient, "transient", retry_count, draw);
}

TEST(Domain, T23_default_delays_before_jitter) {
  const std::uint64_t expected[] = {1000, 2000, 4000, 8000, 16'000, 32'000, 60'000, 60'000};
  for (std::uint32_t r = 0; r < std::size(expected); ++r)
    EXPECT_EQ(delay(exponential(1000, 60'000, 2.0), r), expected[r]) << r;
}

TEST(Executions, T34_multiplier_of_one_and_a_half_gives_whole_milliseconds) {
  const std::uint64_t expected[] = {101, 151, 227, 340, 511};
  for (std::uint32_t r = 0; r < std::size(expected); ++r)
    EXPECT_EQ(delay(exponential(101, 60'000, 1.5), r), expected[r]) << r;
}

TEST(Executions, T34_cap_and_fixed) {
  EXPECT_EQ(delay(exponential(100, 150, 2.0), 1), 150U);
  EXPECT_EQ(delay(exponential(500, 100, 2.0), 0), 100U) << "the cap holds for the first delay too";
  RetryPolicy fixed;
  fixed.max_retries = 10;
  fixed.backoff = Backoff{};
  fixed.backoff->type = BackoffType::fixed;
  EXPECT_EQ(delay(fixed, 0), 0U) << "no delay given: at once";
  fixed.backoff->delay_ms = 250;
  for (std::uint32_t r = 0; r < 10; ++r) EXPECT_EQ(delay(fixed, r, 0.9), 250U) << "constant, without jitter";
}

TEST(Executions, T34_jitter_is_uniform_between_half_and_all) {
  const RetryPolicy policy = exponential(1000, 60'000, 2.0, true);
  EXPECT_EQ(delay(policy, 0, 0.0), 500U);
  EXPECT_EQ(delay(policy, 0, 0.5), 750U);
  EXPECT_EQ(delay(policy, 0, 0.999999999999), 1000U);
  for (std::uint64_t whole : {1U, 2U, 3U, 7U, 1000U}) {
    std::uint64_t low = ~0ULL, high = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t d = *delay(exponential(whole, 60'000, 2.0, true), 0, i / 1000.0);
      EXPECT_GE(2 * d, whole);
      EXPECT_LE(d, whole);
      low = std::min(low, d);
      high = std::max(high, d);
    }
    EXPECT_EQ(low, (whole + 1) / 2);
    EXPECT_EQ(high, whole);
  }
}

TEST(Executions, T34_extremes_stay_numbers) {
  EXPECT_EQ(delay(exponential(1000, 60'000, 2.0), 5000), 60'000U) << "2^5000 is infinite";
  EXPECT_EQ(delay(exponential(1000, 60'000, 1e300), 2), 60'000U);
  EXPECT_EQ(delay(exponential(0, 60'000, 2.0), 5000), 0U) << "nothing, however often it is doubled";
  EXPECT_EQ(delay(exponential(0, 60'000, 1e300, true), 2, 0.7), 0U);
  EXPECT_EQ(delay(exponential(1000, 0, 2.0, true), 3, 0.7), 0U);
  EXPECT_EQ(delay(exponential(604'800'000, 604'800'000, 2.0), 0), 604'800'000U);
}

TEST(Domain, T24_which_failures_are_retried) {
  RetryPolicy any;
  any.max_retries = 3;
  auto retried = [&](const RetryPolicy& policy, F failure_class, std::string_view category) {
    return retry_delay_ms(policy, failure_class, category, 0, 0).has_value();
  };
  EXPECT_TRUE(retried(any, F::transient, "transient"));
  EXPECT_TRUE(retried(any, F::transient, "http_503")) << "without a list the class decides";
  EXPECT_TRUE(retried(any, F::infra_crash, "infra_crash"));
  EXPECT_FALSE(retried(any, F::timeout, "timeout"));
  EXPECT_FALSE(retried(any, F::permanent, "permanent"));
  EXPECT_FALSE(retried(any, F::cancelled, "cancelled"));

  RetryPolicy listed = any;
  listed.retryable_categories = {"http_503", "timeout", "permanent"};
  EXPECT_TRUE(retried(listed, F::transient, "http_503"));
  EXPECT_TRUE(retried(listed, F::timeout, "timeout")) << "listed, so it is";
  EXPECT_FALSE(retried(listed, F::transient, "transient")) << "not listed";
  EXPECT_FALSE(retried(listed, F::transient, "HTTP_503")) << "byte for byte";
  EXPECT_FALSE(retried(listed, F::permanent, "permanent")) << "permanent stays permanent";
  EXPECT_FALSE(retried(listed, F::cancelled, "timeout"));
}

TEST(Domain, T24_how_often) {
  RetryPolicy none;
  none.max_retries = 0;
  EXPECT_EQ(delay(none, 0), std::nullopt);
  const RetryPolicy unset;
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_TRUE(delay(unset, r)) << "three by default";
  EXPECT_EQ(delay(unset, 3), std::nullopt) << "the fourth failure is final";
}

}  // namespace
}  // namespace ff::core
