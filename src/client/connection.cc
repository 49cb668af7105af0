#include "client/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ff::client {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

std::string error_text(int code) { return std::system_category().message(code); }

}  // namespace

Connection::Connection(Loop& loop, Owner& owner, std::shared_ptr<TlsContext> tls, std::string host)
    : loop_(loop), owner_(owner), tls_context_(std::move(tls)), host_(std::move(host)) {}

Connection::~Connection() { close(); }

void Connection::connect(std::vector<Address> addresses) {
  if (stage_ == Stage::closed) return;
  addresses_ = std::move(addresses);
  next_address_ = 0;
  last_fault_ = "it has no address";
  if (!try_next_address()) fail("could not be reached: " + last_fault_);
}

bool Connection::try_next_address() {
  while (next_address_ < addresses_.size()) {
    const Address& address = addresses_[next_address_++];
    fd_ = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd_ < 0) {
      last_fault_ = error_text(errno);
      continue;
    }
    stage_ = Stage::connecting;
    watched_ = EPOLLOUT;
    loop_.watch(fd_, watched_, *this);
    const int failed = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address.bytes), address.size);
    if (failed == 0) {
      connected();
      return true;
    }
    if (errno == EINPROGRESS) return true;
    last_fault_ = error_text(errno);
    loop_.forget(fd_, *this);
    ::close(std::exchange(fd_, -1));
  }
  return false;
}

void Connection::connected() {
  const int yes = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // without effect on socket files
  watch_for(EPOLLIN);
  if (tls_context_) {
    stage_ = Stage::greeting;
    tls_.emplace(*tls_context_, host_);
    return go_on_greeting();
  }
  stage_ = Stage::open;
  if (!request_.empty()) send(std::exchange(request_, {}));
}

void Connection::go_on_greeting() {
  const bool good = tls_->shake_hands();
  output_ += tls_->take_output();
  flush();
  if (stage_ == Stage::closed) return;
  if (!good) return fail("could not be trusted: " + tls_->fault());
  if (!tls_->is_open()) return;
  stage_ = Stage::open;
  if (!request_.empty()) send(std::exchange(request_, {}));
}

void Connection::send(std::string bytes) {
  if (stage_ != Stage::open) {
    request_ = std::move(bytes);
    return;
  }
  keeps_alive_ = true;
  if (tls_) {
    if (!tls_->write(bytes)) shutdown(fd_, SHUT_RDWR);  // noticed by reading
    output_ += tls_->take_output();
  } else if (output_.empty()) {
    output_ = std::move(bytes);
  } else {
    output_ += bytes;
  }
  flush();
}

void Connection::flush() {
  while (sent_ < output_.size()) {
    const auto sent = ::send(fd_, output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL);
    if (sent >= 0) {
      sent_ += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return watch_for(EPOLLIN | EPOLLOUT);
    } else if (errno != EINTR) {
      is_broken_ = true;  // it may have said why before it closed: reading tells
      break;
    }
  }
  output_.clear();
  sent_ = 0;
  watch_for(EPOLLIN);
}

void Connection::half_close() {
  if (stage_ != Stage::open) return close();
  if (tls_) {
    tls_->say_goodbye();
    output_ += tls_->take_output();
    flush();
    if (stage_ == Stage::closed) return;
  }
  shutdown(fd_, SHUT_WR);
}

void Connection::close() {
  if (fd_ >= 0) {
    loop_.forget(fd_, *this);
    ::close(std::exchange(fd_, -1));
  }
  stage_ = Stage::closed;
}

void Connection::watch_for(std::uint32_t events) {
  if (watched_ == events) return;
  watched_ = events;
  loop_.change(fd_, events, *this);
}

void Connection::fail(std::string why) {
  close();
  owner_.failed(*this, std::move(why));
}

void Connection::ready(std::uint32_t events) {
  if (stage_ == Stage::connecting) {
    int fault = 0;
    socklen_t size = sizeof fault;
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &fault, &size);
    if (fault == 0) return connected();
    last_fault_ = error_text(fault);
    loop_.forget(fd_, *this);
    ::close(std::exchange(fd_, -1));
    if (!try_next_address()) fail("could not be reached: " + last_fault_);
    return;
  }
  if (events & EPOLLOUT) flush();
  if (stage_ != Stage::closed && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) take_in();
}

void Connection::take_in() {
  static thread_local std::string buffer(kReadBytes, '\0');
  const auto got = recv(fd_, buffer.data(), buffer.size(), 0);
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR) fail("broke the connection: " + error_text(errno));
    return;
  }
  if (got == 0) return at_end();
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (!tls_) return take(bytes);
  tls_->feed(bytes);
  if (stage_ == Stage::greeting) {
    go_on_greeting();
    if (stage_ != Stage::open) return;
  }
  std::string plain;
  const bool good = tls_->read(plain);
  output_ += tls_->take_output();
  flush();
  if (stage_ == Stage::closed) return;
  if (!plain.empty()) take(plain);
  if (stage_ == Stage::closed) return;
  if (!good) return fail("broke the connection: " + tls_->fault());
  if (tls_->has_ended()) at_end();
}

void Connection::take(std::string_view bytes) {
  if (!reader_.read(bytes)) return fail("answers with something that is not HTTP");
  if (!reader_.is_whole()) return;
  // An answer to half a request is the last one.
  keeps_alive_ = reader_.keeps_alive() && output_.empty() && !is_broken_;
  ++answers_;
  HttpAnswer answer = reader_.take();
  owner_.answered(*this, std::move(answer));
}

void Connection::at_end() {
  if (stage_ == Stage::greeting) return fail("closed the connection before TLS was agreed upon");
  if (!reader_.end()) return fail("closed the connection before it answered");
  keeps_alive_ = false;
  ++answers_;
  HttpAnswer answer = reader_.take();
  close();
  owner_.answered(*this, std::move(answer));
}

}  // namespace ff::client
