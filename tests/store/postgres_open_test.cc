// What a Postgres store checks before it works.

#include "store/postgres_fixture.h"

#include "store/open_store.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace ff::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A server that lets everybody in and says that it has that version; it refuses every statement.
class FakeServer {
 public:
  explicit FakeServer(std::string version) : version_(std::move(version)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), length);
    listen(listener_, 8);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string url() const { return "postgres://u@127.0.0.1:" + std::to_string(port_) + "/d?sslmode=disable"; }

 private:
  static std::string number(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
  }
  static std::string message(char type, const std::string& body) {
    return type + number(static_cast<std::uint32_t>(body.size() + 4)) + body;
  }
  void serve() {
    for (int client; (client = accept(listener_, nullptr, nullptr)) >= 0; close(client)) {
      char buffer[4096];
      if (read(client, buffer, sizeof buffer) <= 0) continue;
      std::string reply = message('R', number(0));
      reply += message('S', std::string("server_version") + '\0' + version_ + '\0');
      reply += message('Z', "I");
      if (write(client, reply.data(), reply.size()) < 0) continue;
      while (read(client, buffer, sizeof buffer) > 0) {
        // Any script is answered with one row of one column.
        std::string rows =
            message('T', std::string("\0\1", 2) + "x" + '\0' + number(0) + std::string(2, '\0') + number(25) +
                             std::string("\xff\xff", 2) + number(0xffffffff) + std::string(2, '\0'));
        rows += message('D', std::string("\0\1", 2) + number(1) + "t");
        rows += message('C', std::string("SELECT 1") + '\0') + message('Z', "I");
        if (write(client, rows.data(), rows.size()) < 0) break;
      }
    }
  }

  std::string version_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

TEST(OpenPostgres, a_server_that_is_too_old_is_refused_in_one_sentence) {
  FakeServer old("13.9");
  auto refused = store::open_store(old.url(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::store_refused);
  EXPECT_EQ(refused.error().context.text("reason"), "version_unsupported");
  EXPECT_THAT(refused.error().message, HasSubstr("is Postgres 13; version 14 or newer is needed."));
}

TEST(OpenPostgres, a_url_that_cannot_be_read_is_refused_and_its_password_is_not_repeated) {
  for (const char* url : {"postgres://u:secret@h/d?no_such_parameter=1",
                          "postgres://u:secret@h/d?schema=Robert'); DROP", "mysql://u:secret@h/d"}) {
    auto refused = store::open_store(url, {});
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().context.text("reason"), "invalid_url") << url;
    EXPECT_THAT(refused.error().message, Not(HasSubstr("secret"))) << url;
  }
}

class OpenOnPostgres : public OnPostgres {};

TEST_F(OpenOnPostgres, a_user_that_is_not_let_in_is_refused_at_once) {
  auto refused =
      store::open_store("postgres://nobody_here:secret@127.0.0.1:" + std::to_string(server.port()) + "/postgres", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::store_refused);
  EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
}

TEST_F(OpenOnPostgres, settings_that_would_lose_work_are_refused_unless_allowed) {
  auto refused = store::open_store(url(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context.text("reason"), "unsafe_settings");
  EXPECT_EQ(value("SELECT count(*) FROM pg_namespace WHERE nspname = '" + schema + "'"), "0") << "nothing was made";

  store::StoreOptions allowed = options();
  std::string warned;
  allowed.warn = [&](std::string_view text) { warned = text; };
  auto opened = store::open_store(url(), allowed);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->info().durability, Durability::relaxed);
  EXPECT_THAT(warned, HasSubstr("fsync=off"));
}

TEST_F(OpenOnPostgres, the_schema_is_brought_up_to_date_once) {
  const auto first = (*open_store())->info();
  EXPECT_EQ(first.kind, "postgres");
  EXPECT_EQ(first.schema_version_found, 0);
  ASSERT_FALSE(first.schema.empty());
  EXPECT_EQ(first.schema.front().name, "foundation");
  EXPECT_EQ((*open_store())->info().schema_version_found, first.schema.back().version);
}

TEST_F(OpenOnPostgres, many_first_starts_at_once_agree) {
  std::vector<std::thread> threads;
  std::vector<Uuid> ids(6);
  for (auto& id : ids)
    threads.emplace_back([&] { id = open({.sweeps = false}).engine->dataset().data_set_id; });
  for (auto& thread : threads) thread.join();
  for (const auto& id : ids) EXPECT_EQ(id, ids.front());
}

TEST_F(OpenOnPostgres, a_newer_schema_is_refused) {
  ASSERT_TRUE(open_store());
  value("INSERT INTO ff_migration_annotation VALUES (999, 'later', 0, false)");
  auto refused = open_store();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context.text("reason"), "schema_too_new");
}

TEST_F(OpenOnPostgres, foreign_tables_are_left_alone) {
  server.run("CREATE SCHEMA " + schema);
  value("CREATE TABLE orders (id integer PRIMARY KEY); INSERT INTO orders VALUES (1), (2)");
  store::StoreOptions look_only = options();
  look_only.create = false;
  auto refused = store::open_postgres(url(), look_only);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::store_refused);
  EXPECT_EQ(value("SELECT count(*) FROM pg_tables WHERE schemaname = '" + schema + "'"), "1") << "nothing was made";

  open();
  EXPECT_EQ(value("SELECT count(*) FROM orders"), "2");
}

}  // namespace
}  // namespace ff::test
