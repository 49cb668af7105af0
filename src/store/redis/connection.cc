#include "store/redis/connection.h"

#include <poll.h>

#include <cerrno>
#include <cstring>

namespace ff::store::redis {
namespace {

timeval to_timeval(std::chrono::milliseconds time) {
  return {.tv_sec = time.count() / 1000, .tv_usec = (time.count() % 1000) * 1000};
}

}  // namespace

Error Connection::broken(std::string_view doing) const {
  const int error = context_->err;
  const bool timed_out = error == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
  return {ErrorCode::store_unavailable,
          fmt::format("The server {} was lost while {} ({}).", address_.to_string(), doing,
                      timed_out ? "no answer in time" : context_->errstr),
          {}};
}

Result<Connection> Connection::open(const Address& address, const Login& login) {
  redisContext* raw = redisConnectWithTimeout(address.host.c_str(), address.port, to_timeval(login.connect_timeout));
  if (!raw || raw->err) {
    Error error{
        ErrorCode::store_unavailable,
        fmt::format("The server {} cannot be reached ({}).", address.to_string(), raw ? raw->errstr : "no memory"),
        {}};
    if (raw) redisFree(raw);
    return std::unexpected(std::move(error));
  }
  Connection connection(address, raw);
  redisSetTimeout(raw, to_timeval(login.request_timeout));
  redisEnableKeepAlive(raw);
  if (!login.password.empty() || !login.user.empty()) {
    Command auth(0, "AUTH");
    if (!login.user.empty()) auth.arg(login.user);
    auth.arg(login.password);
    if (auto done = connection.call(auth); !done) return std::unexpected(done.error());
  }
  if (login.database != 0)
    if (auto done = connection.call(Command(0, "SELECT").arg(login.database)); !done)
      return std::unexpected(done.error());
  return connection;
}

Result<void> Connection::send(std::string_view wire) {
  if (redisAppendFormattedCommand(context_.get(), wire.data(), wire.size()) != REDIS_OK)
    return std::unexpected(broken("sending"));
  for (int done = 0; !done;)
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) return std::unexpected(broken("sending"));
  return {};
}

Result<Reply> Connection::receive() {
  void* reply = nullptr;
  errno = 0;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) return std::unexpected(broken("waiting for an answer"));
  return Reply(static_cast<redisReply*>(reply));
}

Result<Reply> Connection::call(const Command& command) {
  std::string wire;
  command.append_to(wire);
  if (auto sent = send(wire); !sent) return std::unexpected(sent.error());
  auto reply = receive();
  if (reply && reply->value().is_error()) return std::unexpected(error_of(reply->value().text()));
  return reply;
}

bool Connection::readable(std::chrono::milliseconds wait) const {
  // What the driver has read but not yet handed out counts as arrived.
  if (context_->reader && context_->reader->pos < context_->reader->len) return true;
  pollfd fd{.fd = context_->fd, .events = POLLIN, .revents = 0};
  return poll(&fd, 1, static_cast<int>(wait.count())) != 0;
}

}  // namespace ff::store::redis
