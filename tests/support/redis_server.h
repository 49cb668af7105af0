#pragma once

// Real servers for tests, on free loopback ports in temporary folders. They die with the test program.

#include "store/redis/connection.h"
#include "support/temp_folder.h"

#include <sys/types.h>

namespace ff::test {

/// One redis-server.
class RedisServer {
 public:
  /// `settings` are further words of its command line.
  explicit RedisServer(std::vector<std::string> settings = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;

  const store::redis::Address& address() const { return address_; }
  std::string url(int database = 0) const;
  pid_t pid() const { return pid_; }

  /// Ends it at once, like a crash; its files stay.
  void kill();
  /// Starts it again on the same port and files, and waits until it answers.
  void start();

  /// One command; throws when the server refuses it.
  store::redis::Reply call(const std::vector<std::string>& words) const;
  /// The text of its reply.
  std::string text(const std::vector<std::string>& words) const;

 private:
  std::vector<std::string> settings_;
  store::redis::Address address_;
  TempFolder folder_;
  pid_t pid_ = -1;
};

/// Three primaries that share the slots, each with a replica if wanted.
class RedisCluster {
 public:
  explicit RedisCluster(bool replicas = false, const std::vector<std::string>& settings = {});

  std::string url() const { return nodes_.front()->url(); }
  RedisServer& node(std::size_t at) { return *nodes_[at]; }
  std::size_t size() const { return nodes_.size(); }
  std::string id(std::size_t at) const;
  /// The primary that holds a slot, as the cluster says.
  std::size_t owner(std::uint16_t slot) const;
  void flush() const;
  /// Moves a slot with its keys, as an operator would; `midway` is called when half of it has gone.
  void move_slot(std::uint16_t slot, std::size_t from, std::size_t to, const std::function<void()>& midway);

 private:
  std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}  // namespace ff::test
