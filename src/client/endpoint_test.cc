#include "client/endpoint.h"

#include <gtest/gtest.h>

namespace ff::client {
namespace {

std::string shown(const std::string& url) {
  auto endpoint = parse_endpoint(url);
  if (!endpoint) return std::string(endpoint.error().context.text("reason"));
  return endpoint->name() + " " + endpoint->host + " " + endpoint->port + " " + endpoint->base_path;
}

TEST(ClientEndpoint, forms) {
  EXPECT_EQ(shown("http://host"), "http://host host 80 ");
  EXPECT_EQ(shown("http://127.0.0.1:9090//"), "http://127.0.0.1:9090 127.0.0.1 9090 ");
  EXPECT_EQ(shown("https://flow.example/ff/eu/"), "https://flow.example/ff/eu flow.example 443 /ff/eu");
  EXPECT_EQ(shown("https://flow.example:443"), "https://flow.example flow.example 443 ");
  EXPECT_EQ(shown("http://[::1]:9090"), "http://[::1]:9090 ::1 9090 ");
  EXPECT_EQ(parse_endpoint("unix:/run/ff.sock")->socket_path, "/run/ff.sock");
  const auto socket = parse_endpoint("http+unix:/run/ff.sock");
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->socket_path, "/run/ff.sock");
  EXPECT_EQ(socket->name(), "http+unix:/run/ff.sock");
}

TEST(ClientEndpoint, what_is_refused) {
  for (const char* url : {"http:", "http://", "http://:80", "http://host:", "http://host:0", "http://host:65536", "http://host:x",
                          "http://[::1", "http://[::1]x", "http://user:secret@host", "http://host?x=1", "http://a b",
                          "http+unix:socket", "sqlite:flow.db"})
    EXPECT_EQ(shown(url), "invalid_url") << url;
}

TEST(ClientEndpoint, a_refusal_shows_no_password) {
  EXPECT_EQ(parse_endpoint("http://user:secret@host").error().message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace ff::client
