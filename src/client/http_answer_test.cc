#include "client/http_answer.h"

#include <gtest/gtest.h>

namespace ff::client {
namespace {

/// The answer in these bytes, given in pieces of this size.
std::string read_all(std::string_view bytes, std::size_t piece) {
  AnswerReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    if (!reader.read(bytes.substr(at, piece))) return "broken";
  if (!reader.is_whole() && !reader.end()) return "cut off";
  const bool stays = reader.keeps_alive();
  const HttpAnswer answer = reader.take();
  return std::to_string(answer.status) + (stays ? " stays " : " closes ") + answer.content_type + " " +
         std::to_string(answer.retry_after_s) + (answer.replay ? " replay " : " ") + answer.body;
}

void expect(std::string_view bytes, const std::string& read) {
  for (std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{10'000}})
    EXPECT_EQ(read_all(bytes, piece), read) << bytes << " by " << piece;
}

TEST(ClientHttpAnswer, forms_of_a_body) {
  expect("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
         "200 stays application/json 0 {}");
  expect("HTTP/1.1 204 No Content\r\n\r\n", "204 stays  0 ");
  expect("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "200 stays  0 ");
  expect("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
         "200 stays  0 abc0123456789");
  expect("HTTP/1.1 200 OK\r\n\r\nto the end", "200 closes  0 to the end");
}

TEST(ClientHttpAnswer, headers_that_count) {
  expect("HTTP/1.1 503 Busy\r\nRETRY-AFTER:  7 \r\nConnection: foo, Close\r\nContent-Length: 0\r\n\r\n", "503 closes  7 ");
  expect("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200 closes  0 ");
  expect("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", "200 stays  0 ");
  expect("HTTP/1.1 200 OK\r\nIdempotent-Replay: true\r\nContent-Length: 0\r\n\r\n", "200 stays  0 replay ");
  expect("HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", "201 stays  0 x");
}

TEST(ClientHttpAnswer, what_is_none) {
  expect("SSH-2.0-OpenSSH_9.2\r\n\r\n", "broken");
  expect("HTTP/2.0 200 OK\r\n\r\n", "broken");
  expect("HTTP/1.1 2x0 OK\r\n\r\n", "broken");
  expect("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "broken");
  expect("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "broken");
  expect("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "broken");
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "broken");
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "broken");
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n", "broken");
  expect("HTTP/1.1 204 No Content\r\n\r\nmore", "broken");
  expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "cut off");
  expect("HTTP/1.1 200 OK\r\n", "cut off");
  expect(std::string(AnswerReader::kHeadBytesMax + 1, 'x'), "broken");
}

}  // namespace
}  // namespace ff::client
