#pragma once

// Where a server is.

#include <flowfabric/error.h>

#include <cstdint>
#include <string>

namespace ff::client {

/// `http://host[:port][/base]`, `https://host[:port][/base]`, `http+unix:/path/of/socket`
/// (`unix:` alone is the same, as servers write it).
struct Endpoint {
  bool tls = false;
  std::string host;  ///< a name or an address, without brackets
  std::string port;
  std::string socket_path;  ///< instead of host and port
  std::string base_path;    ///< before every path of the API; empty, or `/a/b`

  /// As it stands in sentences: `http://127.0.0.1:9090`.
  std::string name() const;
  /// The header `Host`.
  std::string authority() const;
};

/// Whether a URL names a server rather than a store.
bool is_server_url(const std::string& url);

/// `store_refused` with reason `invalid_url`; a sentence that says what to write.
Result<Endpoint> parse_endpoint(const std::string& url);

}  // namespace ff::client
