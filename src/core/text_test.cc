#include "core/text.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

TEST(Text, tells_utf8_from_other_bytes) {
  for (std::string_view good : {"", "plain", "é", "东京", "\xf0\x9f\x9a\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_utf8("\x80")) << "a continuation without a beginning";
  EXPECT_FALSE(is_utf8("a\xff"));
  EXPECT_FALSE(is_utf8("\xe4\xb8")) << "cut short";
  EXPECT_FALSE(is_utf8("\xc3z"));
  EXPECT_FALSE(is_utf8("\xc0\x80")) << "longer than need be";
  EXPECT_FALSE(is_utf8("\xe0\x80\xaf"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80")) << "half of a surrogate pair";
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80")) << "beyond Unicode";
  EXPECT_FALSE(is_utf8("\xf8\x88\x80\x80\x80"));
}

TEST(Text, cleans_what_is_not_utf8_and_leaves_the_rest) {
  EXPECT_EQ(clean_text("né", 100), "né");
  EXPECT_EQ(clean_text("né", 2), "n") << "cut at a character";
  EXPECT_EQ(clean_text("a\xff" "b", 100), "a\xef\xbf\xbd" "b");
  EXPECT_EQ(clean_text("\xe4\xb8", 100), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(clean_text("\xe4\xb8é", 100), "\xef\xbf\xbd\xef\xbf\xbdé");
  EXPECT_EQ(clean_text("\xff\xff", 5), "\xef\xbf\xbd") << "what was put in counts too";
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_TRUE(is_utf8(clean_text(all + all, 4096)));
}

TEST(Text, truncates_at_a_character_border) {
  EXPECT_EQ(truncate_utf8("abcdef", 6), "abcdef");
  EXPECT_EQ(truncate_utf8("abcdef", 3), "abc");
  EXPECT_EQ(truncate_utf8("abcdef", 0), "");
  EXPECT_EQ(truncate_utf8("a\xc3\xa9z", 2), "a") << "half an e with an accent is none";
  EXPECT_EQ(truncate_utf8("a\xc3\xa9z", 3), "a\xc3\xa9");
  EXPECT_EQ(truncate_utf8("\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80", 7), "\xf0\x9f\x9a\x80");
  EXPECT_EQ(truncate_utf8("\xf0\x9f\x9a\x80", 3), "");
}

TEST(Text, controls_become_spaces) {
  EXPECT_EQ(without_controls("a\nb\tc\x7f" "d\xc3\xa9"), "a b c d\xc3\xa9");
  EXPECT_EQ(without_controls(std::string("\0x", 2)), " x");
}

}  // namespace
}  // namespace ff::core
