// Requests over real sockets: one after the other, several at once, in pieces, in every form that HTTP allows.

#include "server/transport_world.h"

namespace ff::test {
namespace {

using TransportRequests = TransportTest;

std::string id_of(const WireAnswer& answer) { return std::string(json::parse(answer.body).at("execution_id").as_string()); }

TEST_F(TransportRequests, a_connection_serves_one_request_after_the_other) {
  HttpClient http = client();
  for (int i = 0; i < 5; ++i) {
    const WireAnswer made = http.call("POST", "/v1/executions", R"({"execution_kind":"job","payload":{"n":1}})");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.header("connection"), "");
    EXPECT_FALSE(made.header("date").empty());
    EXPECT_EQ(http.call("GET", path(id_of(made), "/payload")).body, R"({"n":1})");
  }
  EXPECT_EQ(transport->counts().accepted, 1U);
}

TEST_F(TransportRequests, heads_have_no_body_and_the_connection_goes_on) {
  HttpClient http = client();
  const WireAnswer whole = http.call("GET", "/livez");
  const WireAnswer head = http.call("HEAD", "/livez");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), std::to_string(whole.body.size()));
  EXPECT_EQ(http.call("GET", "/livez").body, whole.body);
}

TEST_F(TransportRequests, pipelined_requests_are_answered_in_their_order) {
  HttpClient http = client();
  const std::string id = created();
  std::string text;
  // Some wait for the engine, some are answered at once; more than are taken at a time.
  for (int i = 0; i < 100; ++i)
    text += HttpClient::request_text("GET", i % 2 == 0 ? path(id) : "/livez", "", {{"X-Request-Id", std::to_string(i)}});
  ASSERT_TRUE(http.send(text));
  for (int i = 0; i < 100; ++i) {
    const WireAnswer answer = http.read_answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("x-request-id"), std::to_string(i));
    EXPECT_EQ(answer.body.starts_with(R"({"live")"), i % 2 == 1);
  }
}

TEST_F(TransportRequests, what_changes_something_is_done_in_the_order_of_the_requests) {
  HttpClient http = client();
  const std::string id = "{fp:0}:01890000-0000-7000-8000-000000000001";
  std::string text = HttpClient::request_text("POST", "/v1/executions", R"({"execution_kind":"job","execution_id":")" + id + "\"}");
  for (int i = 1; i <= 20; ++i)
    text += HttpClient::request_text("POST", path(id, "/priority"), fmt::format(R"({{"priority":{}}})", i));
  text += HttpClient::request_text("GET", path(id));
  ASSERT_TRUE(http.send(text));
  EXPECT_EQ(http.read_answer().status, 201);
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(json::parse(http.read_answer().body).at("priority"), i);
  EXPECT_EQ(json::parse(http.read_answer().body).at("priority"), 20);
}

TEST_F(TransportRequests, a_request_may_come_byte_by_byte) {
  HttpClient http = client();
  const std::string text = "\r\n\r\n" + HttpClient::request_text("POST", "/v1/executions", R"({"execution_kind":"job"})");
  for (char c : text) ASSERT_TRUE(http.send({&c, 1}));
  EXPECT_EQ(http.read_answer().status, 201);
}

