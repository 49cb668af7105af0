#pragma once

// An address that connections come to.

#include "server/http.h"
#include "server/transport/asio.h"

#include <expected>

namespace ff::server::transport {

/// Opens `host:port`, for each address that a name stands for, or `unix:/path`. Port 0 picks one, the same for all. A
/// socket file that nobody listens at is replaced. Or a sentence that says why not.
std::expected<std::vector<Acceptor>, std::string> open_address(asio::io_context& context, const std::string& text);

/// `http://127.0.0.1:9090` of where it listens.
std::string url_of(const Acceptor& acceptor, bool tls);

/// Who can reach it.
Reach reach_of(const Acceptor& acceptor);

/// The address at the other end of a connection; empty when that tells nothing.
std::string remote_of(const Socket& socket);

/// Removes the file of a socket.
void forget(const Acceptor& acceptor);

}  // namespace ff::server::transport
