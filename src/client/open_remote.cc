#include "client/open_remote.h"

#include "client/remote.h"
#include "core/errors.h"

#include <algorithm>

namespace ff::client {
namespace {

std::unexpected<Error> refusal(std::string reason, std::string message) {
  return core::fail(ErrorCode::store_refused, std::move(message), {{"reason", std::move(reason)}});
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Error with_advice(Error error, const std::string& server, bool has_token) {
  if (error.code == ErrorCode::unauthorized)
    error.message = has_token ? fmt::format("{} does not know this token. Check it, or make one there with `ff token`.", server)
                              : fmt::format("{} asks for a token. Give one (OpenOptions::api_token; ff: --token or FF_TOKEN).",
                                            server);
  return error;
}

}  // namespace

Result<Fabric> open_remote(const std::string& url, const OpenOptions& options) {
  ClientOptions made;
  made.token = options.api_token;
  made.ca_file = options.ca_file;
  made.log = options.log;
  return open_remote(url, std::move(made), options);
}

Result<Fabric> open_remote(const std::string& url, ClientOptions options, const OpenOptions& open) {
  auto endpoint = parse_endpoint(url);
  if (!endpoint) return std::unexpected(endpoint.error());
  if (options.token && !is_token(*options.token))
    return refusal("invalid_token", "The token is empty, or has blanks or characters outside ASCII; it cannot be sent. Check "
                                    "where it comes from: a line feed at its end is a common cause.");
  if (options.ca_file && !endpoint->tls)
    return refusal("invalid_url", "Certificates are of use with https:// only; this address is not encrypted.");
  std::shared_ptr<TlsContext> tls;
  if (endpoint->tls) {
    auto context = TlsContext::make(options.ca_file ? &*options.ca_file : nullptr);
    if (!context) return refusal("invalid_ca_file", context.error());
    tls = std::move(*context);
  }
  const std::string server = "The server at " + endpoint->name();
  const bool has_token = options.token.has_value();
  const std::uint32_t retry_ms = options.retry_ms;
  // Who opens wants to know at once: this one call is not repeated.
  options.retry_ms = 0;
  auto backend = RemoteBackend::make(std::move(*endpoint), std::move(tls), std::move(options));
  if (auto known = backend->get_to_know(); !known)
    return std::unexpected(with_advice(known.error(), server, has_token));
  backend->set_retry_ms(retry_ms);
  if (open.namespace_ != OpenOptions().namespace_) backend->set_namespace(open.namespace_);
  return Fabric(std::move(backend));
}

}  // namespace ff::client
