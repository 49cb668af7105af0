#include "server/boot/store_opening.h"

#include <gmock/gmock.h>

namespace ff::server {
namespace {

using ::testing::ElementsAre;

std::string url_with(const std::string& store, const std::string& password) {
  Settings settings;
  settings.store = store;
  settings.store_password = password;
  return store_url(settings);
}

TEST(StoreUrl, a_password_that_was_given_apart) {
  EXPECT_EQ(url_with("redis://h:1/2", "p@w"), "redis://:p%40w@h:1/2");
  EXPECT_EQ(url_with("valkey://me@h,h2:3?cluster=true", "pw"), "valkey://me:pw@h,h2:3?cluster=true");
  EXPECT_EQ(url_with("postgres://me@h/db", "a b"), "postgres://me@h/db?password=a%20b");
  EXPECT_EQ(url_with("postgres://h/db?sslmode=require", "x"), "postgres://h/db?sslmode=require&password=x");
  EXPECT_EQ(url_with("sqlite:a.db", "x"), "sqlite:a.db");
  Settings settings;
  settings.store = "redis://h";
  EXPECT_EQ(store_url(settings), "redis://h");
}

class Opening : public testing::Test {
 protected:
  Result<Fabric> open(ErrorCode code, int failures = INT_MAX) {
    auto try_once = [&, left = failures]() mutable -> Result<Fabric> {
      ++tries;
      if (left-- > 0) return std::unexpected(Error{code, "no", {}});
      return Fabric();
    };
    return open_patiently(try_once, {}, {[&] { return now; },
                                         [&](std::int64_t ms) {
                                           pauses.push_back(ms);
                                           now += ms;
                                           return !stop;
                                         },
                                         [&](const Error&, std::int64_t) { ++told; }});
  }
  std::int64_t now = 0;
  int tries = 0, told = 0;
  bool stop = false;
  std::vector<std::int64_t> pauses;
};

TEST_F(Opening, T8_a_store_that_is_not_there_is_waited_for) {
  EXPECT_FALSE(open(ErrorCode::store_unavailable));
  EXPECT_THAT(std::vector(pauses.begin(), pauses.begin() + 6), ElementsAre(200, 400, 800, 1'600, 3'200, 5'000));
  EXPECT_GT(now, 55'000);
  EXPECT_LE(now, 60'000);
  EXPECT_EQ(told, tries - 1);
}

TEST_F(Opening, T8_it_may_come_back) {
  EXPECT_TRUE(open(ErrorCode::store_unavailable, 3));
  EXPECT_THAT(pauses, ElementsAre(200, 400, 800));
}

TEST_F(Opening, T8_who_is_refused_does_not_ask_again) {
  EXPECT_FALSE(open(ErrorCode::store_refused));
  EXPECT_EQ(tries, 1);
  EXPECT_THAT(pauses, ElementsAre());
}

TEST_F(Opening, whoever_is_told_to_stop_stops) {
  stop = true;
  EXPECT_FALSE(open(ErrorCode::store_unavailable));
  EXPECT_EQ(tries, 1);
}

}  // namespace
}  // namespace ff::server
