#include "support/fake_redis.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace ff::test {
namespace {

constexpr int kGlanceMs = 20;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool readable(int fd, int wait_ms) {
  pollfd item{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&item, 1, wait_ms) > 0;
}

/// What has arrived; empty: the other side is gone.
std::string read_some(int fd) {
  char buffer[65'536];
  const ssize_t count = recv(fd, buffer, sizeof buffer, 0);
  return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : std::string();
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

LocalListener::LocalListener(std::function<void(int)> serve) : serve_(std::move(serve)) {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(fd_, 64) != 0)
    throw std::runtime_error("no port to listen on");
  getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] {
    while (!stop_) {
      if (!readable(fd_, kGlanceMs)) continue;
      const int client = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      served_.emplace_back([this, client] {
        while (!stop_ && !readable(client, kGlanceMs)) {
        }
        if (!stop_) serve_(client);
        close(client);
      });
    }
  });
}

LocalListener::~LocalListener() {
  stop_ = true;
  thread_.join();
  for (auto& thread : served_) thread.join();
  close(fd_);
}

FakeRedis::FakeRedis(std::string info)
    : info_(std::move(info)), listener_([this](int client) {
        // The store sends one command at a time until it has seen the version.
        while (!read_some(client).empty())
          write_all(client, "$" + std::to_string(info_.size()) + "\r\n" + info_ + "\r\n");
      }) {}

CuttingProxy::CuttingProxy(int server_port)
    : server_port_(server_port), listener_([this](int client) { serve(client); }) {}

void CuttingProxy::serve(int client) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  while (true) {
    pollfd items[] = {{.fd = client, .events = POLLIN, .revents = 0}, {.fd = server, .events = POLLIN, .revents = 0}};
    poll(items, 2, -1);
    if (items[0].revents) {
      const std::string bytes = read_some(client);
      if (bytes.empty()) break;
      const bool cut = bytes.find("ff_commit") != std::string::npos && armed_.exchange(false);
      write_all(server, bytes);
      if (cut) {
        ++cuts_;
        read_some(server);
        break;
      }
    }
    if (items[1].revents) {
      const std::string bytes = read_some(server);
      if (bytes.empty()) break;
      write_all(client, bytes);
    }
  }
  close(server);
}

}  // namespace ff::test
