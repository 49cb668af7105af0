#include "client/retry.h"

#include <gtest/gtest.h>

namespace ff::client {
namespace {

Error error(ErrorCode code) { return {code, "", {}}; }
constexpr auto kNone = std::nullopt;

TEST(ClientRetry, a_server_that_is_away_is_waited_for_as_long_as_the_rules_say) {
  const Error away = error(ErrorCode::store_unavailable);
  EXPECT_EQ(next_try({}, away, {false, 1, 0}, 0), 50);
  EXPECT_EQ(next_try({}, away, {false, 1, 0}, 0.999), 99);
  EXPECT_EQ(next_try({}, away, {false, 3, 500}, 0), 200);
  EXPECT_EQ(next_try({}, away, {false, 90, 20'000}, 0), 2'500) << "the delay has a bound";
  EXPECT_EQ(next_try({}, away, {false, 90, 29'000}, 0), kNone);
  EXPECT_EQ(next_try({.retry_ms = 0}, away, {false, 1, 0}, 0), kNone);
  EXPECT_TRUE(next_try({}, error(ErrorCode::draining), {true, 20, 10'000}, 0)) << "it goes, another one comes";
}

TEST(ClientRetry, a_server_that_is_busy_is_asked_some_times) {
  for (ErrorCode code : {ErrorCode::resource_exhausted, ErrorCode::rate_limit_exceeded, ErrorCode::store_unavailable}) {
    EXPECT_EQ(next_try({}, error(code), {true, 4, 0}, 0), 400);
    EXPECT_EQ(next_try({}, error(code), {true, 5, 0}, 0), kNone);
  }
}

TEST(ClientRetry, what_the_server_asks_for_is_kept_to) {
  const Error busy{ErrorCode::rate_limit_exceeded, "", {{"retry_after_ms", std::int64_t{7'000}}}};
  EXPECT_EQ(next_try({}, busy, {true, 1, 0}, 0), 7'000);
  EXPECT_EQ(next_try({.retry_ms = 5'000}, busy, {true, 1, 0}, 0), kNone) << "longer than anybody waits";
}

TEST(ClientRetry, other_refusals_are_final) {
  for (ErrorCode code : {ErrorCode::execution_not_found, ErrorCode::stale_lease, ErrorCode::execution_not_eligible,
                         ErrorCode::capability_mismatch, ErrorCode::unauthorized, ErrorCode::timeout, ErrorCode::store_refused})
    EXPECT_EQ(next_try({}, error(code), {true, 1, 0}, 0), kNone);
}

}  // namespace
}  // namespace ff::client
