#include "core/base64.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

std::string some_bytes(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i * 37 + count));
  return bytes;
}

TEST(Base64, known_texts) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64url("foob"), "Zm9vYg");
  EXPECT_EQ(base64("\xfb\xff"), "+/8=");
  EXPECT_EQ(base64url("\xfb\xff"), "-_8");
}

TEST(Base64, what_was_written_is_read_whatever_its_length) {
  for (std::size_t count = 0; count < 50; ++count) {
    const std::string bytes = some_bytes(count);
    EXPECT_EQ(from_base64(base64(bytes)), bytes) << count;
    EXPECT_EQ(from_base64url(base64url(bytes)), bytes) << count;
  }
}

TEST(Base64, a_character_that_is_no_digit_is_refused_wherever_it_stands) {
  for (std::size_t count : {1, 2, 3, 4, 5, 6, 30}) {
    const std::string text = base64url(some_bytes(count));
    for (std::size_t at = 0; at < text.size(); ++at)
      for (char bad : {'=', ' ', '+', '\0', '\xff'}) {
        std::string changed = text;
        changed[at] = bad;
        EXPECT_FALSE(from_base64url(changed)) << changed << " at " << at;
      }
  }
}

TEST(Base64, bits_behind_the_last_byte_must_be_zero) {
  EXPECT_EQ(from_base64url("Zg"), "f");
  EXPECT_FALSE(from_base64url("Zh"));
  EXPECT_EQ(from_base64url("Zm8"), "fo");
  EXPECT_FALSE(from_base64url("Zm9"));
}

TEST(Base64, a_length_that_no_bytes_have_is_refused) {
  EXPECT_FALSE(from_base64url("Z"));
  EXPECT_FALSE(from_base64url("Zm9vY"));
  EXPECT_FALSE(from_base64("Zg")) << "padding is wanted";
  EXPECT_FALSE(from_base64("Zm9v=")) << "and not too much of it";
  EXPECT_FALSE(from_base64("Z==="));
}

}  // namespace
}  // namespace ff::core
