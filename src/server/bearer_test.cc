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

TEST(ServerBearer, one_token_is_known_and_no_other) {
  const auto authenticate = one_token("s3cret");
  auto knows = [&](Headers headers) {
    Request request;
    request.headers = std::move(headers);
    bool known = false;
    authenticate(request, [&](Result<std::optional<Principal>> found) { known = found->has_value(); });
    return known;
  };
  EXPECT_TRUE(knows({{"authorization", "Bearer s3cret"}}));
  for (const char* wrong : {"Bearer s3cre", "Bearer s3cret ", "Bearer s3crets", "Bearer S3CRET", "s3cret"})
    EXPECT_FALSE(knows({{"Authorization", wrong}})) << wrong;
  EXPECT_FALSE(knows({}));
}

}  // namespace
}  // namespace ff::server
