#include "core/describe_calls.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

std::string json_fault(std::string_view text) {
  auto parsed = parse_json(text);
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_input);
  return std::string(parsed.error().context.text("reason"));
}

TEST(Json, parses_one_document_and_nothing_else) {
  EXPECT_EQ(json_fault(R"({"a": [1, 2.5, "x", null, true]})"), "");
  EXPECT_EQ(json_fault(" 7 "), "");
  for (std::string_view bad : {"", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "{} {}", "nul", "01", "+1", "NaN",
                               "Infinity", "\"\\x\"", "/* c */ {}", "\"a\nb\"", "\"\xff\"", "\"\xc0\x80\""})
    EXPECT_EQ(json_fault(bad), "malformed_json") << bad;
}

TEST(Json, depth_is_bounded) {
  auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(json_fault(nested(64)), "");
  EXPECT_EQ(json_fault(nested(65)), "malformed_json");
  EXPECT_TRUE(parse_json(nested(kAnswerDepthMax), kAnswerDepthMax));
  EXPECT_FALSE(parse_json(nested(kAnswerDepthMax + 1), kAnswerDepthMax));
  EXPECT_EQ(json_fault(std::string(1'000'000, '[')), "malformed_json");
}

TEST(Json, a_member_that_stands_twice_is_refused) {
  EXPECT_EQ(json_fault(R"({"a":1,"b":2,"a":3})"), "duplicate_member");
  EXPECT_EQ(json_fault(R"({"x":{"deep":[{"a":1,"a":1}]}})"), "duplicate_member");
  EXPECT_EQ(json_fault(R"({"a":1,"\u0061":2})"), "duplicate_member") << "spelled differently, the same name";
  EXPECT_EQ(json_fault(R"([{"a":1},{"a":2}])"), "") << "in two objects it is two members";
  EXPECT_EQ(json_fault(R"({"a":{"a":1}})"), "");
  auto parsed = parse_json(R"({"first":1,"second":2,"second":2})");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().context.text("field"), "second");
}

TEST(Json, canonical_text_ignores_order_and_white_space_only) {
  auto canonical = [](std::string_view text) { return canonical_json(*parse_json(text)); };
  EXPECT_EQ(canonical(R"({"b": [2, 1], "a": {"y": null, "x": "q\"" } })"), R"({"a":{"x":"q\"","y":null},"b":[2,1]})");
  EXPECT_EQ(canonical(R"({"a":1,"b":2})"), canonical(R"({ "b":2, "a":1 })"));
  EXPECT_NE(canonical("[1,2]"), canonical("[2,1]"));
  EXPECT_NE(canonical("1"), canonical("\"1\""));
  EXPECT_EQ(canonical("{}"), "{}");
  EXPECT_EQ(canonical("[]"), "[]");
}

template <class T>
std::string read_fault(std::string_view text, T& to) {
  JsonReader reader;
  if (reader.read(*parse_json(text), to)) return "";
  const char* const words[] = {"wrong_type", "out_of_range", "unknown_member", "missing", "unknown_value"};
  return fmt::format("{}:{}", reader.problem().path, words[static_cast<int>(reader.problem().fault)]);
}
template <class T>
std::string read_fault(std::string_view text) {
  T value{};
  return read_fault(text, value);
}

TEST(Json, numbers_are_never_coerced) {
  EXPECT_EQ(read_fault<std::uint32_t>("4294967295"), "");
  EXPECT_EQ(read_fault<std::uint32_t>("4294967296"), ":out_of_range");
  EXPECT_EQ(read_fault<std::uint32_t>("-1"), ":out_of_range");
  EXPECT_EQ(read_fault<std::int32_t>("-2147483648"), "");
  EXPECT_EQ(read_fault<std::int32_t>("2147483648"), ":out_of_range");
  EXPECT_EQ(read_fault<std::int64_t>("9223372036854775808"), ":out_of_range");
  EXPECT_EQ(read_fault<std::uint64_t>("18446744073709551615"), "");
  EXPECT_EQ(read_fault<std::uint32_t>("1.0"), ":wrong_type") << "a fraction is no whole number";
  EXPECT_EQ(read_fault<std::uint32_t>("\"1\""), ":wrong_type");
  EXPECT_EQ(read_fault<std::uint32_t>("true"), ":wrong_type");
  EXPECT_EQ(read_fault<bool>("1"), ":wrong_type");
  EXPECT_EQ(read_fault<std::string>("1"), ":wrong_type");
  EXPECT_EQ(read_fault<double>("\"1\""), ":wrong_type");
  double number = 0;
  EXPECT_EQ(read_fault("3", number), "");
  EXPECT_EQ(number, 3.0);
  std::uint64_t large = 0;
  EXPECT_EQ(read_fault("18446744073709551615", large), "");
  EXPECT_EQ(large, ~0ULL);
}

