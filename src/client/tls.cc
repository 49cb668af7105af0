#include "client/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace ff::client {
namespace {

std::string last_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason ? reason : "unknown fault";
}

}  // namespace

std::expected<std::shared_ptr<TlsContext>, std::string> TlsContext::make(const std::string* ca_file) {
  std::shared_ptr<TlsContext> made(new TlsContext);
  made->context_ = SSL_CTX_new(TLS_client_method());
  SSL_CTX* context = made->context_;
  if (context == nullptr) return std::unexpected("TLS cannot be used here: " + last_error() + ".");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ERR_clear_error();
  if (ca_file == nullptr) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (SSL_CTX_load_verify_locations(context, ca_file->c_str(), nullptr) != 1) {
    return std::unexpected("The certificates in " + *ca_file + " cannot be used: " + last_error() + ".");
  }
  return made;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

TlsSession::TlsSession(TlsContext& context, const std::string& host) : ssl_(SSL_new(context.native())) {
  SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(ssl_);
  // An address has to stand in the certificate as one; a name is also told to the server, which may have many.
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), host.c_str()) != 1) {
    ERR_clear_error();
    SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(ssl_, host.c_str());
    SSL_set_tlsext_host_name(ssl_, host.c_str());
  }
  static constexpr unsigned char kProtocol[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_set_alpn_protos(ssl_, kProtocol, sizeof kProtocol);
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

void TlsSession::feed(std::string_view bytes) {
  BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
}

bool TlsSession::fail(const char* what) {
  const long verdict = SSL_get_verify_result(ssl_);
  fault_ = verdict == X509_V_OK ? last_error() : X509_verify_cert_error_string(verdict);
  fault_ = std::string(what) + ": " + fault_;
  ERR_clear_error();
  return false;
}

bool TlsSession::shake_hands() {
  if (is_open_) return true;
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) return is_open_ = true;
  const int why = SSL_get_error(ssl_, done);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return true;
  return fail("TLS could not be agreed upon");
}

bool TlsSession::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const int sealed = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    if (sealed <= 0) return fail("TLS broke");
    bytes.remove_prefix(static_cast<std::size_t>(sealed));
  }
  return true;
}

bool TlsSession::read(std::string& to) {
  char bytes[16 * 1024];
  while (true) {
    ERR_clear_error();
    const int got = SSL_read(ssl_, bytes, sizeof bytes);
    if (got > 0) {
      to.append(bytes, static_cast<std::size_t>(got));
      continue;
    }
    const int why = SSL_get_error(ssl_, got);
    if (why == SSL_ERROR_ZERO_RETURN) has_ended_ = true;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_ZERO_RETURN) return true;
    return fail("TLS broke");
  }
}

void TlsSession::say_goodbye() {
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

std::string TlsSession::take_output() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(ssl_), &data);
  std::string output(data, static_cast<std::size_t>(size > 0 ? size : 0));
  BIO_reset(SSL_get_wbio(ssl_));
  return output;
}

}  // namespace ff::client
