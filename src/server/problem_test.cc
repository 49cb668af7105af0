#include "server/problem.h"

#include <gtest/gtest.h>

namespace ff::server {
namespace {

namespace json = core::json;

std::string header(const Response& response, std::string_view name) {
  const std::string* found = find_header(response.headers, name);
  return found ? *found : "";
}

TEST(ServerProblem, T21_every_code_has_its_status_title_and_name) {
  int codes = 0;
#define FF_CODE(name, category_, kind, http, retry)                                              \
  {                                                                                              \
    const Response response = problem_response({ErrorCode::name, "What to do.", {}}, "req-1");   \
    const json::object document = json::parse(response.body).as_object();                        \
    EXPECT_EQ(response.status, http);                                                            \
    EXPECT_EQ(header(response, "content-type"), "application/problem+json");                     \
    EXPECT_EQ(document.at("status"), http);                                                      \
    EXPECT_EQ(document.at("code"), #name);                                                       \
    EXPECT_EQ(document.at("type"), "https://flowfabric.dev/errors/" #name);                      \
    EXPECT_EQ(document.at("retryable"), retry);                                                  \
    EXPECT_FALSE(document.at("detail").as_string().empty());                                     \
    EXPECT_TRUE(document.at("context").is_object());                                             \
    ++codes;                                                                                     \
  }
  FF_ERROR_CODES(FF_CODE)
#undef FF_CODE
  EXPECT_GT(codes, 70);
  EXPECT_EQ(problem_title(ErrorCode::stale_lease), "Stale lease");
}

TEST(ServerProblem, context_holds_the_typed_facts) {
  const Error error{ErrorCode::stale_lease,
                    "Stop this task.",
                    {{"execution_id", std::string("{fp:7}:x")},
                     {"lease_epoch", std::int64_t{4}},
                     {"missing", std::vector<std::string>{"gpu"}}}};
  const json::object document = problem_document(error, "r");
  EXPECT_EQ(document.at("detail"), "Stop this task.");
  EXPECT_EQ(json::serialize(document.at("context")),
            R"({"execution_id":"{fp:7}:x","lease_epoch":4,"missing":["gpu"]})");
}

TEST(ServerProblem, T21_texts_of_the_store_and_faults_of_our_own_stay_in_the_log) {
  for (ErrorCode code : {ErrorCode::corruption, ErrorCode::invariant_violation, ErrorCode::invalid_secret,
                         ErrorCode::store_unavailable, ErrorCode::store_refused}) {
    const Error error{code, "SELECT * FROM ff_exec_core; password=hunter2", {{"detail", std::string("hunter2")}}};
    EXPECT_TRUE(is_for_the_log(error));
    const std::string text = problem_response(error, "req-77").body;
    EXPECT_EQ(text.find("hunter2"), text.npos) << text;
    EXPECT_EQ(text.find("SELECT"), text.npos) << text;
    EXPECT_NE(text.find("req-77"), text.npos) << text;
  }
  EXPECT_FALSE(is_for_the_log({ErrorCode::stale_lease, "", {}}));
}

TEST(ServerProblem, no_name_of_a_secret_is_shown) {
  const Error error{ErrorCode::invalid_handle,
                    "The handle was altered.",
                    {{"handle", std::string("s3cret")},
                     {"token", std::string("s3cret")},
                     {"password", std::string("s3cret")},
                     {"detail", std::string("altered")}}};
  EXPECT_EQ(json::serialize(problem_document(error, "r").at("context")), R"({"detail":"altered"})");
}

TEST(ServerProblem, a_known_time_to_wait_is_told_twice) {
  auto after = [](Error error) {
    const Response response = problem_response(error, "r");
    const json::object document = json::parse(response.body).as_object();
    const json::value* ms = document.if_contains("retry_after_ms");
    return std::pair(ms ? ms->as_int64() : -1, header(response, "retry-after"));
  };
  EXPECT_EQ(after({ErrorCode::draining, "", {}}), std::pair(std::int64_t{1000}, std::string("1")));
  EXPECT_EQ(after({ErrorCode::resource_exhausted, "", {}}), std::pair(std::int64_t{25}, std::string("1")));
  EXPECT_EQ(after({ErrorCode::rate_limit_exceeded, "", {{"retry_after_ms", std::int64_t{1001}}}}),
            std::pair(std::int64_t{1001}, std::string("2")));
  EXPECT_EQ(after({ErrorCode::stale_lease, "", {}}), std::pair(std::int64_t{-1}, std::string()));
}

TEST(ServerProblem, a_field_that_is_wrong_is_named_with_what_it_may_be) {
  const Error unknown = input_error({"prioritty", core::JsonFault::unknown_member, {}});
  EXPECT_EQ(unknown.code, ErrorCode::invalid_input);
  EXPECT_EQ(unknown.context.text("field"), "prioritty");
  EXPECT_EQ(unknown.context.text("reason"), "unknown_field");
  EXPECT_NE(unknown.message.find("prioritty"), std::string::npos);
  EXPECT_EQ(input_error({"max", core::JsonFault::wrong_type, "an integer"}).message, "'max' has to be an integer.");
  EXPECT_EQ(input_error({"", core::JsonFault::wrong_type, "a JSON object"}).context.text("field"), "body");
  const Error echo = input_error({std::string(5000, 'x') + "\n", core::JsonFault::unknown_member, {}});
  EXPECT_EQ(echo.context.text("field").size(), 200U);
}

}  // namespace
}  // namespace ff::server
