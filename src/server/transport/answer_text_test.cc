#include "server/transport/answer_text.h"

#include <gtest/gtest.h>

namespace ff::server::transport {
namespace {

Response with(int status, Headers headers) {
  Response response;
  response.status = status;
  response.headers = std::move(headers);
  return response;
}

TEST(AnswerText, status_line_headers_and_how_it_goes_on) {
  EXPECT_EQ(head_text(with(201, {{"Location", "/a"}, {"Content-Length", "0"}}), {.date = "today"}),
            "HTTP/1.1 201 Created\r\nLocation: /a\r\nContent-Length: 0\r\nDate: today\r\n\r\n");
  EXPECT_EQ(head_text(with(204, {}), {.closes = true, .date = "d"}),
            "HTTP/1.1 204 No Content\r\nDate: d\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head_text(with(431, {}), {.http_1_0 = true, .date = "d"}),
            "HTTP/1.1 431 Request Header Fields Too Large\r\nDate: d\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(head_text(with(200, {}), {.in_chunks = true, .date = "d"}),
            "HTTP/1.1 200 OK\r\nDate: d\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(AnswerText, a_value_cannot_begin_a_line_of_its_own) {
  const std::string text = head_text(with(200, {{"A", "b\r\nSet-Cookie: x"}, {"C", "d\n"}, {"E", std::string("\0", 1)}}), {});
  EXPECT_EQ(text.find("Set-Cookie"), text.npos);
  EXPECT_EQ(text, "HTTP/1.1 200 OK\r\nDate: \r\n\r\n");
}

TEST(AnswerText, chunks) {
  EXPECT_EQ(chunk_text("hello"), "5\r\nhello\r\n");
  EXPECT_EQ(chunk_text(std::string(255, 'a')), "ff\r\n" + std::string(255, 'a') + "\r\n");
}

}  // namespace
}  // namespace ff::server::transport
