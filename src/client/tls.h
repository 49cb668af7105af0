#pragma once

// TLS without sockets: bytes of the wire go in, bytes for the wire come out.

#include <expected>
#include <memory>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace ff::client {

/// Whom to trust. Made once, used by every connection.
class TlsContext {
 public:
  /// Trusts the certificates in the file, or those of the system. A sentence when the file cannot be used.
  static std::expected<std::shared_ptr<TlsContext>, std::string> make(const std::string* ca_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;

  ssl_ctx_st* native() { return context_; }

 private:
  TlsContext() = default;
  ssl_ctx_st* context_ = nullptr;
};

/// One connection's part of it: the other side has to prove that it is `host`.
class TlsSession {
 public:
  TlsSession(TlsContext& context, const std::string& host);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;

  /// Takes bytes that came over the wire.
  void feed(std::string_view bytes);
  /// Goes on with the handshake. False when it has failed: `fault` says why.
  bool shake_hands();
  bool is_open() const { return is_open_; }
  /// Seals bytes; only when it is open.
  bool write(std::string_view bytes);
  /// Appends what has come in, unsealed. False when it is broken.
  bool read(std::string& to);
  /// The other side has said that it sends no more.
  bool has_ended() const { return has_ended_; }
  /// Says that we send no more.
  void say_goodbye();
  /// What has to go over the wire.
  std::string take_output();
  const std::string& fault() const { return fault_; }

 private:
  bool fail(const char* what);

  ssl_st* ssl_ = nullptr;
  bool is_open_ = false;
  bool has_ended_ = false;
  std::string fault_;
};

}  // namespace ff::client
