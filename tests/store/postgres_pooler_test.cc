// A pooler in transaction mode between us and the server: it takes LISTEN, and no notification ever arrives.

#include "store/postgres_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace ff::test {
namespace {

using ::testing::HasSubstr;

/// Passes on what it gets, except that it asks the server for something else than LISTEN.
class DeafPooler {
 public:
  explicit DeafPooler(int server_port) : server_port_(server_port) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), length);
    listen(listener_, 64);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] {
      for (int client; (client = accept(listener_, nullptr, nullptr)) >= 0;)
        pumps_.emplace_back([this, client] { pump(client); });
    });
  }
  ~DeafPooler() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (auto& pump : pumps_) pump.join();
    close(listener_);
  }
  int port() const { return port_; }

 private:
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }
  static bool pass_on(int from, int to, bool alter) {
    char buffer[16'384];
    const ssize_t size = read(from, buffer, sizeof buffer);
    if (size <= 0) return false;
    std::string bytes(buffer, static_cast<std::size_t>(size));
    if (const std::size_t at = bytes.find("LISTEN ff_wake"); alter && at != std::string::npos)
      bytes.replace(at, 6, "NOTIFY");
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t sent = write(to, bytes.data() + done, bytes.size() - done);
      if (sent <= 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    return true;
  }
  void pump(int client) const {
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(server_port_);
    bool open = connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    while (open) {
      pollfd both[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
      if (poll(both, 2, -1) < 0) break;
      if (both[0].revents != 0) open = pass_on(client, server, true);
      if (open && both[1].revents != 0) open = pass_on(server, client, false);
    }
    close(server);
    close(client);
  }

  int server_port_;
  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  std::vector<std::thread> pumps_;
};

class PostgresPooler : public OnPostgres {};

TEST_F(PostgresPooler, that_drops_listen_is_noticed_and_work_of_others_is_found_by_polling) {
  DeafPooler pooler(server.port());
  std::mutex mutex;
  std::string warned;
  store::StoreOptions of_store = options();
  of_store.warn = [&](std::string_view text) {
    std::lock_guard guard(mutex);
    warned += text;
  };
  const std::string url = "postgres://ff@127.0.0.1:" + std::to_string(pooler.port()) + "/postgres?schema=" + schema;
  {
    auto store = store::open_postgres(url, of_store);
    ASSERT_TRUE(store) << store.error().message;
    OpenOptions quiet;
    quiet.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
    auto opened = open_embedded(std::move(*store), quiet);
    ASSERT_TRUE(opened) << opened.error().message;
    auto wake_ups = [&] {
      for (const auto& [name, setting] : opened->engine->store().info().settings)
        if (name == "wake_ups") return setting;
      return std::string();
    };
    EXPECT_TRUE(eventually([&] { return wake_ups().starts_with("polling only"); })) << wake_ups();
    {
      std::lock_guard guard(mutex);
      EXPECT_THAT(warned, HasSubstr("Notifications do not arrive"));
    }

    Opened other = open();
    std::atomic<bool> got = false;
    std::thread waiter([&] {
      ClaimRequest request{.worker_id = "w", .worker_instance_id = "w", .lanes = {"default"}};
      request.wait_ms = 20'000;
      got = !must(opened->fabric.claim(request)).empty();
    });
    must(other.fabric.submit({.execution_kind = "k"}));
    waiter.join();
    EXPECT_TRUE(got);
  }
}

}  // namespace
}  // namespace ff::test
