#pragma once

// A server in this process and clients of it; servers that misbehave.

#include "client/open_remote.h"
#include "support/served.h"
#include "support/world.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace ff::test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// An engine on the memory store, a server over it, and a client. `fabric` is the engine's own.
class ClientTest : public ::testing::Test, public World {
 protected:
  ClientTest() : World(store_under_test("memory_serial")) { serve(); }
  ~ClientTest() override { remote.close(); }

  /// Serves the engine with these, at `url`, and opens `remote`.
  void serve(ServedOptions options = {}, client::ClientOptions client = {});
  Result<Fabric> open_client(client::ClientOptions options = {}, const std::string& at = "") const;
  Submission plain() const { return {.execution_kind = "job"}; }
  bool claims_wait(std::size_t count) {
    return eventually([&] { return engine().stats().claim_waiters == count; });
  }

  std::unique_ptr<Served> served;
  std::string url;
  Fabric remote;
};

/// Listens at a port of its own and does with each connection what it is told; for what no server of ours does.
class FakeServer {
 public:
  /// `serve` gets a connection's file descriptor and its number, counted from 1; the connection is closed afterwards.
  explicit FakeServer(std::function<void(int fd, int number)> serve);
  ~FakeServer();

  std::string url() const;
  int connections() const { return connections_; }
  /// Reads one whole request; empty when the other side has closed.
  static std::string read_request(int fd);
  static void write(int fd, std::string_view bytes);
  static std::string answer(int status, const std::string& body, const std::string& more_headers = "");

 private:
  std::function<void(int, int)> serve_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

/// Between a client and a server: passes bytes on, and cuts connections when told to.
class Relay {
 public:
  explicit Relay(const std::string& server_url);

  std::string url() const { return fake_.url(); }
  int connections() const { return fake_.connections(); }
  /// The next so many answers are swallowed: the server has done the work, and the connection is cut.
  std::atomic<int> lost_answers = 0;

 private:
  void relay(int fd);

  std::string server_url_;
  FakeServer fake_;
};

}  // namespace ff::test
