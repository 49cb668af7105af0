#pragma once

// A server in this process, on a real socket, over an engine in this process.

#include "server/server.h"
#include "server/transport/transport.h"
#include "support/store_under_test.h"

namespace ff::test {

struct ServedOptions {
  server::ServerOptions server = {};
  server::TransportOptions transport = {};  ///< unless it says otherwise: a free port of 127.0.0.1
};

/// Serves from its making until `close`.
class Served final : public Behind {
 public:
  /// What `close` closes.
  enum class Ends { server_only, engine_too };
  explicit Served(Fabric engine, ServedOptions options = {}, Ends ends = Ends::engine_too);
  ~Served() override;

  /// As a process that dies: connections are cut, and the engine may be closed.
  void close() override;
  /// Where it is; stays the same when it is opened again there.
  const std::string& url() const { return url_; }
  const Fabric& engine() const { return engine_; }
  server::Transport& transport() { return *transport_; }

 private:
  Fabric engine_;
  Ends ends_;
  std::string url_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<server::Transport> transport_;
};

/// Stores behind a server, used through the client. They take part in the cases of the conformance suite that a caller
/// of the API can express.
const std::vector<StoreUnderTest>& servers_under_test();

}  // namespace ff::test
