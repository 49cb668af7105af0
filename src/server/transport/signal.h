#pragma once

#include "server/transport/asio.h"

namespace ff::server::transport {

/// Lets one coroutine wait until another part of the same thread has something for it. What that is, both know; whoever
/// wakes looks again.
class Signal {
 public:
  Task<void> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<Executor>&, void()>(
        [this](auto handler) {
          waiter_ = [handler = std::move(handler)]() mutable { std::move(handler)(); };
        },
        use_task);
  }
  /// Goes on with the waiting coroutine, before this returns.
  void notify() {
    if (auto waiter = std::exchange(waiter_, nullptr)) waiter();
  }

 private:
  std::move_only_function<void()> waiter_;
};

}  // namespace ff::server::transport
