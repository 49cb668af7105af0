#include "server/page_guard.h"

#include <gtest/gtest.h>

namespace ff::server {
namespace {

bool lets_in(Reach reach, Headers headers, const std::vector<std::string>& origins = {}) {
  Request request;
  request.door.reach = reach;
  request.headers = std::move(headers);
  const auto error = check_page(request, origins);
  if (error) {
    EXPECT_EQ(error->code, ErrorCode::forbidden);
  }
  return !error;
}

TEST(ServerPageGuard, names_of_this_machine) {
  for (const char* host : {"localhost", "LOCALHOST:9090", "127.0.0.1", "127.0.0.1:1", "127.9.8.7:80", "[::1]", "[::1]:9090",
                           "ff.localhost:9090"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const char* host : {"", "evil.example", "evil.example:9090", "127.0.0.1.evil.example", "localhost.evil.example",
                           "notlocalhost", ".localhost", "10.0.0.1:80", "[::2]:1", "localhost@evil.example"})
    EXPECT_FALSE(is_loopback_host(host)) << host;
}

TEST(ServerPageGuard, a_page_of_another_origin_is_not_let_in) {
  for (Reach reach : {Reach::loopback, Reach::socket}) {
    EXPECT_TRUE(lets_in(reach, {{"Host", "localhost:9090"}}));
    EXPECT_TRUE(lets_in(reach, {{"Host", "localhost:9090"}, {"Origin", "http://localhost:9090"}})) << "the server's own";
    EXPECT_TRUE(lets_in(reach, {{"Host", "localhost:9090"}, {"Origin", "https://a.example"}}, {"https://a.example"}));
    EXPECT_TRUE(lets_in(reach, {{"Host", "localhost:9090"}, {"Origin", "https://a.example"}}, {"*"}));
    for (const char* origin : {"https://a.example", "null", "", "http://localhost:3000", "http://localhost", "localhost:9090"})
      EXPECT_FALSE(lets_in(reach, {{"Host", "localhost:9090"}, {"Origin", origin}}, {"https://b.example"})) << origin;
    EXPECT_FALSE(lets_in(reach, {{"Origin", "https://a.example"}}));
  }
}

TEST(ServerPageGuard, a_name_that_somebody_pointed_here_is_not_ours) {
  EXPECT_FALSE(lets_in(Reach::loopback, {{"Host", "evil.example:9090"}}));
  EXPECT_FALSE(lets_in(Reach::loopback, {{"Host", "evil.example"}, {"Origin", "http://evil.example"}}));
  EXPECT_TRUE(lets_in(Reach::socket, {{"Host", "whatever"}})) << "no browser opens a socket file";
}

TEST(ServerPageGuard, an_address_for_all_is_guarded_by_other_means) {
  EXPECT_TRUE(lets_in(Reach::anywhere, {{"Host", "ff.example"}, {"Origin", "https://a.example"}}));
}

}  // namespace
}  // namespace ff::server
