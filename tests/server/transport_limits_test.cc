// 07, section 4: every limit at its bound and one beyond it; sides that are slow, silent or too many.

#include "server/failing_backend.h"
#include "server/transport_world.h"

#include <sys/resource.h>

#include <thread>

namespace ff::test {
namespace {

class TransportLimits : public TransportTest {
 protected:
  /// A head of exactly so many bytes, counted as the limit is.
  static std::string head_of(std::size_t bytes) {
    const std::string before = "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ";
    return before + std::string(bytes - before.size() - 2, 'a') + "\r\n\r\n";
  }
  static std::string fields(std::size_t count) {
    std::string text = "GET /livez HTTP/1.1\r\nHost: localhost\r\n";
    for (std::size_t i = 1; i < count; ++i) text += "A: b\r\n";
    return text + "\r\n";
  }
  WireAnswer answer_to(const std::string& text) const {
    HttpClient http = client();
    http.send(text);
    return http.read_answer();
  }
};

TEST_F(TransportLimits, T16_headers) {
  EXPECT_EQ(answer_to(head_of(16 * 1024)).status, 200);
  const WireAnswer beyond = answer_to(head_of(16 * 1024 + 1));
  EXPECT_EQ(beyond.status, 431);
  EXPECT_EQ(beyond.body, "");
  EXPECT_EQ(answer_to(head_of(500'000)).status, 431) << "refused before it is whole";
  EXPECT_EQ(answer_to(fields(100)).status, 200);
  EXPECT_EQ(answer_to(fields(101)).status, 431);
  EXPECT_EQ(answer_to("GET /" + std::string(100'000, 'a')).status, 431);
  // In small pieces, so that no single one is too long.
  HttpClient http = client();
  http.send("GET /livez HTTP/1.1\r\n");
  int sent = 0;
  while (http.send("Some-Name: a value of some length\r\n") && sent < 2'000) ++sent;
  EXPECT_EQ(http.read_answer().status, 431);
}

TEST_F(TransportLimits, T16_bodies_whose_length_is_told) {
  HttpClient http = client();
  const std::string most = "{" + std::string(1024 * 1024 - 2, ' ') + "}";
  EXPECT_EQ(json::parse(http.call("POST", "/v1/executions", most).body).at("context").at("reason"), "missing");
  const WireAnswer beyond = http.call("POST", "/v1/executions", most + " ");
  EXPECT_EQ(beyond.status, 413);
  EXPECT_EQ(json::parse(beyond.body).at("context").at("limit_bytes"), 1024 * 1024);
  EXPECT_EQ(beyond.header("connection"), "close") << "its body was not read";
  EXPECT_TRUE(http.is_at_end());
  EXPECT_EQ(answer_to("GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n").status, 413)
      << "also where a body is ignored";
}

TEST_F(TransportLimits, T16_bodies_in_chunks) {
  auto chunked = [](std::size_t bytes) {
    std::string text = "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t left = bytes; left > 0;) {
      const std::size_t size = std::min<std::size_t>(left, 60'000);
      text += fmt::format("{:x}\r\n{}\r\n", size, std::string(size, ' '));
      left -= size;
    }
    return text + "0\r\n\r\n";
  };
  EXPECT_EQ(answer_to(chunked(1024 * 1024)).status, 400) << "read whole, and no JSON";
  const WireAnswer beyond = answer_to(chunked(1024 * 1024 + 1));
  EXPECT_EQ(beyond.status, 413);
  EXPECT_EQ(json::parse(beyond.body).at("code"), "payload_too_large");
  EXPECT_EQ(answer_to(chunked(5'000'000)).status, 413);
  // A line between chunks that does not end.
  HttpClient http = client();
  http.send("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;");
  int sent = 0;
  while (http.send(std::string(1'000, 'x')) && sent < 2'000) ++sent;
  EXPECT_EQ(http.read_answer().status, 400);
}

TEST_F(TransportLimits, T10_who_is_unknown_is_refused_before_the_body_is_read) {
  server::ServerOptions options;
  options.authenticate = known_at_once([](const Request&) { return std::optional<Principal>(); });
  serve({}, std::move(options));
  HttpClient http = client();
  ASSERT_TRUE(http.send("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nonly the beginning"));
  const WireAnswer refused = http.read_answer();
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.header("www-authenticate"), "Bearer");
  EXPECT_EQ(refused.header("connection"), "close");
  EXPECT_TRUE(http.is_at_end());
}

TEST_F(TransportLimits, T16_slow_headers_and_slow_bodies) {
  server::ServerOptions options;
  options.limits.request_timeout_ms = 300;
  serve({.header_timeout_ms = 200}, std::move(options));
  HttpClient slow_head = client();
  ASSERT_TRUE(slow_head.send("GET /livez HTTP/1.1\r\nHost: loc"));
  EXPECT_EQ(slow_head.read_answer().status, 408);
  EXPECT_TRUE(slow_head.is_at_end());
  HttpClient slow_body = client();
  ASSERT_TRUE(slow_body.send("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"));
  EXPECT_EQ(slow_body.read_answer().status, 408);
  EXPECT_TRUE(slow_body.is_at_end());
  HttpClient slow_chunks = client();
  ASSERT_TRUE(slow_chunks.send("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na"));
  EXPECT_EQ(slow_chunks.read_answer().status, 408);
  EXPECT_TRUE(connections_are(0));
}

TEST_F(TransportLimits, who_says_nothing_for_long_is_closed) {
  serve({.idle_timeout_ms = 200});
  HttpClient silent = client();
  EXPECT_TRUE(silent.is_at_end()) << "without a word";
  HttpClient once = client();
  EXPECT_EQ(once.call("GET", "/livez").status, 200);
  EXPECT_TRUE(once.is_at_end());
  HttpClient blank = client();
  ASSERT_TRUE(blank.send("\r\n"));
  EXPECT_TRUE(blank.is_at_end());
}

TEST_F(TransportLimits, who_waits_for_an_answer_is_not_idle) {
  serve({.idle_timeout_ms = 100});
  HttpClient http = client();
  ASSERT_TRUE(http.send(HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":1500)"))));
  EXPECT_EQ(http.read_answer().body, R"({"tasks":[]})");
}

TEST_F(TransportLimits, past_the_deadline_the_answer_is_a_timeout) {
  server::ServerOptions options;
  options.limits.request_timeout_ms = 200;
  options.authenticate = known_at_once([](const Request&) { return std::optional(Principal{}); });
  auto stuck = std::make_shared<FailingBackend>();
  options.acting_for = [stuck](const core::Caller&) { return stuck; };
  stuck->keeps_silent = true;
  serve({}, std::move(options));
  HttpClient http = client();
  const WireAnswer late = http.call("GET", "/v1/executions");
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(json::parse(late.body).at("code"), "timeout");
  stuck->answer_held();  // too late
  EXPECT_EQ(http.call("GET", "/livez").status, 200) << "the connection goes on";
}

TEST_F(TransportLimits, a_token_that_is_never_found_ends_the_connection) {
  server::ServerOptions options;
  options.limits.request_timeout_ms = 200;
  std::vector<server::Authenticated> asked;
  options.authenticate = [&](const Request&, server::Authenticated done) { asked.push_back(std::move(done)); };
  serve({}, std::move(options));
  HttpClient http = client();
  ASSERT_TRUE(http.send(HttpClient::request_text("GET", "/v1/executions")));
  EXPECT_TRUE(http.is_at_end());
  EXPECT_TRUE(connections_are(0));
  ASSERT_EQ(asked.size(), 1U);
  asked[0](Principal{});  // nobody is there any more
}

TEST_F(TransportLimits, a_token_that_is_looked_up_elsewhere) {
  server::ServerOptions options;
  std::vector<std::jthread> lookups;
  options.authenticate = [&](const Request&, server::Authenticated done) {
    lookups.emplace_back([done = std::move(done)]() mutable { done(Principal{}); });
  };
  serve({}, std::move(options));
  HttpClient http = client();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(http.call("POST", "/v1/executions", R"({"execution_kind":"a"})").status, 201);
    lookups.clear();
  }
  EXPECT_EQ(list_all().size(), 20U);
}

TEST_F(TransportLimits, who_does_not_take_the_answer_is_closed) {
  server::ServerOptions options;
  options.limits.request_timeout_ms = 300;
  serve({}, std::move(options));
  const std::string id = "{fp:0}:01890000-0000-7000-8000-000000000001";
  HttpClient http = client();
  ASSERT_TRUE(http.send("PUT " + path(id) + "?execution_kind=raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n" +
                        std::string(1024 * 1024, 'x')));
  EXPECT_EQ(http.read_answer().status, 201);
  HttpClient slow = client();
  slow.set_receive_buffer(4096);
  std::string many;
  for (int i = 0; i < 16; ++i) many += HttpClient::request_text("GET", path(id, "/payload"));
  ASSERT_TRUE(slow.send(many));
  http.close();
  EXPECT_TRUE(connections_are(0)) << "nobody else is there";
}

TEST_F(TransportLimits, too_many_connections) {
  serve({.connections_max = 3});
  std::vector<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(client());
    EXPECT_EQ(clients.back().call("GET", "/livez").status, 200);
  }
  HttpClient one_more = client();
  const WireAnswer refused = one_more.call("GET", "/livez");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_EQ(refused.header("connection"), "close");
  EXPECT_TRUE(one_more.is_at_end());
  EXPECT_EQ(clients[0].call("GET", "/livez").status, 200) << "the others go on";
  EXPECT_EQ(transport->counts().turned_away, 1U);
  clients.pop_back();
  EXPECT_TRUE(eventually([&] { return client().call("GET", "/livez").status == 200; }));
}

TEST_F(TransportLimits, T26_many_waiting_reads_at_once) {
  constexpr int kWaiters = 5'000;
  // Both ends of each connection are files of this process.
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  ASSERT_GE(files.rlim_max, 2 * kWaiters + 500U) << "raise the hard limit of open files (ulimit -Hn)";
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  const std::string id = created();
  std::vector<HttpClient> clients;
  for (int i = 0; i < kWaiters; ++i) {
    clients.push_back(client());
    ASSERT_TRUE(clients.back().send(HttpClient::request_text("GET", path(id, "/wait?wait_ms=60000"))));
  }
  post(path(id, "/cancel"), "");
  for (HttpClient& http : clients) EXPECT_THAT(http.read_answer().body, HasSubstr(R"("public_state":"cancelled")"));
}

}  // namespace
}  // namespace ff::test
