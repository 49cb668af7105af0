#include "engine/tokens.h"

#include "support/manual_runtime.h"

#include <gmock/gmock.h>

namespace ff::engine {
namespace {

const Uuid kId = Uuid::parse("018f0000-0000-7000-8000-0000000000ab").value();

TEST(TokenTexts, are_the_id_and_a_secret_that_only_its_owner_has) {
  test::ManualRuntime runtime;
  const MintedToken minted = mint_token({.name = "ci", .scopes = {"read"}}, kId, runtime);
  EXPECT_TRUE(minted.text.starts_with("ff_018f00000000700080000000000000ab_")) << minted.text;
  EXPECT_EQ(minted.text.size(), 3U + 32 + 1 + 43);
  EXPECT_EQ(minted.token.token_hash.size(), 64U);
  EXPECT_EQ(minted.text.find(minted.token.token_hash), std::string::npos);
  const auto read = read_token_text(minted.text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->token_id, kId);
  EXPECT_TRUE(is_same_hash(read->secret_hash, minted.token.token_hash));

  std::string altered = minted.text;
  altered.back() = altered.back() == 'A' ? 'B' : 'A';
  EXPECT_FALSE(is_same_hash(read_token_text(altered)->secret_hash, minted.token.token_hash));
}

TEST(TokenTexts, anything_else_is_no_token) {
  test::ManualRuntime runtime;
  const std::string good = mint_token({.name = "ci", .scopes = {"read"}}, kId, runtime).text;
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(read_token_text(good.substr(0, size))) << size;
  EXPECT_FALSE(read_token_text(good + "A"));
  std::string other = good;
  other[0] = 'F';
  EXPECT_FALSE(read_token_text(other));
  other = good;
  other[35] = '-';
  EXPECT_FALSE(read_token_text(other));
  other = good;
  other[5] = 'g';
  EXPECT_FALSE(read_token_text(other));
  other = good;
  other[33] = 'A';
  EXPECT_FALSE(read_token_text(other)) << "one spelling each";
  EXPECT_FALSE(is_same_hash("ab", "abc"));
}

}  // namespace
}  // namespace ff::engine
