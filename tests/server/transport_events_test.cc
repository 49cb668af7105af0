// Server-sent events over real sockets: chunks, signs of life, resuming, listeners that go away.

#include "server/transport_world.h"

namespace ff::test {
namespace {

class TransportEvents : public TransportTest {
 protected:
  static constexpr const char* kAccept = "text/event-stream";

  HttpClient listener(const std::string& id, Headers headers = {}) {
    HttpClient http = client();
    headers.emplace_back("Accept", kAccept);
    EXPECT_TRUE(http.send(HttpClient::request_text("GET", path(id, "/history"), "", headers)));
    return http;
  }
  void complete(const std::string& handle) { post("/v1/worker/complete", R"({"handle":")" + handle + "\"}"); }
  static std::string last_id(const std::string& text) {
    const std::size_t at = text.rfind("id: ") + 4;
    return text.substr(at, text.find('\n', at) - at);
  }
};

TEST_F(TransportEvents, T28_events_as_they_happen_and_then_the_end) {
  const std::string id = created();
  HttpClient http = listener(id);
  const WireAnswer head = http.read_head();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-type"), kAccept);
  EXPECT_EQ(head.header("transfer-encoding"), "chunked");
  EXPECT_EQ(head.header("cache-control"), "no-store");
  const std::string handle = claimed();
  EXPECT_THAT(http.read_chunk(), HasSubstr("event: lease\n"));
  complete(handle);
  EXPECT_THAT(http.read_chunk(), HasSubstr("event: completion\n"));
  EXPECT_EQ(http.read_chunk(), "") << "the end";
  EXPECT_EQ(http.call("GET", "/livez").status, 200) << "the connection goes on";
}

TEST_F(TransportEvents, T28_resumes_after_the_last_one_that_was_seen) {
  const std::string id = created();
  const std::string handle = claimed();
  HttpClient first = listener(id);
  first.read_head();
  const std::string seen = first.read_chunk();
  first.reset();
  complete(handle);
  const std::string rest = listener(id, {{"Last-Event-ID", last_id(seen)}}).read_answer().body;
  EXPECT_THAT(rest, HasSubstr("event: completion\n"));
  EXPECT_EQ(rest.find("acquired"), rest.npos);
  EXPECT_EQ(listener(id, {{"Last-Event-ID", last_id(rest)}}).read_answer().body, "");
}

TEST_F(TransportEvents, a_silence_has_signs_of_life) {
  serve({.heartbeat_ms = 100});
  HttpClient http = listener(created());
  EXPECT_EQ(http.read_head().status, 200);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(http.read_chunk().starts_with(": "));
}

TEST_F(TransportEvents, a_listener_that_has_gone_leaves_nothing_behind) {
  for (int how = 0; how < 3; ++how) {
    HttpClient http = listener(created());
    EXPECT_EQ(http.read_head().status, 200);
    if (how == 0) http.close();
    if (how == 1) http.reset();
    if (how == 2) http.half_close();
    EXPECT_TRUE(connections_are(0)) << how;
  }
}

TEST_F(TransportEvents, a_listener_that_does_not_listen_is_closed) {
  server::ServerOptions options;
  options.limits.request_timeout_ms = 200;
  serve({.heartbeat_ms = 100}, std::move(options));
  const std::string id = created();
  std::vector<HttpClient> deaf;
  HttpClient http = listener(id);
  http.set_receive_buffer(4096);
  // Far more than the kernel holds for it.
  for (int i = 0; i < 40; ++i) {
    post(path(id, "/priority"), R"({"priority":1})");
    post(path(id, "/priority"), R"({"priority":2})");
  }
  EXPECT_EQ(http.read_head().status, 200);
  http.reset();
  EXPECT_TRUE(connections_are(0));
}

TEST_F(TransportEvents, an_older_client_gets_them_without_chunks) {
  const std::string id = created();
  complete(claimed());
  HttpClient http = client();
  ASSERT_TRUE(http.send("GET " + path(id, "/history") + " HTTP/1.0\r\nAccept: text/event-stream\r\nConnection: keep-alive\r\n\r\n"));
  const WireAnswer head = http.read_head();
  EXPECT_EQ(head.header("transfer-encoding"), "");
  EXPECT_EQ(head.header("connection"), "close");
  EXPECT_TRUE(http.read_to_end().starts_with("id: "));
}

TEST_F(TransportEvents, refusals_have_their_status_and_a_head_has_no_events) {
  EXPECT_EQ(listener("{fp:0}:01890000-0000-7000-8000-00000000ffff").read_answer().status, 404);
  EXPECT_EQ(listener(created(), {{"Last-Event-ID", "x"}}).read_answer().status, 400);
  HttpClient http = client();
  const std::string target = path(created(), "/history?follow=true");
  EXPECT_EQ(http.call("HEAD", target).status, 200);
  EXPECT_EQ(http.call("GET", "/livez").status, 200);
}

TEST_F(TransportEvents, a_shutdown_ends_them_with_the_last_place) {
  const std::string id = created();
  claimed();
  HttpClient http = listener(id);
  EXPECT_EQ(http.read_head().status, 200);
  const std::string seen = http.read_chunk();
  transport->drain(std::chrono::seconds(60), [] { return false; });
  EXPECT_EQ(http.read_chunk(), "id: " + last_id(seen) + "\n\n");
  EXPECT_EQ(http.read_chunk(), "");
  EXPECT_TRUE(http.is_at_end());
  EXPECT_EQ(transport->counts().shutdown_timeouts, 0U);
}

}  // namespace
}  // namespace ff::test
