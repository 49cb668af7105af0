#include "support/store_under_test.h"

#include "api/embedded.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

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
  return Opened{Fabric(std::make_shared<api::EmbeddedBackend>(std::move(runtime), std::move(*engine))), served_by};
}

}  // namespace ff::test
