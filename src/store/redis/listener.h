#pragma once

#include "store/redis/layout.h"
#include "store/redis/topology.h"

#include <atomic>
#include <functional>
#include <thread>

namespace ff::store::redis {

/// Listens for the wake-ups of other processes: one connection per server, on the channels of its partitions. After
/// every reconnect it wakes once, because something may have been missed.
class Listener {
 public:
  /// `own` is the word that our own wake-ups carry.
  Listener(std::shared_ptr<Topology> topology, std::uint16_t partitions, std::string own, std::function<void()> wake);
  ~Listener();
  Listener(const Listener&) = delete;

 private:
  void loop();
  Result<void> subscribe();
  /// Takes what has arrived at one connection; true: somebody else's wake-up was among it.
  Result<bool> take(Connection& connection);
  /// Waits for anything to read, or for the end; true: something is there.
  bool wait(int timeout_ms);

  std::shared_ptr<Topology> topology_;
  std::uint16_t partitions_;
  std::string own_;
  std::function<void()> wake_;
  int stop_fd_ = -1;
  std::atomic<bool> stop_ = false;
  std::vector<Connection> connections_;
  std::thread thread_;
};

}  // namespace ff::store::redis
