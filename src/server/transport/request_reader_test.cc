#include "server/transport/request_reader.h"

#include <gtest/gtest.h>

namespace ff::server::transport {
namespace {

constexpr const char* kHost = "Host: a\r\n";

/// Shows it a text in pieces of this size, as a connection would; what was not taken stays in `rest`.
struct Read {
  Read(const std::string& text, std::size_t piece, const Limits& limits = {}) : reader(limits) {
    std::size_t shown = 0;
    while (true) {
      rest.erase(0, reader.read(rest));
      if (reader.fault() != 0 || reader.is_whole()) break;
      if (reader.has_head() && !was_head) {
        was_head = true;
        head = reader.take_head();
        continue;
      }
      if (shown == text.size()) break;
      rest += text.substr(shown, piece);
      shown = std::min(text.size(), shown + piece);
    }
    if (reader.has_head() && !was_head) head = reader.take_head();
    if (reader.is_whole()) body = reader.take_body();
    rest += text.substr(shown);
  }
  RequestReader reader;
  Request head;
  bool was_head = false;
  std::string body, rest;
};

TEST(RequestReader, a_request_in_pieces_of_any_size) {
  const std::string text = "\r\nPOST /a?b=c HTTP/1.1\r\nHost: a\r\nX-Some:  value \r\ncontent-length: 5\r\n\r\nhelloGET /next";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const Read read(text, piece);
    ASSERT_TRUE(read.reader.is_whole()) << piece;
    EXPECT_EQ(read.head.method, "POST");
    EXPECT_EQ(read.head.target, "/a?b=c");
    EXPECT_EQ(read.head.headers, (Headers{{"Host", "a"}, {"X-Some", "value"}, {"content-length", "5"}}));
    EXPECT_EQ(read.body, "hello");
    EXPECT_EQ(read.rest, "GET /next");
    EXPECT_TRUE(read.reader.keeps_alive());
    EXPECT_FALSE(read.reader.is_safe());
  }
}

TEST(RequestReader, chunks_in_pieces_of_any_size) {
  const std::string text =
      "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4;x=\"y\"\r\nWiki\r\n5\r\npedia\r\n0\r\nA: b\r\n\r\nrest";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const Read read(text, piece);
    ASSERT_TRUE(read.reader.is_whole()) << piece;
    EXPECT_EQ(read.body, "Wikipedia");
    EXPECT_EQ(read.head.headers.size(), 2U);
    EXPECT_EQ(read.rest, "rest");
  }
}

TEST(RequestReader, room_takes_the_rest_of_a_body_of_known_length) {
  RequestReader reader({});
  const std::string start = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nab";
  const std::size_t head = reader.read(start);
  EXPECT_TRUE(reader.room().size() > 0);
  EXPECT_EQ(reader.read(start.substr(head)), 2U);
  std::size_t filled = 2;
  while (!reader.is_whole()) {
    const std::span<char> room = reader.room();
    ASSERT_FALSE(room.empty());
    const std::size_t some = std::min<std::size_t>(room.size(), 70'000);
    std::fill_n(room.begin(), some, 'x');
    reader.filled(some);
    filled += some;
  }
  EXPECT_EQ(filled, 1'000'000U);
  EXPECT_TRUE(reader.room().empty());
  EXPECT_EQ(reader.take_body(), "ab" + std::string(999'998, 'x'));
}

TEST(RequestReader, what_the_head_says) {
  auto with = [](const std::string& line, const std::string& version = "1.1") {
    return Read("GET / HTTP/" + version + "\r\n" + kHost + line + "\r\n", 1'000);
  };
  EXPECT_TRUE(with("").reader.keeps_alive());
  EXPECT_TRUE(with("").reader.is_safe());
  EXPECT_FALSE(with("Connection: close\r\n").reader.keeps_alive());
  EXPECT_FALSE(with("", "1.0").reader.keeps_alive());
  EXPECT_TRUE(with("Connection: Keep-Alive\r\n", "1.0").reader.keeps_alive());
  EXPECT_TRUE(with("", "1.0").reader.is_http_1_0());
  EXPECT_TRUE(with("Expect: 100-Continue\r\n").reader.expects_continue());
  EXPECT_TRUE(with("").reader.has_at_most(0));
  EXPECT_TRUE(with("Content-Length: 10\r\n").reader.has_at_most(10));
  EXPECT_FALSE(with("Content-Length: 10\r\n").reader.has_at_most(9));
  EXPECT_FALSE(with("Transfer-Encoding: chunked\r\n").reader.has_at_most(1'000'000)) << "nobody knows";
}

TEST(RequestReader, what_is_wrong_has_a_status) {
  auto fault = [](const std::string& text) { return Read(text, 1'000'000).reader.fault(); };
  const std::string start = std::string("POST / HTTP/1.1\r\n") + kHost;
  EXPECT_EQ(fault("nonsense\r\n\r\n"), 400);
  EXPECT_EQ(fault("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(fault(start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "Content-Length: 1, 2\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "Content-Length: +1\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "Transfer-Encoding: gzip, chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "Transfer-Encoding: gzip\r\n\r\n"), 501);
  EXPECT_EQ(fault(start + "Transfer-Encoding: chunked, gzip\r\n\r\n"), 501);
  EXPECT_EQ(fault(start + "Transfer-Encoding: identity\r\n\r\n"), 501);
  EXPECT_EQ(fault(start + "Expect: something\r\n\r\n"), 417);
  EXPECT_EQ(fault("GET / HTTP/1.1\r\n\r\n"), 400) << "no host";
  EXPECT_EQ(fault("GET / HTTP/1.0\r\n\r\n"), 0) << "an older one needs none";
  EXPECT_EQ(fault(start + "Host: b\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "A : b\r\n\r\n"), 400);
  EXPECT_EQ(fault(start + "Transfer-Encoding: chunked\r\n\r\nx\r\n"), 400);
  EXPECT_EQ(fault(start + "Transfer-Encoding: chunked\r\n\r\n1\r\nabcd\r\n"), 400);
  EXPECT_EQ(fault(start + "Transfer-Encoding: chunked\r\n\r\n11111111111111111\r\n"), 400);
}

TEST(RequestReader, limits_hold_whatever_the_pieces) {
  Limits limits;
  limits.header_max_bytes = 2'000;
  limits.body_max_bytes = 1'000;
  const std::string start = std::string("POST / HTTP/1.1\r\n") + kHost;
  std::string many = start, chunked = start + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 90; ++i) many += "A-Name: and its value, which is long\r\n";
  for (int i = 0; i < 101; ++i) chunked += "a\r\n0123456789\r\n";
  const std::string endless = start + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(5'000, 'x');
  for (std::size_t piece : {1UL, 7UL, 300UL, 100'000UL}) {
    EXPECT_EQ(Read(many, piece, limits).reader.fault(), 431) << piece;
    EXPECT_EQ(Read(start + std::string(100'000, 'x'), piece, limits).reader.fault(), 431) << piece;
    EXPECT_EQ(Read(chunked, piece, limits).reader.fault(), 413) << piece;
    EXPECT_EQ(Read(endless, piece, limits).reader.fault(), 400) << piece;
  }
}

TEST(RequestReader, the_form_for_proxies) {
  auto target = [](const std::string& text) { return Read("GET " + text + " HTTP/1.0\r\n\r\n", 100).head.target; };
  EXPECT_EQ(target("http://a.example:80/b?c"), "/b?c");
  EXPECT_EQ(target("https://a.example"), "/");
  EXPECT_EQ(target("*"), "*");
}

}  // namespace
}  // namespace ff::server::transport