TEST(Json, faults_carry_their_path) {
  EXPECT_EQ(read_fault<Policy>(R"({"retry_policy":{"backoff":{"delay_ms":-1}}})"),
            "retry_policy.backoff.delay_ms:out_of_range");
  EXPECT_EQ(read_fault<Policy>(R"({"retry_policy":{"retryable_categories":["a",1]}})"),
            "retry_policy.retryable_categories[1]:wrong_type");
  EXPECT_EQ(read_fault<Policy>(R"({"retry_policy":{"max":1}})"), "retry_policy.max:unknown_member");
  EXPECT_EQ(read_fault<Policy>(R"({"lease_loss_policy":"both"})"), "lease_loss_policy:unknown_value");
  EXPECT_EQ(read_fault<Policy>(R"({"priority":null})"), "priority:wrong_type") << "unset is left out, never null";
  EXPECT_EQ(read_fault<Policy>("[]"), ":wrong_type");
  EXPECT_EQ(read_fault<Tags>(R"({"a":"b","c":1})"), "c:wrong_type");
  EXPECT_EQ(read_fault<Uuid>("\"550e8400\""), ":unknown_value");
  EXPECT_EQ(read_fault<ExecutionId>("\"550e8400-e29b-41d4-a716-446655440000\""), ":unknown_value");
}

TEST(Json, a_fault_says_what_may_stand_there) {
  auto expected = [](std::string_view text, auto to) {
    JsonReader reader;
    EXPECT_FALSE(reader.read(*parse_json(text), to)) << text;
    return reader.problem().expected;
  };
  EXPECT_EQ(expected("\"x\"", std::uint32_t{}), "an integer");
  EXPECT_EQ(expected("-1", std::uint16_t{}), "an integer from 0 to 65535");
  EXPECT_EQ(expected("\"x\"", LeaseLossPolicy{}), "one of reclaim, retry");
  EXPECT_EQ(expected("7", LeaseLossPolicy{}), "one of reclaim, retry");
  EXPECT_EQ(expected("7", std::string{}), "a text");
  EXPECT_EQ(expected("{}", std::vector<std::string>{}), "a list");
  EXPECT_EQ(expected("[1]", Tags{}), "an object");
  EXPECT_EQ(expected("\"x\"", Uuid{}), "a UUID of 36 characters");
}

TEST(Json, what_is_required_has_to_be_there) {
  EXPECT_EQ(read_fault<OperatorFail>("{}"), "execution_id:missing");
  const std::string id = R"("execution_id":"{fp:0}:550e8400-e29b-41d4-a716-446655440000")";
  EXPECT_EQ(read_fault<OperatorFail>("{" + id + "}"), "message:missing");
  EXPECT_EQ(read_fault<OperatorFail>("{" + id + R"(,"mesage":"m"})"), "mesage:unknown_member") << "a typo is named first";
  EXPECT_EQ(read_fault<OperatorFail>("{" + id + R"(,"message":"m"})"), "");
}

TEST(Json, only_in_maps_null_says_something) {
  std::map<std::string, std::optional<std::string>> tags;
  EXPECT_EQ(read_fault(R"({"gone":null,"kept":"x"})", tags), "");
  EXPECT_EQ(tags.size(), 2U);
  EXPECT_EQ(tags.at("gone"), std::nullopt);
  EXPECT_EQ(read_fault<Tags>(R"({"a":null})"), "a:wrong_type");
}

TEST(Json, a_text_that_is_no_json_is_told_with_its_place) {
  EXPECT_EQ(parse_json(R"({"a":1} x)").error().context.number("at_byte"), 8);
  EXPECT_EQ(parse_json("[1,]").error().context.number("at_byte"), 3);
}

TEST(Json, described_values_come_back_equal) {
  Attempt attempt;
  attempt.attempt_index = 3;
  attempt.attempt_id = *Uuid::parse("11111111-1111-4111-8111-111111111111");
  attempt.attempt_type = AttemptType::reclaim;
  attempt.outcome = AttemptOutcome::lease_expired_reclaimable;
  attempt.worker_id = "quote \" backslash \\ newline \n nul \0 end";
  attempt.release_op = ReleaseOp::operator_;
  attempt.usage = {{"input_tokens", 18446744073709551615ULL}};
  const std::string text = to_json_text(attempt);
  Attempt back;
  EXPECT_EQ(read_fault(text, back), "");
  EXPECT_EQ(back, attempt);
  EXPECT_EQ(text.find("null"), std::string::npos) << "unset members are left out";
  EXPECT_NE(text.find(R"("release_op":"operator")"), std::string::npos) << text;
}

TEST(Json, groups_are_flat_on_the_wire) {
  Execution execution;
  execution.namespace_ = "tenant";
  const json::object object = to_value(execution).get_object();
  EXPECT_EQ(object.at("lifecycle_phase"), "runnable");
  EXPECT_EQ(object.at("namespace"), "tenant") << "the underscore only avoids a keyword";
  EXPECT_EQ(object.at("retry_count"), 0);
  EXPECT_FALSE(object.contains("state"));
  EXPECT_FALSE(object.contains("delay_until_ms"));
}

}  // namespace
}  // namespace ff::core
