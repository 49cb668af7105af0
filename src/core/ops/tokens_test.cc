#include "core/ops/tokens.h"

#include "support/rules.h"

#include <gmock/gmock.h>

namespace ff::core {
namespace {

using test::kStart;
using test::Rules;
using testing::HasSubstr;
using testing::Not;

const Uuid kToken = Uuid::parse("018f0000-0000-7000-8000-000000000001").value();

CreateToken creation(std::optional<std::uint64_t> ttl_ms = std::nullopt) {
  CreateToken op;
  op.token.token_id = kToken;
  op.token.name = "ci";
  op.token.token_hash = "00ff";
  op.token.scopes = {"read", "submit"};
  op.ttl_ms = ttl_ms;
  return op;
}

TEST(Tokens, live_until_they_expire_or_are_revoked) {
  Rules rules;
  const ApiToken token = rules.must(creation(1'000));
  EXPECT_EQ(token.created_at_ms, kStart);
  EXPECT_EQ(token.expires_at_ms, kStart + 1'000);
  EXPECT_TRUE(is_valid(token, kStart + 999));
  EXPECT_FALSE(is_valid(token, kStart + 1'000));
  rules.now += 10;
  const ApiToken revoked = rules.must(RevokeToken{{}, kToken});
  EXPECT_EQ(revoked.revoked_at_ms, kStart + 10);
  EXPECT_FALSE(is_valid(revoked, kStart + 10));
  rules.now += 10;
  EXPECT_EQ(rules.must(RevokeToken{{}, kToken}).revoked_at_ms, kStart + 10) << "again changes nothing";
  EXPECT_EQ(rules.set.events().size(), 2U) << "one created, one revoked";
}

TEST(Tokens, unknown_ones_are_refused) {
  Rules rules;
  EXPECT_EQ(rules.refused(RevokeToken{{}, kToken}).code, ErrorCode::token_not_found);
  EXPECT_EQ(rules.refused(NoteTokenUse{kToken}).code, ErrorCode::token_not_found);
}

TEST(Tokens, the_audit_log_never_has_the_hash) {
  Rules rules;
  rules.must(creation());
  rules.must(RevokeToken{{}, kToken});
  for (const auto& event : rules.set.events()) {
    EXPECT_THAT(event.details, HasSubstr("\"name\":\"ci\""));
    EXPECT_THAT(event.details, Not(HasSubstr("00ff")));
  }
}

TEST(Tokens, their_use_is_noted_once_a_minute) {
  Rules rules;
  rules.must(creation());
  EXPECT_TRUE(rules.must(NoteTokenUse{kToken}));
  rules.now += 59'999;
  EXPECT_FALSE(rules.must(NoteTokenUse{kToken}));
  rules.now += 1;
  EXPECT_TRUE(rules.must(NoteTokenUse{kToken}));
}

TEST(Tokens, those_that_are_over_are_forgotten_after_thirty_days) {
  Rules rules;
  rules.must(creation());
  EXPECT_FALSE(rules.must(ForgetDocument{token_key(kToken)})) << "it is still good";
  rules.must(RevokeToken{{}, kToken});
  rules.now += static_cast<TimeMs>(kTokenAfterlifeMs) - 1;
  EXPECT_FALSE(rules.must(ForgetDocument{token_key(kToken)}));
  rules.now += 1;
  EXPECT_TRUE(rules.must(ForgetDocument{token_key(kToken)}));
  EXPECT_FALSE(rules.set.document(token_key(kToken)));
}

}  // namespace
}  // namespace ff::core
