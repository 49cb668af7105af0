#include "server/transport/tls.h"

#include <openssl/ssl.h>

namespace ff::server::transport {
namespace {

using Context = asio::ssl::context;

std::unexpected<std::string> unusable(std::string_view setting, const std::string& path, const IoError& error) {
  return std::unexpected(fmt::format("{}: the file {} cannot be used: {}.", setting, path, error.message()));
}

/// Of the protocols that a client offers we speak one.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
  static constexpr unsigned char kOurs[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, kOurs, sizeof kOurs, offered, offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

std::expected<std::shared_ptr<Context>, std::string> read(const TlsFiles& files) {
  auto context = std::make_shared<Context>(Context::tls_server);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  // A connection that rests keeps no buffers; a client cannot make us renegotiate.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  IoError error;
  context->use_certificate_chain_file(files.cert, error);
  if (error) return unusable("tls_cert", files.cert, error);
  context->use_private_key_file(files.key, Context::pem, error);
  if (error) return unusable("tls_key", files.key, error);
  if (files.client_ca) {
    context->load_verify_file(*files.client_ca, error);
    if (error) return unusable("tls_client_ca", *files.client_ca, error);
    context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    SSL_CTX_set_client_CA_list(native, SSL_load_client_CA_file(files.client_ca->c_str()));
    // A session that is taken up again is bound to the certificate that it began with.
    static constexpr unsigned char kSessions[] = "flowfabric";
    SSL_CTX_set_session_id_context(native, kSessions, sizeof kSessions - 1);
  }
  return context;
}

}  // namespace

Certificates::Stamp Certificates::stamp() const {
  Stamp stamp;
  for (const std::string& path : {files_.cert, files_.key, files_.client_ca.value_or(files_.cert)}) {
    std::error_code ignored;
    stamp.emplace_back(std::filesystem::last_write_time(path, ignored), std::filesystem::file_size(path, ignored));
  }
  return stamp;
}

std::expected<std::shared_ptr<Certificates>, std::string> Certificates::load(TlsFiles files, Log log) {
  std::shared_ptr<Certificates> made(new Certificates(std::move(files), std::move(log)));
  made->stamp_ = made->stamp();
  auto context = read(made->files_);
  if (!context) return std::unexpected(context.error());
  made->context_ = std::move(*context);
  return made;
}

std::shared_ptr<Context> Certificates::current() {
  std::lock_guard guard(mutex_);
  return context_;
}

void Certificates::reload() {
  Stamp now = stamp();
  auto context = read(files_);
  std::lock_guard guard(mutex_);
  stamp_ = std::move(now);
  if (!context) return log_.warn("new certificates cannot be used, the old ones stay", {{"error", context.error()}});
  context_ = std::move(*context);
  log_.info("certificates were read again");
}

void Certificates::reload_if_changed() {
  {
    std::lock_guard guard(mutex_);
    if (stamp() == stamp_) return;
  }
  reload();
}

}  // namespace ff::server::transport
