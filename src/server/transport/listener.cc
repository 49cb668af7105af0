#include "server/transport/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace ff::server::transport {
namespace {

constexpr int kBacklog = 4096;
constexpr std::string_view kUnix = "unix:";

using Endpoint = Protocol::endpoint;
using Acceptors = std::expected<std::vector<Acceptor>, std::string>;

std::unexpected<std::string> cannot_listen(const std::string& text, std::string_view why) {
  return std::unexpected(fmt::format("The address {} cannot be opened: {}.", text, why));
}

std::uint16_t port_of(const Endpoint& endpoint) {
  sockaddr_storage storage{};
  std::memcpy(&storage, endpoint.data(), std::min(endpoint.size(), sizeof storage));
  if (storage.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

std::string numeric_host(const Endpoint& endpoint) {
  char host[NI_MAXHOST] = {};
  getnameinfo(static_cast<const sockaddr*>(static_cast<const void*>(endpoint.data())), static_cast<socklen_t>(endpoint.size()),
              host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

std::string path_of(const Endpoint& endpoint) {
  sockaddr_un address{};
  std::memcpy(&address, endpoint.data(), std::min(endpoint.size(), sizeof address));
  return address.sun_path;
}

std::expected<std::vector<Endpoint>, std::string> resolve(const std::string& text, std::string host, const std::string& port) {
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
    return cannot_listen(text, gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  std::vector<Endpoint> endpoints;
  for (const addrinfo* each = found; each; each = each->ai_next)
    endpoints.emplace_back(each->ai_addr, each->ai_addrlen, IPPROTO_TCP);
  return endpoints;
}

std::expected<Acceptor, IoError> open_endpoint(asio::io_context& context, const Endpoint& endpoint) {
  Acceptor acceptor(context);
  IoError error;
  acceptor.open(endpoint.protocol(), error);
  const int family = endpoint.protocol().family();
  const int yes = 1;
  if (!error && family != AF_UNIX) setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  // So that 0.0.0.0 and [::] can be had at once.
  if (!error && family == AF_INET6) setsockopt(acceptor.native_handle(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error) return std::unexpected(error);
  return acceptor;
}

/// A name may stand for an address that this machine does not have.
bool is_not_ours(const IoError& error) {
  return error == boost::system::errc::address_not_available || error == boost::system::errc::address_family_not_supported;
}

bool somebody_listens(const sockaddr_un& address) {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool answered = probe >= 0 && connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (probe >= 0) close(probe);
  return answered;
}

Acceptors open_file(asio::io_context& context, const std::string& text) {
  const std::string path = text.substr(kUnix.size());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return cannot_listen(text, "the path is too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  if (somebody_listens(address)) return cannot_listen(text, "another process listens there");
  // What a process left behind that did not end well; anything but a socket stays, and binding fails.
  struct stat what {};
  if (lstat(path.c_str(), &what) == 0 && S_ISSOCK(what.st_mode)) unlink(path.c_str());
  auto acceptor = open_endpoint(context, Endpoint(&address, sizeof address, 0));
  if (!acceptor) return cannot_listen(text, acceptor.error().message());
  std::vector<Acceptor> all;
  all.push_back(std::move(*acceptor));
  return all;
}

}  // namespace

std::expected<std::vector<Acceptor>, std::string> open_address(asio::io_context& context, const std::string& text) {
  if (text.starts_with(kUnix)) return open_file(context, text);
  const std::size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  std::string port = text.substr(colon + 1);
  auto endpoints = resolve(text, host, port);
  if (!endpoints) return std::unexpected(endpoints.error());
  std::vector<Acceptor> all;
  IoError last_error;
  for (std::size_t i = 0; i < endpoints->size(); ++i) {
    auto acceptor = open_endpoint(context, (*endpoints)[i]);
    if (!acceptor) {
      last_error = acceptor.error();
      if (!is_not_ours(last_error)) return cannot_listen(text, last_error.message());
      continue;
    }
    all.push_back(std::move(*acceptor));
    if (port != "0") continue;
    // The other addresses of the name get the port that the first one got.
    port = std::to_string(port_of(all.back().local_endpoint()));
    endpoints = resolve(text, host, port);
    if (!endpoints) return std::unexpected(endpoints.error());
  }
  if (all.empty()) return cannot_listen(text, last_error.message());
  return all;
}

std::string url_of(const Acceptor& acceptor, bool tls) {
  const Endpoint endpoint = acceptor.local_endpoint();
  const int family = endpoint.protocol().family();
  if (family == AF_UNIX) return std::string(kUnix) + path_of(endpoint);
  const std::string host = numeric_host(endpoint);
  return fmt::format("{}://{}:{}", tls ? "https" : "http", family == AF_INET6 ? "[" + host + "]" : host, port_of(endpoint));
}

Reach reach_of(const Acceptor& acceptor) {
  const Endpoint endpoint = acceptor.local_endpoint();
  const int family = endpoint.protocol().family();
  if (family == AF_UNIX) return Reach::socket;
  const std::string host = numeric_host(endpoint);
  return host == "::1" || (family == AF_INET && host.starts_with("127.")) ? Reach::loopback : Reach::anywhere;
}

std::string remote_of(const Socket& socket) {
  IoError error;
  const Endpoint endpoint = socket.remote_endpoint(error);
  return error || endpoint.protocol().family() == AF_UNIX ? std::string() : numeric_host(endpoint);
}

void forget(const Acceptor& acceptor) {
  const Endpoint endpoint = acceptor.local_endpoint();
  if (endpoint.protocol().family() == AF_UNIX) unlink(path_of(endpoint).c_str());
}

}  // namespace ff::server::transport
