#include "core/describe_calls.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

/// What is written straight into text says the same as the value would.
template <class T>
void expect_same(const T& v) {
  const std::string text = to_json_text(v);
  auto parsed = parse_json(text);
  ASSERT_TRUE(parsed) << text;
  EXPECT_EQ(*parsed, to_value(v)) << text;
}

TEST(JsonWrite, texts_with_everything_in_them) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
  expect_same(all);
  EXPECT_EQ(to_json_text(std::string("a\"b\\c\n\x01/\x7f")), "\"a\\\"b\\\\c\\n\\u0001/\x7f\"");
  EXPECT_EQ(to_json_text(std::string()), "\"\"");
  EXPECT_EQ(to_json_text(std::string("a\xff\"b")), "\"a\xef\xbf\xbd\\\"b\"") << "no byte makes a document unreadable";
}

TEST(JsonWrite, numbers_at_their_edges) {
  EXPECT_EQ(to_json_text(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(to_json_text(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(to_json_text(0.376), "0.376");
  EXPECT_EQ(to_json_text(2.0), "2.0");
  EXPECT_EQ(to_json_text(1e300), "1e+300");
  EXPECT_EQ(to_json_text(std::uint8_t{7}), "7");
  EXPECT_EQ(to_json_text(true), "true");
}

TEST(JsonWrite, lists_and_maps) {
  EXPECT_EQ(to_json_text(std::vector<std::string>{}), "[]");
  EXPECT_EQ(to_json_text(std::vector<int>{1, 2}), "[1,2]");
  EXPECT_EQ(to_json_text(Tags{}), "{}");
  EXPECT_EQ(to_json_text(Tags{{"a", "1"}, {"b\"", "2"}}), R"({"a":"1","b\"":"2"})");
  EXPECT_EQ(to_json_text(std::map<std::string, std::optional<std::string>>{{"a", std::nullopt}}), R"({"a":null})");
}

TEST(JsonWrite, described_values) {
  Submission submission;
  submission.execution_kind = "k";
  submission.tags = {{"a", "b"}};
  submission.priority = -3;
  submission.policy.emplace();
  expect_same(submission);
  expect_same(Submission{});
  expect_same(Execution{});
  expect_same(ClaimedTask{});
  expect_same(LaneStatus{});
  EXPECT_EQ(to_json_text(PriorityChanged{1, 2}), R"({"old_priority":1,"new_priority":2})");
}

}  // namespace
}  // namespace ff::core
