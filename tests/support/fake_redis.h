#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace ff::test {

/// Listens on a free loopback port and serves each connection on a thread of its own until it goes.
class LocalListener {
 public:
  explicit LocalListener(std::function<void(int)> serve);
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;

  int port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  std::function<void(int)> serve_;
  int fd_ = -1, port_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> served_;
  std::thread thread_;
};

/// Answers every command with the same text, as INFO would: enough to look like a server of some version.
class FakeRedis {
 public:
  explicit FakeRedis(std::string info);
  std::string url() const { return listener_.url(); }

 private:
  std::string info_;
  LocalListener listener_;
};

/// Stands between a store and its server. When told to, it lets the next commit pass, waits for its reply, and cuts the
/// connection instead of handing the reply on.
class CuttingProxy {
 public:
  explicit CuttingProxy(int server_port);
  std::string url() const { return listener_.url(); }
  void cut_next_commit() { armed_ = true; }
  int cuts() const { return cuts_; }

 private:
  void serve(int client);

  int server_port_;
  std::atomic<bool> armed_ = false;
  std::atomic<int> cuts_ = 0;
  LocalListener listener_;
};

}  // namespace ff::test
