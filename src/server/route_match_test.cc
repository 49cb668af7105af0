#include "server/route_match.h"
#include "server/raw_reply.h"
#include "server/target.h"

#include <gtest/gtest.h>

#include <set>

namespace ff::server {
namespace {

std::string name_at(std::string_view method, std::string_view target) {
  auto parsed = parse_target(target);
  if (!parsed) return std::string(traits(parsed.error().code).name);
  auto match = match_route(method, parsed->segments);
  return match ? std::string(match->route->name) : std::string(traits(match.error().code).name);
}

TEST(ServerRoutes, each_is_found_at_its_own_address_and_named_once) {
  std::set<std::string_view> names;
  for (const Route& route : routes()) {
    EXPECT_TRUE(names.insert(route.name).second) << route.name;
    EXPECT_EQ(name_at(route.method, route.pattern), route.name);
    EXPECT_NE(route.run, nullptr);
    EXPECT_FALSE(route.summary.empty());
  }
}

TEST(ServerRoutes, T22_literals_go_before_fields_and_head_is_get) {
  EXPECT_EQ(name_at("POST", "/v1/executions/cancel"), "cancel_executions");
  EXPECT_EQ(name_at("GET", "/v1/executions/cancel"), "get_execution");
  EXPECT_EQ(name_at("HEAD", "/livez"), "livez");
  EXPECT_EQ(name_at("GET", "/v1/executions?limit=5"), "list_executions");
}

TEST(ServerRoutes, T22_what_is_not_there) {
  for (const char* target : {"/", "/v1", "/v1/executions/", "//v1/executions", "/v1/executions//cancel", "/V1/executions",
                             "/v1/executions/a/b/c", "/livez/"})
    EXPECT_EQ(name_at("GET", target), "route_not_found") << target;
  EXPECT_EQ(name_at("DELETE", "/v1/executions"), "method_not_allowed");
  EXPECT_EQ(name_at("get", "/livez"), "method_not_allowed");
  EXPECT_EQ(match_route("TRACE", {"v1", "executions"}).error().context.text("allow"), "GET, HEAD, POST");
}

TEST(ServerTarget, T22_segments_and_parameters_are_decoded_once) {
  auto target = parse_target("/v1/%7Bfp:7%7D%3Aab%2Fc?a=b+c%2B&d&=e&&a=%25");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments, (std::vector<std::string>{"v1", "{fp:7}:ab/c"}));
  using Query = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(target->query, (Query{{"a", "b c+"}, {"d", ""}, {"", "e"}, {"a", "%"}}));
  EXPECT_EQ(parse_target("/a/{fp:7}:x")->segments[1], "{fp:7}:x");
  for (const char* bad : {"", "x", "/%", "/%4", "/%zz", "/?a=%f", "/%ff", "*"}) EXPECT_FALSE(parse_target(bad)) << bad;
  std::string many = "/?";
  for (int i = 0; i < 256; ++i) many += "a=b&";
  EXPECT_TRUE(parse_target(many));
  EXPECT_FALSE(parse_target(many + "a=b"));
  EXPECT_EQ(percent_encoded("{fp:7}:a-b"), "%7Bfp%3A7%7D%3Aa-b");
}

std::string part_of(const std::string& range) {
  const Reply reply = raw_reply(Blob{"0123456789", "text/plain"}, {{"range", range}});
  const std::string* where = find_header(reply.headers, "content-range");
  return fmt::format("{} {} {}", reply.status, where ? *where : "-", reply.body);
}

TEST(ServerRawReply, T18_a_range_is_a_part) {
  EXPECT_EQ(part_of("bytes=0-0"), "206 bytes 0-0/10 0");
  EXPECT_EQ(part_of("bytes=8-"), "206 bytes 8-9/10 89");
  EXPECT_EQ(part_of("bytes=8-99"), "206 bytes 8-9/10 89");
  EXPECT_EQ(part_of("bytes=-3"), "206 bytes 7-9/10 789");
  EXPECT_EQ(part_of("bytes=-30"), "206 bytes 0-9/10 0123456789");
  EXPECT_EQ(part_of("bytes=10-"), "416 bytes */10 ");
  EXPECT_EQ(part_of("bytes=-0"), "416 bytes */10 ");
  for (const char* whole : {"bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=0-1,3-4", "lines=1-2", "bytes=1-x"})
    EXPECT_EQ(part_of(whole), "200 - 0123456789") << whole;
}

TEST(ServerRawReply, a_label_cannot_break_out_of_its_header) {
  EXPECT_EQ(raw_reply(Blob{"x", "text/html"}, {}).content_type, "text/html");
  EXPECT_EQ(raw_reply(Blob{"x", "text/html\r\nSet-Cookie: a=b"}, {}).content_type, "application/octet-stream");
  EXPECT_EQ(*find_header(raw_reply(Blob{"x", "text/html"}, {}).headers, "x-content-type-options"), "nosniff");
}

TEST(ServerRawReply, what_is_known_is_not_sent_again) {
  const Reply first = raw_reply(Blob{"abc", "text/plain"}, {});
  const std::string tag = *find_header(first.headers, "etag");
  const Reply again = raw_reply(Blob{"abc", "text/plain"}, {{"If-None-Match", tag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(raw_reply(Blob{"abd", "text/plain"}, {{"If-None-Match", tag}}).status, 200);
  EXPECT_EQ(raw_reply(std::nullopt, {}).status, 204);
}

}  // namespace
}  // namespace ff::server
