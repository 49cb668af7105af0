#include "engine/cursors.h"

#include "engine/handles.h"

#include <gtest/gtest.h>

#include <limits>

namespace ff::engine {
namespace {

const Uuid kUuid = *Uuid::parse("550e8400-e29b-41d4-a716-446655440000");

template <class T>
void expect_refused(const Result<T>& parsed, std::string_view text) {
  ASSERT_FALSE(parsed) << text;
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_offset) << text;
}

TEST(Cursors, a_cursor_comes_back_as_it_was_given) {
  for (TimeMs at : {TimeMs{0}, TimeMs{-1}, TimeMs{1'700'000'000'123}, std::numeric_limits<TimeMs>::max(),
                    std::numeric_limits<TimeMs>::min()}) {
    const store::ListPosition position{at, {65'535, kUuid}, 9'000};
    const auto listed = parse_list_cursor(list_cursor(position)), by_priority = parse_priority_cursor(priority_cursor(position));
    for (const auto& read : {listed, by_priority}) {
      EXPECT_EQ(read->created_at_ms, at);
      EXPECT_EQ(read->id, position.id);
    }
    EXPECT_EQ(by_priority->priority, 9'000);
    EXPECT_EQ(*parse_number_cursor(number_cursor(at)), at);
    EXPECT_EQ(*parse_lease_cursor(lease_cursor(at, "{fp:3}:x")), std::pair(at, std::string("{fp:3}:x")));
  }
  const std::string texts[] = {"", "lane", std::string("\0\xff x", 4), std::string(300, 'x')};
  for (const auto& text : texts) EXPECT_EQ(*parse_text_cursor(text_cursor(text)), text);
}

TEST(Cursors, a_cursor_of_another_list_is_refused) {
  const std::string list = list_cursor({1, {2, kUuid}}), number = number_cursor(1), text = text_cursor("12345678"),
                    lease = lease_cursor(1, "id");
  for (const auto& other : {number, text, lease}) expect_refused(parse_list_cursor(other), other);
  for (const auto& other : {list, text, lease}) expect_refused(parse_number_cursor(other), other);
  for (const auto& other : {list, number, lease}) expect_refused(parse_text_cursor(other), other);
  for (const auto& other : {list, number, text}) expect_refused(parse_lease_cursor(other), other);
  expect_refused(parse_list_cursor(priority_cursor({1, {2, kUuid}})), list);
  for (const auto& other : {list, number, text, lease}) expect_refused(parse_priority_cursor(other), other);
  for (std::int32_t priority : {-1, 9'001}) expect_refused(parse_priority_cursor(priority_cursor({1, {2, kUuid}, priority})), list);
}

TEST(Cursors, what_is_no_cursor_is_refused) {
  for (const char* text : {"", "=", "not a cursor", "AAAA", "////", "A"}) {
    expect_refused(parse_list_cursor(text), text);
    expect_refused(parse_number_cursor(text), text);
    expect_refused(parse_text_cursor(text), text);
    expect_refused(parse_lease_cursor(text), text);
  }
}

TEST(Cursors, a_cut_or_longer_cursor_is_refused) {
  const std::string list = list_cursor({1'700'000'000'000, {2, kUuid}});
  for (std::size_t size = 0; size < list.size(); ++size) expect_refused(parse_list_cursor(list.substr(0, size)), list);
  expect_refused(parse_list_cursor(list + "AAAA"), list);
  const std::string number = number_cursor(77);
  for (std::size_t size = 0; size < number.size(); ++size)
    expect_refused(parse_number_cursor(number.substr(0, size)), number);
  expect_refused(parse_number_cursor(number + "AAAA"), number);
  // A lease cursor ends with a text; what must be whole is its number.
  expect_refused(parse_lease_cursor(base64url("l1234567")), "seven bytes");
}

TEST(Cursors, a_partition_that_cannot_be_is_refused) {
  std::string bytes = *from_base64url(list_cursor({1, {65'535, kUuid}}));
  bytes[1 + 8 + 5] = 1;  // 131,071
  expect_refused(parse_list_cursor(base64url(bytes)), "partition");
}

TEST(Cursors, nothing_that_was_altered_crashes) {
  const std::string list = list_cursor({1'700'000'000'000, {2, kUuid}});
  for (std::size_t at = 0; at < list.size(); ++at)
    for (char c : {'A', '_', '%', '\0'}) {
      std::string altered = list;
      altered[at] = c;
      auto parsed = parse_list_cursor(altered);
      EXPECT_TRUE(parsed || parsed.error().code == ErrorCode::invalid_offset);
    }
}

}  // namespace
}  // namespace ff::engine
