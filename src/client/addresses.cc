#include "client/addresses.h"

#include <netdb.h>
#include <sys/un.h>

#include <cstring>
#include <utility>

namespace ff::client {
namespace {

Address socket_address(const std::string& path) {
  Address address;
  auto& un = reinterpret_cast<sockaddr_un&>(address.bytes);
  un.sun_family = AF_UNIX;
  path.copy(un.sun_path, sizeof un.sun_path - 1);
  address.size = sizeof un;
  return address;
}

std::expected<std::vector<Address>, std::string> ask(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int failed = getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &found); failed != 0)
    return std::unexpected(std::string("its name was not found (") + gai_strerror(failed) + ")");
  std::vector<Address> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Address address;
    std::memcpy(&address.bytes, at->ai_addr, at->ai_addrlen);
    address.size = at->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

}  // namespace

std::expected<std::vector<Address>, std::string> look_up(const Endpoint& endpoint) {
  if (!endpoint.socket_path.empty()) return std::vector{socket_address(endpoint.socket_path)};
  return ask(endpoint, 0);
}

void AddressBook::find(Found found) {
  if (known_.empty()) {
    // What needs no network is known at once.
    if (!endpoint_.socket_path.empty())
      known_ = {socket_address(endpoint_.socket_path)};
    else
      known_ = ask(endpoint_, AI_NUMERICHOST).value_or(std::vector<Address>());
  }
  if (!known_.empty()) return found(known_);
  waiting_->push_back(std::move(found));
  if (waiting_->size() > 1) return;
  std::thread([endpoint = endpoint_, loop = loop_, known = std::weak_ptr(waiting_), this] {
    auto addresses = look_up(endpoint);
    auto alive = loop.lock();
    if (!alive) return;
    alive->post([addresses = std::move(addresses), known, this] {
      auto waiters = known.lock();
      if (!waiters) return;  // the book is closed
      if (addresses) known_ = *addresses;
      for (auto& waiter : std::exchange(*waiters, {})) waiter(addresses);
    });
  }).detach();
}

}  // namespace ff::client
