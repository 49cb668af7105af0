#include "server/token_book.h"

#include "engine/handles.h"
#include "engine/tokens.h"

#include <gmock/gmock.h>

namespace ff::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSecret[] = "0123456789012345678901234567890123456789012";

std::string text_of(int n) { return fmt::format("ff_01890000000070008000{:012x}_{}", n, kSecret); }

core::ApiToken token(int n) {
  core::ApiToken token;
  token.token_id = engine::read_token_text(text_of(n))->token_id;
  token.token_hash = engine::read_token_text(text_of(n))->secret_hash;
  token.name = fmt::format("token {}", n);
  token.scopes = {"read"};
  return token;
}

class ServerTokens : public testing::Test {
 protected:
  void open(std::optional<std::string> bootstrap = std::nullopt) {
    TokenBookOptions options;
    options.list = [this](Callback<std::vector<core::ApiToken>> done) {
      ++reads;
      held.push_back(std::move(done));
      if (!hold) answer();
    };
    options.note_use = [this](const Uuid&) { ++noted; };
    options.steady_ms = [this] { return now; };
    options.store_ms = [this] { return now; };
    options.bootstrap = std::move(bootstrap);
    book = std::make_shared<TokenBook>(std::move(options));
    book->reload();
  }
  void answer() {
    for (auto& done : std::exchange(held, {})) {
      if (broken) done(core::fail(ErrorCode::store_unavailable, "gone"));
      else done(stored);
    }
  }
  void ask(const std::string& text) {
    Request request;
    request.headers = {{"Authorization", "Bearer " + text}};
    book->authenticate(request, [this](Result<std::optional<Principal>> found) {
      if (!found) answers.emplace_back("error");
      else answers.push_back(*found ? (*found)->name.value_or("") : "nobody");
    });
  }
  std::string who(const std::string& text) {
    ask(text);
    return answers.back();
  }

  std::vector<core::ApiToken> stored;
  std::vector<Callback<std::vector<core::ApiToken>>> held;
  std::vector<std::string> answers;
  std::int64_t now = 100'000;
  int reads = 0, noted = 0;
  bool hold = false, broken = false;
  std::shared_ptr<TokenBook> book;
};

TEST_F(ServerTokens, a_token_is_known_by_its_id_and_its_secret) {
  stored = {token(1), token(2)};
  open();
  EXPECT_EQ(who(text_of(1)), "token 1");
  EXPECT_EQ(who(text_of(2)), "token 2");
  std::string altered = text_of(1);
  altered.back() = 'x';
  for (const std::string& wrong : {altered, text_of(3), std::string("ff_"), std::string("abc"), text_of(1) + "x"})
    EXPECT_EQ(who(wrong), "nobody") << wrong;
  Request without;
  book->authenticate(without, [](Result<std::optional<Principal>> found) { EXPECT_FALSE(*found); });
}

TEST_F(ServerTokens, what_it_may_do) {
  core::ApiToken one = token(1);
  one.scopes = {"submit", "worker"};
  one.namespace_ = "tenant";
  stored = {one};
  open();
  Request request;
  request.headers = {{"Authorization", "Bearer " + text_of(1)}};
  book->authenticate(request, [&](Result<std::optional<Principal>> found) {
    const Principal& principal = **found;
    EXPECT_EQ(principal.actor, one.token_id.to_string());
    EXPECT_EQ(principal.namespace_, "tenant");
    EXPECT_TRUE(principal.scopes.allows(Scope::submit));
    EXPECT_TRUE(principal.scopes.allows(Scope::worker));
    EXPECT_FALSE(principal.scopes.allows(Scope::read));
  });
}

TEST_F(ServerTokens, T13_a_revocation_holds_after_five_seconds) {
  stored = {token(1)};
  open();
  EXPECT_EQ(who(text_of(1)), "token 1");
  stored[0].revoked_at_ms = now;
  now += 5'000;
  EXPECT_EQ(who(text_of(1)), "token 1") << "what was read may be so old";
  now += 1;
  EXPECT_EQ(who(text_of(1)), "nobody");
  EXPECT_EQ(reads, 2);
}

TEST_F(ServerTokens, looks_in_between_keep_requests_from_waiting) {
  stored = {token(1)};
  open();
  for (int i = 0; i < 10; ++i) {
    now += 1'000;
    book->look();
  }
  EXPECT_EQ(reads, 3);
  hold = true;
  EXPECT_EQ(who(text_of(1)), "token 1");
}

TEST_F(ServerTokens, T13_they_expire_by_the_clock_of_the_store) {
  stored = {token(1)};
  stored[0].expires_at_ms = now + 10;
  open();
  now += 9;
  EXPECT_EQ(who(text_of(1)), "token 1");
  EXPECT_TRUE(book->has_valid());
  now += 1;
  EXPECT_EQ(who(text_of(1)), "nobody");
  EXPECT_FALSE(book->has_valid());
  EXPECT_FALSE(book->is_open()) << "an expired token opens nothing for everybody";
}

TEST_F(ServerTokens, a_new_token_is_found_at_once_and_guessing_does_not_reach_the_store) {
  open();
  EXPECT_TRUE(book->is_open());
  stored = {token(1)};
  now += 250;
  EXPECT_EQ(who(text_of(1)), "token 1");
  EXPECT_FALSE(book->is_open());
  EXPECT_EQ(reads, 2);
  for (int i = 2; i < 100; ++i) EXPECT_EQ(who(text_of(i)), "nobody");
  EXPECT_EQ(reads, 2);
  now += 250;
  EXPECT_EQ(who(text_of(2)), "nobody");
  EXPECT_EQ(reads, 3);
}

TEST_F(ServerTokens, all_who_wait_share_one_reading) {
  stored = {token(1)};
  open();
  now += 6'000;
  hold = true;
  ask(text_of(1));
  ask(text_of(1));
  ask(text_of(2));
  EXPECT_EQ(reads, 2);
  EXPECT_THAT(answers, IsEmpty());
  answer();
  EXPECT_THAT(answers, ElementsAre("token 1", "token 1", "nobody"));
}

TEST_F(ServerTokens, a_store_that_does_not_answer_lets_nobody_in) {
  stored = {token(1)};
  open();
  broken = true;
  EXPECT_EQ(who(text_of(1)), "token 1");
  now += 5'001;
  EXPECT_EQ(who(text_of(1)), "error");
  broken = false;
  EXPECT_EQ(who(text_of(1)), "token 1");
}

TEST_F(ServerTokens, T13_a_use_is_noted_once_a_minute) {
  stored = {token(1)};
  open();
  for (int i = 0; i < 5; ++i) (void)who(text_of(1));
  EXPECT_EQ(noted, 1);
  now += 59'999;
  (void)who(text_of(1));
  EXPECT_EQ(noted, 1);
  now += 1;
  (void)who(text_of(1));
  EXPECT_EQ(noted, 2);
  (void)who(text_of(9));
  EXPECT_EQ(noted, 2);
}

TEST_F(ServerTokens, the_token_of_the_settings_may_do_everything) {
  open("s3cret");
  EXPECT_FALSE(book->is_open());
  EXPECT_TRUE(book->has_valid());
  EXPECT_EQ(who("s3cret"), "api_token");
  for (const char* wrong : {"s3cre", "s3crets", "S3CRET", ""}) EXPECT_EQ(who(wrong), "nobody") << wrong;
}

}  // namespace
}  // namespace ff::server
