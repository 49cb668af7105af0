#pragma once

// A server on real sockets of this machine, over an engine on the memory store.

#include "server/http_client.h"
#include "server/server_world.h"
#include "server/transport/transport.h"

namespace ff::test {

class TransportTest : public ServerTest {
 protected:
  TransportTest();
  ~TransportTest() override;

  /// Serves at a port of its own with these; what is not given is what tests need.
  void serve(server::TransportOptions transport = {}, server::ServerOptions options = {});
  std::string url(std::size_t place = 0) const { return transport->addresses().at(place); }
  HttpClient client() const { return HttpClient(url()); }

  static std::string claim_body(const std::string& more = "") {
    return R"({"worker_id":"w","worker_instance_id":"w1","lanes":["default"])" + more + "}";
  }
  /// Waits until so many claims are parked in the engine.
  bool claims_wait(std::size_t count);
  /// Waits until so many connections are open.
  bool connections_are(std::uint32_t count);
  /// What the log has said.
  bool was_logged(const std::string& words);

  std::unique_ptr<server::Transport> transport;
};

}  // namespace ff::test
