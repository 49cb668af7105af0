// Bytes made by chance, from a seed: whatever comes, the server goes on, and every connection ends. FF_FUZZ_SEED repeats
// one run.

#include "server/transport_world.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

namespace ff::test {
namespace {

constexpr auto kFor = std::chrono::seconds(20);

class TransportFuzz : public TransportTest {
 protected:
  std::size_t pick(std::size_t bound) { return random_() % bound; }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[pick(of.size())];
  }

  std::string noise() {
    std::string bytes(pick(300), '\0');
    for (char& c : bytes) c = static_cast<char>(pick(256));
    return bytes;
  }
  /// Something like a request.
  std::string request() {
    std::string text = any(methods_) + any<std::string>({" ", "  ", "\t"}) + any(targets_) + " " +
                       any<std::string>({"HTTP/1.1", "HTTP/1.0", "HTTP/9.9", "http/1.1", ""}) + any(ends_);
    for (std::size_t i = pick(6); i > 0; --i) text += any(headers_) + any(ends_);
    text += any(ends_);
    if (pick(3) == 0) text += any<std::string>({"{}", "5\r\nhello\r\n0\r\n\r\n", "zz\r\n", "0\r\n\r\n", "ffffffffffffffff\r\n"});
    return text;
  }
  std::string bytes() {
    std::string text;
    for (std::size_t i = 1 + pick(4); i > 0; --i) {
      std::string part = pick(8) == 0 ? noise() : pick(3) == 0 ? HttpClient::request_text("GET", any(targets_)) : request();
      if (!part.empty() && pick(4) == 0) part[pick(part.size())] = static_cast<char>(pick(256));
      if (pick(8) == 0) part.resize(part.size() / 2);
      text += part;
    }
    return text;
  }

  std::mt19937_64 random_;
  const std::vector<std::string> methods_ = {"GET", "POST", "HEAD", "PUT", "OPTIONS", "CONNECT", "", "G\x01T"};
  const std::vector<std::string> targets_ = {"/livez", "/v1/executions", "/v1/executions?limit=1", "/", "*", "http://x/livez",
                                             "/%", "/v1/worker/claim", ""};
  const std::vector<std::string> ends_ = {"\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", ""};
  const std::vector<std::string> headers_ = {"Host: localhost", "Host: localhost", "Content-Length: 2", "Content-Length: x",
                                             "Content-Length: 99999999999", "Transfer-Encoding: chunked", "Connection: close",
                                             "Connection: keep-alive", "Expect: 100-continue", "Content-Type: application/json",
                                             "Transfer-Encoding: gzip", "X:", ": x", "a b: c", " folded", "Accept: text/event-stream"};
};

TEST_F(TransportFuzz, whatever_comes_the_server_goes_on) {
  const char* given = std::getenv("FF_FUZZ_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE(fmt::format("FF_FUZZ_SEED={}", seed));
  std::cout << "FF_FUZZ_SEED=" << seed << std::endl;  // at once: a crash prints nothing more
  random_.seed(seed);
  int rounds = 0, answers = 0;
  for (const auto end = std::chrono::steady_clock::now() + kFor; std::chrono::steady_clock::now() < end; ++rounds) {
    HttpClient http = client();
    const std::string text = bytes();
    const std::size_t cut = pick(text.size() + 1);
    http.send(std::string_view(text).substr(0, cut));
    http.send(std::string_view(text).substr(cut));
    switch (pick(4)) {
      case 0: http.reset(); break;
      case 1: http.close(); break;
      default:
        http.half_close();
        answers += http.read_to_end().starts_with("HTTP/1.1 ") ? 1 : 0;
    }
  }
  EXPECT_GT(rounds, 100);
  EXPECT_GT(answers, 0);
  EXPECT_TRUE(connections_are(0));
  EXPECT_EQ(client().call("GET", "/livez").status, 200);
  EXPECT_THAT(faults(), IsEmpty());
}

}  // namespace
}  // namespace ff::test
