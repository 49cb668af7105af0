#include "cli/failure.h"

#include <gtest/gtest.h>

namespace ff::cli {
namespace {

Error error_of(ErrorCode code) { return {code, "A sentence.", {}}; }

TEST(CliFailure, exit_codes_follow_the_category) {
  EXPECT_EQ(exit_code(error_of(ErrorCode::execution_not_found)), kNotFound);
  EXPECT_EQ(exit_code(error_of(ErrorCode::lane_not_found)), kNotFound);
  EXPECT_EQ(exit_code(error_of(ErrorCode::invalid_input)), kUsage);
  EXPECT_EQ(exit_code(error_of(ErrorCode::invalid_policy_json)), kUsage);
  EXPECT_EQ(exit_code(error_of(ErrorCode::execution_not_active)), kRefused);
  EXPECT_EQ(exit_code(error_of(ErrorCode::idempotency_conflict)), kRefused);
  EXPECT_EQ(exit_code(error_of(ErrorCode::store_refused)), kRefused);
  EXPECT_EQ(exit_code(error_of(ErrorCode::store_unavailable)), kFailed);
  EXPECT_EQ(exit_code(error_of(ErrorCode::resource_exhausted)), kFailed);
  EXPECT_EQ(exit_code(error_of(ErrorCode::timeout)), kFailed);
  EXPECT_EQ(exit_code(error_of(ErrorCode::corruption)), kFailed);
}

TEST(CliFailure, a_wrong_url_is_wrong_usage) {
  Error error = error_of(ErrorCode::store_refused);
  error.context.set("reason", std::string("invalid_url"));
  EXPECT_EQ(exit_code(error), kUsage);
}

TEST(CliFailure, json_keeps_the_context) {
  Error error = error_of(ErrorCode::resource_exhausted);
  error.context.set("max", std::int64_t{5});
  error.context.set("names", std::vector<std::string>{"a", "b"});
  EXPECT_EQ(core::json::serialize(to_json(error)),
            R"({"code":"resource_exhausted","message":"A sentence.","retryable":true,"context":{"max":5,"names":["a","b"]}})");
}

}  // namespace
}  // namespace ff::cli
