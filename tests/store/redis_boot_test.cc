// What the store demands of a server before it works on it.

#include "store/redis/library.h"
#include "store/redis/layout.h"
#include "store/redis_load.h"
#include "support/fake_redis.h"
#include "support/redis_server.h"

namespace ff::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<Fabric> try_open(const std::string& url, OpenOptions options = {}) {
  options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  auto opened = ff::open(url, std::move(options));
  if (opened) opened->close();
  return opened;
}

TEST(RedisBoot, old_servers_are_refused) {
  struct Case {
    const char* info;
    const char* named;
  };
  for (const Case& old : {Case{"redis_version:6.2.14", "Redis 6.2.14"}, Case{"redis_version:5.0.3", "Redis 5.0.3"},
                          Case{"redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:7.1.0", "Valkey 7.1.0"}}) {
    FakeRedis server(old.info);
    auto opened = try_open(server.url());
    EXPECT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "version_unsupported"));
    EXPECT_THAT(opened.error().message, HasSubstr(old.named));
    EXPECT_THAT(opened.error().message, HasSubstr("Valkey 7.2 or Redis 7.0"));
  }
}

/// The library as another version of the program would bring it.
std::string library_of_version(int version) {
  std::string text = store::redis::library_text();
  const std::string line = fmt::format("local LIBRARY_VERSION = {}\n", store::redis::kLibraryVersion);
  return text.replace(text.find(line), line.size(), fmt::format("local LIBRARY_VERSION = {}\n", version));
}

TEST(RedisBoot, a_newer_library_is_refused) {
  RedisServer server;
  server.call({"FUNCTION", "LOAD", library_of_version(99)});
  auto opened = try_open(server.url());
  EXPECT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "schema_too_new"));
  EXPECT_THAT(opened.error().message, HasSubstr("version 99"));
}

TEST(RedisBoot, an_older_library_is_replaced) {
  RedisServer server;
  server.call({"FUNCTION", "LOAD", library_of_version(store::redis::kLibraryVersion - 1)});
  EXPECT_THAT(try_open(server.url()), Succeeds());
  EXPECT_EQ(server.call({"FCALL_RO", "ff_version", "0"}).value().number(), store::redis::kLibraryVersion);
}

TEST(RedisBoot, a_newer_layout_is_refused) {
  RedisServer server;
  server.call({"HSET", store::redis::Place(0).layout(), "version", "99"});
  EXPECT_THAT(try_open(server.url()), RefusedWith(ErrorCode::store_refused, "reason", "schema_too_new"));
}

TEST(RedisBoot, a_server_that_drops_records_when_it_is_full_is_refused) {
  RedisServer server({"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"});
  auto opened = try_open(server.url());
  EXPECT_THAT(opened, RefusedWith(ErrorCode::store_refused, "reason", "unsafe_settings"));
  EXPECT_THAT(opened.error().message, HasSubstr("noeviction"));
  OpenOptions options;
  options.allow_unsafe_store = true;
  EXPECT_THAT(try_open(server.url(), options), Succeeds());
}

TEST(RedisBoot, durability_is_read_from_the_settings) {
  auto durability = [](std::vector<std::string> settings) {
    RedisServer server(std::move(settings));
    std::vector<std::string> warnings;
    OpenOptions options;
    options.log = [&](LogLevel, std::string_view message, std::span<const LogField>) {
      warnings.emplace_back(message);
    };
    auto fabric = must(ff::open(server.url(), options));
    const FabricInfo info = must(fabric.info());
    fabric.close();
    EXPECT_EQ(info.store, "redis");
    const bool warned = std::any_of(warnings.begin(), warnings.end(), [](const std::string& text) {
      return text.find("durability") != std::string::npos;
    });
    EXPECT_EQ(warned, info.durability != Durability::full);
    return info.durability;
  };
  EXPECT_EQ(durability({"--appendonly", "yes", "--appendfsync", "always"}), Durability::full);
  EXPECT_EQ(durability({"--appendonly", "yes", "--appendfsync", "everysec"}), Durability::relaxed);
  EXPECT_EQ(durability({"--save", "60 1"}), Durability::relaxed);
  EXPECT_EQ(durability({}), Durability::none);
}

TEST(RedisBoot, a_wrong_password_is_refused_and_never_shown) {
  RedisServer server;
  server.call({"ACL", "SETUSER", "app", "on", ">right", "~ff:*", "&ff:*", "+@all"});
  const std::string host = server.address().to_string();
  auto opened = try_open("redis://app:hunter2@" + host);
  EXPECT_THAT(opened, Refused(ErrorCode::store_refused));
  EXPECT_THAT(opened.error().message, Not(HasSubstr("hunter2")));
  EXPECT_THAT(try_open("redis://app:right@" + host), Succeeds()) << "rights on ff:* are enough";
}

TEST(RedisBoot, nothing_is_made_where_nothing_was_asked_for) {
  RedisServer server;
  OpenOptions options;
  options.create = false;
  EXPECT_THAT(try_open(server.url(), options), RefusedWith(ErrorCode::store_refused, "reason", "unsafe_settings"));
  EXPECT_EQ(server.call({"DBSIZE"}).value().number(), 0);
}

TEST(RedisBoot, keys_of_others_are_left_alone) {
  RedisServer server;
  server.call({"SET", "session:1", "theirs"});
  server.call({"FUNCTION", "LOAD", "#!lua name=theirs\nredis.register_function('theirs', function() return 7 end)"});
  Opened engine = open_url(server.url());
  const auto submitted = must(engine.fabric.submit({.execution_kind = "job"}));
  must(engine.fabric.cancel(submitted.execution_id));
  must(engine.fabric.remove(submitted.execution_id));
  engine.fabric.close();
  EXPECT_EQ(server.text({"GET", "session:1"}), "theirs");
  EXPECT_EQ(server.call({"FCALL", "theirs", "0"}).value().number(), 7);
  const auto keys = server.call({"KEYS", "*"});
  for (std::size_t i = 0; i < keys.value().size(); ++i)
    EXPECT_THAT(std::string(keys[i].text()), ::testing::AnyOf("session:1", ::testing::StartsWith("ff:")));
}

TEST(RedisBoot, an_unreachable_server_is_said_so) {
  auto opened = try_open("valkey://127.0.0.1:1");
  EXPECT_THAT(opened, Refused(ErrorCode::store_unavailable));
  EXPECT_THAT(opened.error().message, HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace ff::test
