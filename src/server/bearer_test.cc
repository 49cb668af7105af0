#include "server/bearer.h"

#include <gtest/gtest.h>

namespace ff::server {
namespace {

std::string token_of(std::string header) {
  return std::string(bearer_token({{"Authorization", std::move(header)}}).value_or("none"));
}

TEST(ServerBearer, the_token_of_a_request) {
  EXPECT_EQ(token_of("Bearer abc"), "abc");
  EXPECT_EQ(token_of("bEARER  abc"), "abc");
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer   ", "Basic abc", "abc", "Bearerabc"}) EXPECT_EQ(token_of(wrong), "none");
  EXPECT_FALSE(bearer_token({}));
}

}  // namespace
}  // namespace ff::server
