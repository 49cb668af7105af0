#include "support/tcp_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ff::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

TcpProxy::TcpProxy(int server_port, Hand hand) : server_port_(server_port), hand_(std::move(hand)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), length);
  listen(listener_, 64);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] {
    for (int client, number = 0; (client = accept(listener_, nullptr, nullptr)) >= 0; ++number)
      pumps_.emplace_back([this, number, client] { pump(number, client); });
  });
}

TcpProxy::~TcpProxy() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (auto& pump : pumps_) pump.join();
  close(listener_);
}

void TcpProxy::pump(int number, int client) const {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  bool open = connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  while (open) {
    pollfd both[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (poll(both, 2, -1) < 0) break;
    if (both[0].revents != 0) open = carry(number, From::client, client, server);
    if (open && both[1].revents != 0) open = carry(number, From::server, server, client);
  }
  close(server);
  close(client);
}

bool TcpProxy::carry(int number, From from, int source, int target) const {
  char buffer[16'384];
  const ssize_t size = read(source, buffer, sizeof buffer);
  if (size <= 0) return false;
  std::string bytes(buffer, static_cast<std::size_t>(size));
  const Then then = hand_(number, from, bytes);
  if (then == Then::cut) return false;
  if (then == Then::swallow) return true;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = send(target, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return then == Then::pass_on;
}

}  // namespace ff::test
