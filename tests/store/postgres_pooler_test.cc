// A pooler in transaction mode between us and the server: it takes LISTEN, and no notification ever arrives.

#include "store/postgres_fixture.h"

#include "support/tcp_proxy.h"

#include <thread>

namespace ff::test {
namespace {

using ::testing::HasSubstr;

class PostgresPooler : public OnPostgres {};

TEST_F(PostgresPooler, that_drops_listen_is_noticed_and_work_of_others_is_found_by_polling) {
  TcpProxy pooler(server.port(), [](int, TcpProxy::From, std::string& bytes) {
    if (const std::size_t at = bytes.find("LISTEN ff_wake"); at != std::string::npos) bytes.replace(at, 6, "NOTIFY");
    return TcpProxy::Then::pass_on;
  });
  std::mutex mutex;
  std::string warned;
  store::StoreOptions of_store = options();
  of_store.warn = [&](std::string_view text) {
    std::lock_guard guard(mutex);
    warned += text;
  };
  const std::string url = url_by(pooler.port());
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
