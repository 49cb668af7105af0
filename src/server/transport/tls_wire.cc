#include "server/transport/wire.h"

#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace ff::server::transport {
namespace {

class TlsWire final : public Wire {
 public:
  TlsWire(Socket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  Task<IoError> open() override {
    IoError error;
    co_await stream_.async_handshake(asio::ssl::stream_base::server, asio::redirect_error(use_task, error));
    co_return error;
  }

  Task<Moved> read(asio::mutable_buffer into) override {
    Moved moved;
    moved.bytes = co_await stream_.async_read_some(into, asio::redirect_error(use_task, moved.error));
    // Many clients leave without a farewell.
    if (moved.error == asio::ssl::error::stream_truncated) moved.error = asio::error::eof;
    co_return moved;
  }

  Task<IoError> write(std::array<asio::const_buffer, 2> bytes) override {
    IoError error;
    co_await asio::async_write(stream_, bytes, asio::redirect_error(use_task, error));
    co_return error;
  }

  Task<void> say_goodbye() override {
    IoError ignored;
    co_await stream_.async_shutdown(asio::redirect_error(use_task, ignored));
    stream_.next_layer().shutdown(Socket::shutdown_send, ignored);
  }

  void close() override {
    IoError ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<Socket> stream_;
};

}  // namespace

std::unique_ptr<Wire> tls_wire(Socket socket, std::shared_ptr<asio::ssl::context> context) {
  return std::make_unique<TlsWire>(std::move(socket), std::move(context));
}

}  // namespace ff::server::transport
