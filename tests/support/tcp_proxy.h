#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace ff::test {

/// Stands between a client and a server on this machine, and may do harm to what they say.
class TcpProxy {
 public:
  enum class From : std::uint8_t { client, server };
  enum class Then : std::uint8_t { pass_on, swallow, pass_on_and_cut, cut };
  /// Asked about whatever one of them says on a connection; may alter it. Called from several threads.
  using Hand = std::function<Then(int connection, From from, std::string& bytes)>;

  TcpProxy(int server_port, Hand hand);
  ~TcpProxy();

  int port() const { return port_; }

 private:
  void pump(int number, int client) const;
  bool carry(int number, From from, int source, int target) const;

  int server_port_;
  Hand hand_;
  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  std::vector<std::thread> pumps_;
};

}  // namespace ff::test
