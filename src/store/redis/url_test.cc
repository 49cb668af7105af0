#include "store/redis/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store::redis {
namespace {

TEST(RedisUrl, has_hosts_login_and_database) {
  auto url = Url::parse("valkey://app:s%40crt@a.example:7000,[::1]:7001,c/3?cluster=no&replicas=1");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_THAT(url->addresses,
              ::testing::ElementsAre(Address{"a.example", 7000}, Address{"::1", 7001}, Address{"c", 6379}));
  EXPECT_EQ(url->user, "app");
  EXPECT_EQ(url->password, "s@crt");
  EXPECT_EQ(url->database, 3);
  EXPECT_EQ(url->cluster, false);
  EXPECT_EQ(url->replicas, 1);
}

TEST(RedisUrl, may_have_a_password_alone) {
  auto url = Url::parse("redis://:secret@localhost");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->user, "");
  EXPECT_EQ(url->password, "secret");
  EXPECT_EQ(url->cluster, std::nullopt);
}

TEST(RedisUrl, refusals_name_no_password) {
  for (const char* text : {"redis://app:hunter2@", "redis://app:hunter2@host:99999", "redis://app:hunter2@host/x",
                           "redis://app:hunter2@host?colour=red", "rediss://app:hunter2@host", "redis:app:hunter2@host",
                           "redis://app:hunter2%4@host", "redis://app:hunter2@host?replicas=x"}) {
    auto url = Url::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, ErrorCode::store_refused);
    EXPECT_EQ(url.error().context.text("reason"), "invalid_url");
    EXPECT_EQ(url.error().message.find("hunter2"), std::string::npos) << url.error().message;
  }
}

}  // namespace
}  // namespace ff::store::redis