TEST_F(TransportRequests, T18_bodies_of_all_sizes_come_back_byte_for_byte) {
  HttpClient http = client();
  int number = 1;
  for (std::size_t bytes : {0UL, 1UL, 2'000UL, 2'048UL, 16'384UL, 65'536UL, 300'000UL, 1024UL * 1024UL}) {
    std::string body(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<char>((i * 31 + bytes) % 256);
    const std::string id = fmt::format("{{fp:0}}:01890000-0000-7000-8000-{:012}", number++);
    std::string head = "PUT " + path(id) + "?execution_kind=raw HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-b\r\n";
    ASSERT_TRUE(http.send(head + fmt::format("Content-Length: {}\r\n\r\n", bytes) + body));
    EXPECT_EQ(http.read_answer().status, 201) << bytes;
    const WireAnswer back = http.call("GET", path(id, "/payload"));
    EXPECT_TRUE(back.body == body) << bytes;
  }
}

TEST_F(TransportRequests, T16_chunked_bodies) {
  HttpClient http = client();
  const std::string head =
      "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_TRUE(http.send(head + "3;name=value\r\n{\"e\r\n14\r\nxecution_kind\":\"job\"\r\n1\r\n}\r\n0\r\nX-Request-Id: trailer\r\n\r\n"));
  const WireAnswer made = http.read_answer();
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_NE(made.header("x-request-id"), "trailer") << "what follows the body is no header";
  // Byte by byte, and with another request behind it.
  const std::string text = head + "18\r\n{\"execution_kind\":\"job\"}\r\n0\r\n\r\n" + HttpClient::request_text("GET", "/livez");
  for (char c : text) ASSERT_TRUE(http.send({&c, 1}));
  EXPECT_EQ(http.read_answer().status, 201);
  EXPECT_EQ(http.read_answer().status, 200);
  // A large one in many pieces.
  std::string payload(700'000, 'x'), chunks = head;
  const std::string body = R"({"execution_kind":"job","payload":")" + payload + "\"}";
  for (std::size_t at = 0; at < body.size(); at += 7'000)
    chunks += fmt::format("{:x}\r\n{}\r\n", std::min<std::size_t>(7'000, body.size() - at), body.substr(at, 7'000));
  ASSERT_TRUE(http.send(chunks + "0\r\n\r\n"));
  const WireAnswer large = http.read_answer();
  EXPECT_EQ(large.status, 201) << large.body;
  EXPECT_EQ(http.call("GET", path(id_of(large), "/payload")).body.size(), payload.size() + 2);
}

TEST_F(TransportRequests, who_asks_first_is_told_to_go_on) {
  HttpClient http = client();
  const std::string body = R"({"execution_kind":"job"})";
  const std::string head = fmt::format(
      "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-Continue\r\n"
      "Content-Length: {}\r\n\r\n",
      body.size());
  // Behind another one, which is answered first.
  ASSERT_TRUE(http.send(HttpClient::request_text("GET", "/v1/executions") + head));
  EXPECT_EQ(http.read_answer().status, 200);
  EXPECT_EQ(http.read_answer(false, true).status, 100);
  ASSERT_TRUE(http.send(body));
  EXPECT_EQ(http.read_answer().status, 201);
  EXPECT_EQ(http.call("GET", "/livez").status, 200);
  // Who would be refused is not told to go on.
  ASSERT_TRUE(http.send("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                        "Content-Length: 99999999\r\n\r\n"));
  EXPECT_EQ(http.read_answer(true, true).status, 413);
  EXPECT_TRUE(http.is_at_end());
  HttpClient other = client();
  ASSERT_TRUE(other.send("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\n"));
  EXPECT_EQ(other.read_answer().status, 417);
}

TEST_F(TransportRequests, whoever_wants_to_close_is_closed) {
  HttpClient http = client();
  const WireAnswer last = http.call("GET", "/v1/executions", "", {{"Connection", "close"}});
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(last.header("connection"), "close");
  EXPECT_TRUE(http.is_at_end());
}

TEST_F(TransportRequests, the_older_version) {
  HttpClient http = client();
  ASSERT_TRUE(http.send("GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  const WireAnswer first = http.read_answer();
  EXPECT_EQ(first.status, 200) << "needs no Host";
  EXPECT_EQ(first.header("connection"), "keep-alive");
  ASSERT_TRUE(http.send("GET /livez HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(http.read_answer().header("connection"), "close");
  EXPECT_TRUE(http.is_at_end());
}

TEST_F(TransportRequests, who_only_stops_sending_is_still_answered) {
  HttpClient http = client();
  ASSERT_TRUE(http.send(HttpClient::request_text("GET", "/v1/executions") + HttpClient::request_text("GET", "/livez")));
  http.half_close();
  EXPECT_EQ(http.read_answer().status, 200);
  EXPECT_EQ(http.read_answer().status, 200);
  EXPECT_TRUE(http.is_at_end());
}

TEST_F(TransportRequests, the_form_for_proxies_and_the_name_of_the_host) {
  HttpClient http = client();
  ASSERT_TRUE(http.send("GET http://localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(http.read_answer().status, 200);
  ASSERT_TRUE(http.send("GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
  EXPECT_EQ(http.read_answer().status, 403) << "no tokens, and not our name";
  for (const char* wrong : {"GET /livez HTTP/1.1\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"}) {
    HttpClient other = client();
    ASSERT_TRUE(other.send(wrong));
    EXPECT_EQ(other.read_answer().status, 400);
    EXPECT_TRUE(other.is_at_end());
  }
}

TEST_F(TransportRequests, what_is_no_request_gets_a_bare_answer_and_the_line_is_closed) {
  for (const std::string& garbage :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/3.0\r\nHost: a\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
        std::string("GET /livez HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"), std::string("GET  HTTP/1.1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"),
        std::string("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}) {
    HttpClient http = client();
    ASSERT_TRUE(http.send(garbage));
    http.half_close();
    const WireAnswer answer = http.read_answer();
    EXPECT_TRUE(answer.status == 400 || answer.status == 501 || answer.status == 505) << answer.status << " " << garbage;
    EXPECT_EQ(answer.body, "");
    EXPECT_FALSE(answer.header("x-request-id").empty());
    EXPECT_TRUE(http.is_at_end());
  }
  EXPECT_EQ(client().call("GET", "/livez").status, 200);
}

TEST_F(TransportRequests, a_refusal_does_not_end_the_connection_when_the_body_is_small) {
  HttpClient http = client();
  EXPECT_EQ(http.call("POST", "/v1/nothing", std::string(10'000, 'x')).status, 404);
  EXPECT_EQ(http.call("DELETE", "/v1/executions").status, 405);
  EXPECT_EQ(http.call("GET", "/livez").status, 200);
  EXPECT_EQ(transport->counts().accepted, 1U);
}

TEST_F(TransportRequests, many_connections_at_once) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(client());
  for (HttpClient& http : clients) ASSERT_TRUE(http.send(HttpClient::request_text("GET", "/v1/executions")));
  for (HttpClient& http : clients) EXPECT_EQ(http.read_answer().status, 200);
  EXPECT_EQ(transport->counts().connections, 300U);
  clients.clear();
  EXPECT_TRUE(connections_are(0));
}

}  // namespace
}  // namespace ff::test
