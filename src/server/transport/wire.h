#pragma once

// What carries the bytes of one connection: a socket, with or without TLS.

#include "server/transport/asio.h"

#include <boost/asio/ssl/context.hpp>

namespace ff::server::transport {

struct Moved {
  std::size_t bytes = 0;
  IoError error;
};

/// Used by the one thread of its loop. At most one read and one write are under way.
class Wire {
 public:
  virtual ~Wire() = default;

  /// Makes it ready for use; an error when the other side does not speak our language.
  virtual Task<IoError> open() = 0;
  /// Some bytes, at least one; an error when there will be none.
  virtual Task<Moved> read(asio::mutable_buffer into) = 0;
  /// All of them, or an error.
  virtual Task<IoError> write(std::array<asio::const_buffer, 2> bytes) = 0;
  /// Says that no more will be written. Reading goes on.
  virtual Task<void> say_goodbye() = 0;
  /// Whatever is under way ends with an error.
  virtual void close() = 0;
};

std::unique_ptr<Wire> plain_wire(Socket socket);
std::unique_ptr<Wire> tls_wire(Socket socket, std::shared_ptr<asio::ssl::context> context);

}  // namespace ff::server::transport
