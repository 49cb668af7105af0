#include "server/transport/wire.h"

namespace ff::server::transport {
namespace {

class PlainWire final : public Wire {
 public:
  explicit PlainWire(Socket socket) : socket_(std::move(socket)) {
    IoError ignored;
    socket_.non_blocking(true, ignored);
  }

  Task<IoError> open() override { co_return IoError(); }

  Task<Moved> read(asio::mutable_buffer into) override {
    Moved moved;
    moved.bytes = co_await socket_.async_read_some(into, asio::redirect_error(use_task, moved.error));
    co_return moved;
  }

  /// Most answers fit into the kernel's buffer: they are handed over at once, without a turn of the loop.
  Task<IoError> write(std::array<asio::const_buffer, 2> bytes) override {
    IoError error;
    const std::size_t all = asio::buffer_size(bytes);
    std::size_t sent = socket_.write_some(bytes, error);
    if (error == asio::error::would_block) error.clear();
    if (error || sent == all) co_return error;
    for (auto& part : bytes) {
      const std::size_t done = std::min(sent, part.size());
      part += done;
      sent -= done;
    }
    co_await asio::async_write(socket_, bytes, asio::redirect_error(use_task, error));
    co_return error;
  }

  Task<void> say_goodbye() override {
    IoError ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }

  void close() override {
    IoError ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
};

}  // namespace

std::unique_ptr<Wire> plain_wire(Socket socket) { return std::make_unique<PlainWire>(std::move(socket)); }

}  // namespace ff::server::transport
