#include "support/store_under_test.h"

#include "api/embedded.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/redis/redis_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/matchers.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

#include <stdexcept>

namespace ff::test {
namespace {

store::StoreOptions store_options(const OpenOptions& options) {
  store::StoreOptions made;
  made.clock = options.clock;
  made.auto_migrate = options.auto_migrate;
  made.create = options.create;
  made.warn = [sink = options.log](std::string_view message) { Log(sink).warn(message); };
  return made;
}

class MemoryDataSet final : public DataSet {
 public:
  MemoryDataSet(std::shared_ptr<ManualClock> clock, store::MemoryCharacter character)
      : character_(character), root_({.clock = std::move(clock)}, character) {}

  Result<Opened> open(OpenOptions options, const Wrap& wrap) override {
    return open_embedded(root_.share(), std::move(options), wrap);
  }
  bool keeps_time(std::uint16_t partition) const override {
    return character_ != store::MemoryCharacter::optimistic || partition % 5 == 0;
  }
  TimeMs lag_ms() const override { return character_ == store::MemoryCharacter::optimistic ? 100 : 0; }

 private:
  store::MemoryCharacter character_;
  store::MemoryStore root_;
};

class SqliteDataSet final : public DataSet {
 public:
  Result<Opened> open(OpenOptions options, const Wrap& wrap) override {
    auto store = store::open_sqlite(folder_.file("flow.db"), store_options(options));
    if (!store) return std::unexpected(store.error());
    return open_embedded(std::move(*store), std::move(options), wrap);
  }

 private:
  TempFolder folder_;
};

/// A schema of its own on the server that this program started.
class PostgresDataSet final : public DataSet {
 public:
  PostgresDataSet() : schema_(PostgresServer::shared().new_schema()) {}
  ~PostgresDataSet() override { PostgresServer::shared().drop_schema(schema_); }

  Result<Opened> open(OpenOptions options, const Wrap& wrap) override {
    store::StoreOptions made = store_options(options);
    made.allow_unsafe = true;  // the server does not wait for the disk
    auto store = store::open_postgres(PostgresServer::shared().url(schema_), made);
    if (!store) return std::unexpected(store.error());
    return open_embedded(std::move(*store), std::move(options), wrap);
  }

 private:
  std::string schema_;
};

/// A database of a server, or a whole cluster, used by one data set after the other.
class RedisDataSet final : public DataSet {
 public:
  explicit RedisDataSet(std::string url, std::shared_ptr<RedisCluster> cluster = nullptr)
      : url_(std::move(url)), cluster_(std::move(cluster)) {}

  Result<Opened> open(OpenOptions options, const Wrap& wrap) override {
    auto store = store::open_redis(url_, store_options(options));
    if (!store) return std::unexpected(store.error());
    return open_embedded(std::move(*store), std::move(options), wrap);
  }

  static std::unique_ptr<DataSet> on_server() {
    static RedisServer server;
    static int databases = 0;
    databases = databases % 99 + 1;
    auto connection = must(store::redis::Connection::open(server.address(), {.database = databases}));
    must(connection.call(store::redis::Command(0, "FLUSHDB")));
    return std::make_unique<RedisDataSet>(server.url(databases));
  }
  static std::unique_ptr<DataSet> on_cluster() {
    // A cluster has one database: two data sets at a time need two clusters.
    static std::vector<std::shared_ptr<RedisCluster>> clusters;
    auto idle = std::find_if(clusters.begin(), clusters.end(), [](const auto& cluster) { return cluster.use_count() == 1; });
    if (idle == clusters.end()) idle = clusters.insert(clusters.end(), std::make_shared<RedisCluster>());
    (*idle)->flush();
    return std::make_unique<RedisDataSet>((*idle)->url(), *idle);
  }

 private:
  std::string url_;
  std::shared_ptr<RedisCluster> cluster_;
};

StoreUnderTest memory(std::string name, store::MemoryCharacter character) {
  return {std::move(name), [character](std::shared_ptr<ManualClock> clock) {
            return std::make_unique<MemoryDataSet>(std::move(clock), character);
          }};
}

}  // namespace

const std::vector<StoreUnderTest>& stores_under_test() {
  static const std::vector<StoreUnderTest> stores = {
      memory("memory_serial", store::MemoryCharacter::serial),
      memory("memory_locking", store::MemoryCharacter::locking),
      memory("memory_optimistic", store::MemoryCharacter::optimistic),
      {"sqlite", [](const std::shared_ptr<ManualClock>&) { return std::make_unique<SqliteDataSet>(); }},
      {"postgres", [](const std::shared_ptr<ManualClock>&) { return std::make_unique<PostgresDataSet>(); }},
      {"redis", [](const std::shared_ptr<ManualClock>&) { return RedisDataSet::on_server(); }},
      {"redis_cluster", [](const std::shared_ptr<ManualClock>&) { return RedisDataSet::on_cluster(); }},
  };
  return stores;
}

const StoreUnderTest& store_under_test(std::string_view name) {
  for (const auto& store : stores_under_test())
    if (store.name == name) return store;
  throw std::invalid_argument("no store under test is called " + std::string(name));
}

Result<Opened> open_embedded(std::unique_ptr<store::Store> store, OpenOptions options, const Wrap& wrap) {
  if (wrap) store = wrap(std::move(store));
  auto runtime = engine::make_thread_runtime();
  auto engine = engine::Engine::open(std::move(store), std::move(options), *runtime);
  if (!engine) return std::unexpected(engine.error());
  engine::Engine* served_by = engine->get();
  return Opened{Fabric(api::EmbeddedBackend::make(std::move(runtime), std::move(*engine))), served_by};
}

}  // namespace ff::test
