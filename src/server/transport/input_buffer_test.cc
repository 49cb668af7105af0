#include "server/transport/input_buffer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ff::server::transport {
namespace {

void fill(InputBuffer& buffer, std::string_view text) {
  while (!text.empty()) {
    const auto room = buffer.room();
    ASSERT_FALSE(room.empty());
    const std::size_t some = std::min(room.size(), text.size());
    text.copy(room.data(), some);
    buffer.filled(some);
    text.remove_prefix(some);
  }
}

TEST(InputBuffer, keeps_what_was_not_used) {
  InputBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  fill(buffer, "hello world");
  buffer.use(6);
  EXPECT_EQ(buffer.unused(), "world");
  fill(buffer, "!");
  EXPECT_EQ(buffer.unused(), "world!");
  buffer.use(6);
  EXPECT_TRUE(buffer.empty());
}

TEST(InputBuffer, is_small_until_much_comes_and_small_again_at_rest) {
  InputBuffer buffer;
  EXPECT_EQ(buffer.room().size(), InputBuffer::kSmallBytes);
  fill(buffer, std::string(InputBuffer::kSmallBytes, 'a'));
  buffer.use(InputBuffer::kSmallBytes);
  EXPECT_EQ(buffer.room().size(), InputBuffer::kLargeBytes) << "the last read filled it";
  fill(buffer, "rest");
  buffer.rest();
  EXPECT_EQ(buffer.unused(), "rest");
  EXPECT_EQ(buffer.room().size(), InputBuffer::kSmallBytes - 4);
}

TEST(InputBuffer, grows_for_what_cannot_be_used_yet) {
  InputBuffer buffer;
  const std::string text(300'000, 'x');
  fill(buffer, text);
  EXPECT_EQ(buffer.unused(), text);
  buffer.rest();
  EXPECT_EQ(buffer.unused(), text) << "what is there stays";
}

TEST(InputBuffer, whatever_the_order_nothing_is_lost) {
  std::mt19937 random(7);
  InputBuffer buffer;
  std::string model;
  for (int i = 0; i < 20'000; ++i) {
    switch (random() % 4) {
      case 0: {
        const std::string text(random() % 3'000, static_cast<char>('a' + i % 26));
        fill(buffer, text);
        model += text;
        break;
      }
      case 1: buffer.rest(); break;
      default: {
        const std::size_t some = model.empty() ? 0 : random() % (model.size() + 1);
        buffer.use(some);
        model.erase(0, some);
      }
    }
    ASSERT_EQ(buffer.unused(), model);
  }
}

}  // namespace
}  // namespace ff::server::transport
