#include "server/blob.h"
#include "server/json_text.h"

#include <gtest/gtest.h>

#include <random>

namespace ff::server {
namespace {

namespace json = core::json;

/// Some JSON with blanks wherever they may stand.
class RandomJson {
 public:
  explicit RandomJson(std::uint32_t seed) : random_(seed) {}

  std::string value(int depth) {
    switch (pick(depth > 0 ? 7 : 5)) {
      case 0: return "null";
      case 1: return pick(2) ? "true" : "false";
      case 2: return std::to_string(static_cast<int>(pick(1000)) - 500);
      case 3: return "1.50e-2";
      case 4: return text();
      case 5: return list(depth);
      default: return object(depth);
    }
  }
  std::string object(int depth) {
    std::string out = "{" + blanks();
    const std::size_t count = pick(4);
    for (std::size_t i = 0; i < count; ++i)
      out += (i ? "," : "") + blanks() + fmt::format("\"k{}\\\"\\\\\"", i) + blanks() + ":" + blanks() +
             value(depth - 1) + blanks();
    return out + "}";
  }
  std::string list(int depth) {
    std::string out = "[" + blanks();
    const std::size_t count = pick(4);
    for (std::size_t i = 0; i < count; ++i) out += (i ? "," : "") + blanks() + value(depth - 1) + blanks();
    return out + "]";
  }

 private:
  std::size_t pick(std::size_t bound) { return random_() % bound; }
  std::string blanks() { return std::string(pick(3), " \n\t"[pick(3)]); }
  std::string text() {
    constexpr const char* kTexts[] = {"\"\"", "\"a,b:c\"", "\"}]{[\"", "\"\\\"\"", "\"\\\\\"", "\"\\u00e9 \xc3\xa9\""};
    return kTexts[pick(std::size(kTexts))];
  }
  std::mt19937 random_;
};

TEST(ServerJsonText, members_and_elements_are_what_a_parser_sees) {
  for (std::uint32_t seed = 0; seed < 2'000; ++seed) {
    RandomJson random(seed);
    const std::string object = random.object(4);
    const json::object parsed = json::parse(object).as_object();
    const auto members = raw_members(object);
    ASSERT_EQ(members.size(), parsed.size()) << object;
    for (const auto& member : members) EXPECT_EQ(json::parse(member.text), parsed.at(member.name)) << object;
    const std::string list = random.list(4);
    const json::array items = json::parse(list).as_array();
    const auto elements = raw_elements(list);
    ASSERT_EQ(elements.size(), items.size()) << list;
    for (std::size_t i = 0; i < items.size(); ++i) EXPECT_EQ(json::parse(elements[i]), items[i]) << list;
  }
}

TEST(ServerJsonText, an_object_is_put_together) {
  ObjectText text;
  text.add("a", 1);
  text.add_text("b\"", "{ \"x\":1.0 }");
  text.add_all(PriorityChanged{3, 4});
  EXPECT_EQ(std::move(text).take(), R"({"a":1,"b\"":{ "x":1.0 },"old_priority":3,"new_priority":4})");
  ObjectText first;
  first.add_all(PriorityChanged{3, 4});
  EXPECT_EQ(std::move(first).take(), R"({"old_priority":3,"new_priority":4})");
  EXPECT_EQ(ObjectText().take(), "{}");
}

TEST(ServerJsonText, the_one_member_of_an_object) {
  EXPECT_EQ(sole_member(R"( { "a" : [1, {}] } )")->text, "[1, {}]");
  EXPECT_EQ(sole_member(R"({"\u0061":1})")->name, "a");
  for (const char* other : {"{}", "[]", "7", R"({"a":1,"b":2})", R"("a")"}) EXPECT_FALSE(sole_member(other)) << other;
}

TEST(ServerBlob, what_another_document_cannot_hold_is_encoded) {
  const auto is_encoded = [](const std::string& bytes) { return blob_text(bytes, "application/json") != bytes; };
  EXPECT_FALSE(is_encoded(R"({"a":1})"));
  EXPECT_FALSE(is_encoded(std::string(64, '[') + std::string(64, ']')));
  EXPECT_TRUE(is_encoded(std::string(65, '[') + std::string(65, ']')));
  for (const char* text : {R"({"a":1,"a":2})", "{", "", R"({"base64":"AA=="})", "1 2"}) EXPECT_TRUE(is_encoded(text)) << text;
}

TEST(ServerBlob, base64_and_back) {
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
  EXPECT_EQ(from_base64("//79"), "\xff\xfe\xfd");
  EXPECT_EQ(from_base64(""), "");
  for (const char* bad : {"Zg", "Zg=", "Zg===", "Z===", "____", "Zh==", "Zm 9", "=Zg="}) EXPECT_FALSE(from_base64(bad)) << bad;
}

TEST(ServerBlob, in_answers_json_stands_as_it_is) {
  EXPECT_EQ(blob_text("{ \"a\":1.0 }", "application/json"), "{ \"a\":1.0 }");
  EXPECT_EQ(blob_text("{}", "application/json; charset=utf-8"), "{}");
  EXPECT_EQ(blob_text("{", "application/json"), R"({"base64":"ew=="})");
  EXPECT_EQ(blob_text("{}", "text/plain"), R"({"base64":"e30="})");
  EXPECT_EQ(blob_text("", "application/json"), R"({"base64":""})");
  EXPECT_EQ(blob_text(R"({"base64":"AA=="})", "application/json"), R"({"base64":"eyJiYXNlNjQiOiJBQT09In0="})");
}

}  // namespace
}  // namespace ff::server
