#pragma once

#include "store/redis/url.h"
#include "store/redis/wire.h"

#include <chrono>

namespace ff::store::redis {

using Steady = std::chrono::steady_clock;

/// What every connection to a server needs.
struct Login {
  std::string user, password;
  int database = 0;
  std::chrono::milliseconds connect_timeout{2'000};
  std::chrono::milliseconds request_timeout{5'000};
};

/// One connection to one server; used by one thread at a time. After an error it is of no more use.
class Connection {
 public:
  static Result<Connection> open(const Address& address, const Login& login);

  /// Sends commands in the form of the wire; replies follow in order.
  Result<void> send(std::string_view wire);
  /// The next reply, error replies included. An error: the connection is broken, or nothing came in time.
  Result<Reply> receive();
  /// One command and its reply; error replies are errors.
  Result<Reply> call(const Command& command);

  /// Whether something to receive arrives within that time.
  bool readable(std::chrono::milliseconds wait) const;
  const Address& address() const { return address_; }
  int fd() const { return context_->fd; }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  Connection(Address address, redisContext* context) : address_(std::move(address)), context_(context) {}
  Error broken(std::string_view doing) const;

  Address address_;
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace ff::store::redis
