#pragma once

// A client at the level of bytes: it can be as polite or as rude as a test needs it.

#include "server/http.h"

#include <string>
#include <vector>

struct ssl_st;
struct ssl_ctx_st;

namespace ff::test {

/// One answer as it came over the wire.
struct WireAnswer {
  int status = 0;  ///< 0: the connection ended before one came
  server::Headers headers;
  std::string body;

  std::string header(std::string_view name) const {
    const std::string* found = server::find_header(headers, name);
    return found ? *found : "";
  }
};

struct ClientTls {
  std::string ca;
  std::string cert, key;  ///< empty: none
};

/// Blocks; gives up after a minute. Failures of the network show as answers that did not come.
class HttpClient {
 public:
  /// `http://127.0.0.1:9090`, `https://...`, `unix:/path`.
  explicit HttpClient(const std::string& url, const ClientTls& tls = {});
  ~HttpClient();
  HttpClient(HttpClient&& other) noexcept;
  HttpClient(const HttpClient&) = delete;

  /// False when it could not connect, or TLS could not be agreed upon.
  bool is_open() const { return fd_ >= 0; }
  /// A whole request; the header `Host`, and `Content-Length` for a body, are added.
  static std::string request_text(const std::string& method, const std::string& target, const std::string& body = "",
                                  const server::Headers& headers = {});
  WireAnswer call(const std::string& method, const std::string& target, const std::string& body = "",
                  const server::Headers& headers = {});

  /// False when the other side has closed.
  bool send(std::string_view bytes);
  /// The next answer; interim ones (100) are left out unless asked for.
  WireAnswer read_answer(bool has_body = true, bool interim = false);
  /// Only status line and headers, for bodies that do not end.
  WireAnswer read_head();
  /// The next chunk of a chunked body; empty at its end.
  std::string read_chunk();
  /// Everything until the other side closes.
  std::string read_to_end();
  /// The other side has closed, and nothing is left to read.
  bool is_at_end();

  /// No more will be sent; reading goes on.
  void half_close();
  /// As a process that dies: the line is cut.
  void reset();
  void close();
  /// Of the kernel, so that a reader that does not read is noticed soon.
  void set_receive_buffer(int bytes);

 private:
  bool start_tls(const ClientTls& tls);
  bool fill();
  std::string read_line();
  std::string read_bytes(std::size_t count);

  int fd_ = -1;
  ssl_ctx_st* context_ = nullptr;
  ssl_st* ssl_ = nullptr;
  std::string input_;
};

}  // namespace ff::test
