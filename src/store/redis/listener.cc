#include "store/redis/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <map>

namespace ff::store::redis {
namespace {

constexpr int kQuietMs = 30'000, kFirstPauseMs = 100, kLongestPauseMs = 5'000;

}  // namespace

Listener::Listener(std::shared_ptr<Topology> topology, std::uint16_t partitions, std::string own,
                   std::function<void()> wake)
    : topology_(std::move(topology)),
      partitions_(partitions),
      own_(std::move(own)),
      wake_(std::move(wake)),
      stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { loop(); }) {}

Listener::~Listener() {
  stop_ = true;
  const std::uint64_t one = 1;
  (void)!write(stop_fd_, &one, sizeof one);
  thread_.join();
  close(stop_fd_);
}

Result<void> Listener::subscribe() {
  connections_.clear();
  if (auto refreshed = topology_->refresh(topology_->generation()); !refreshed) return refreshed;
  std::map<Address, std::string> wires;
  for (std::uint16_t i = 0; i < partitions_; ++i) {
    const Place place(i);
    Command(place.slot, "SSUBSCRIBE").arg(place.wake()).append_to(wires[topology_->owner(place.slot)]);
  }
  for (const auto& [address, wire] : wires) {
    auto connection = Connection::open(address, topology_->login());
    if (!connection) return std::unexpected(connection.error());
    if (auto sent = connection->send(wire); !sent) return sent;
    connections_.push_back(std::move(*connection));
  }
  return {};
}

bool Listener::wait(int timeout_ms) {
  std::vector<pollfd> fds = {{.fd = stop_fd_, .events = POLLIN, .revents = 0}};
  for (const auto& connection : connections_) fds.push_back({.fd = connection.fd(), .events = POLLIN, .revents = 0});
  return poll(fds.data(), fds.size(), timeout_ms) > 0 && !stop_;
}

Result<bool> Listener::take(Connection& connection) {
  bool foreign = false;
  while (connection.readable(std::chrono::milliseconds(0))) {
    auto reply = connection.receive();
    if (!reply) return std::unexpected(reply.error());
    const Value message = reply->value();
    if (message.is_error()) return std::unexpected(error_of(message.text()));
    const std::string_view kind = message[0].text();
    if (kind == "smessage") foreign = foreign || message[2].text() != own_;
    // The server let go of a channel: its slot has moved.
    if (kind == "sunsubscribe") return core::fail(ErrorCode::store_unavailable, "A channel was closed by the server.");
  }
  return foreign;
}

void Listener::loop() {
  int pause_ms = kFirstPauseMs;
  while (!stop_) {
    bool lost = !subscribe();
    if (!lost) {
      pause_ms = kFirstPauseMs;
      wake_();
    }
    while (!lost && !stop_) {
      if (!wait(kQuietMs)) continue;
      bool foreign = false;
      for (auto& connection : connections_) {
        auto taken = take(connection);
        lost = lost || !taken;
        foreign = foreign || (taken && *taken);
      }
      if (foreign) wake_();
    }
    connections_.clear();
    if (!stop_) (void)wait(pause_ms);
    pause_ms = std::min(pause_ms * 2, kLongestPauseMs);
  }
}

}  // namespace ff::store::redis
