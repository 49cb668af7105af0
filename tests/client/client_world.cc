#include "client/client_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ff::test {
namespace {

int connect_to(const std::string& url) {
  const auto port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
  sockaddr_in address{AF_INET, port, {htonl(INADDR_LOOPBACK)}, {}};
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

void ClientTest::serve(ServedOptions options, client::ClientOptions client) {
  if (remote.backend()) remote.close();
  served.reset();
  served = std::make_unique<Served>(fabric, std::move(options), Served::Ends::server_only);
  url = served->url();
  remote = must(open_client(std::move(client)));
}

Result<Fabric> ClientTest::open_client(client::ClientOptions options, const std::string& at) const {
  if (!options.log) options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  return client::open_remote(at.empty() ? url : at, std::move(options), {});
}

FakeServer::FakeServer(std::function<void(int, int)> serve)
    : serve_(std::move(serve)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
  socklen_t size = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  listen(listener_, 64);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const int number = ++connections_;
      std::lock_guard guard(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd, number] {
        serve_(fd, number);
        std::lock_guard closing(mutex_);
        std::erase(open_, fd);
        ::close(fd);
      });
    }
  });
}

FakeServer::~FakeServer() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  ::close(listener_);
  {
    std::lock_guard guard(mutex_);
    for (int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  for (auto& thread : threads_) thread.join();
}

std::string FakeServer::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

std::string FakeServer::read_request(int fd) {
  std::string text;
  char bytes[16 * 1024];
  while (true) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end != text.npos) {
      const std::size_t length = text.find("Content-Length: ");
      const std::size_t body = length < end ? std::stoul(text.substr(length + 16)) : 0;
      if (text.size() >= end + 4 + body) return text;
    }
    const auto got = recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) return "";
    text.append(bytes, static_cast<std::size_t>(got));
  }
}

void FakeServer::write(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string FakeServer::answer(int status, const std::string& body, const std::string& more_headers) {
  return fmt::format("HTTP/1.1 {} Some\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(),
                     more_headers, body);
}

Relay::Relay(const std::string& server_url) : server_url_(server_url), fake_([this](int fd, int) { relay(fd); }) {}

void Relay::relay(int fd) {
  const int server = connect_to(server_url_);
  if (server < 0) return;
  char bytes[16 * 1024];
  while (true) {
    pollfd both[2] = {{fd, POLLIN, 0}, {server, POLLIN, 0}};
    poll(both, 2, -1);
    if (both[0].revents != 0) {
      const auto got = recv(fd, bytes, sizeof bytes, 0);
      if (got <= 0) break;
      FakeServer::write(server, {bytes, static_cast<std::size_t>(got)});
    }
    if (both[1].revents != 0) {
      const auto got = recv(server, bytes, sizeof bytes, 0);
      if (got <= 0) break;
      if (lost_answers > 0) {
        --lost_answers;
        break;
      }
      FakeServer::write(fd, {bytes, static_cast<std::size_t>(got)});
    }
  }
  ::close(server);
}

}  // namespace ff::test
