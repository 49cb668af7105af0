#include "store/store_file.h"

#include "store/sqlite/sqlite_store.h"
#include "support/old_file.h"

#include <sqlite3.h>

namespace ff::test {
namespace {

struct Closer {
  void operator()(sqlite3* handle) const { sqlite3_close(handle); }
};

std::unique_ptr<sqlite3, Closer> connect(const std::string& path) {
  sqlite3* handle = nullptr;
  if (sqlite3_open(path.c_str(), &handle) != SQLITE_OK) throw std::runtime_error("the file cannot be opened");
  sqlite3_busy_timeout(handle, 10'000);
  return std::unique_ptr<sqlite3, Closer>(handle);
}

}  // namespace

OpenOptions StoreFile::quiet(OpenOptions options) {
  if (!options.log) options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  return options;
}

Result<Opened> StoreFile::try_open(OpenOptions options) const {
  store::StoreOptions how;
  how.clock = options.clock;
  how.auto_migrate = options.auto_migrate;
  how.create = options.create;
  auto store = store::open_sqlite(path(), how);
  if (!store) return std::unexpected(store.error());
  return open_embedded(std::move(*store), quiet(std::move(options)));
}

void StoreFile::execute(const std::string& sql) const { execute_on_file(path(), sql); }

std::string StoreFile::value(const std::string& sql) const {
  const auto connection = connect(path());
  std::string found;
  auto keep = [](void* to, int, char** columns, char**) {
    *static_cast<std::string*>(to) = columns[0] ? columns[0] : "";
    return 0;
  };
  if (sqlite3_exec(connection.get(), sql.c_str(), keep, &found, nullptr) != SQLITE_OK)
    throw std::runtime_error(sql + ": " + sqlite3_errmsg(connection.get()));
  return found;
}

std::vector<std::string> StoreFile::faults(const Opened& opened) {
  return must(must(opened.engine->store().open_reader())->verify(20));
}

void StoreFile::expect_sound() const {
  const Opened opened = open();
  EXPECT_THAT(faults(opened), IsEmpty());
  opened.fabric.close();
}

ExecutionId StoreFile::submit(const Fabric& fabric, const std::string& payload) {
  return must(fabric.submit({.execution_kind = "job", .payload = payload})).execution_id;
}

ClaimedTask StoreFile::claim(const Fabric& fabric) {
  return must(fabric.claim({.worker_id = "pool", .worker_instance_id = "w1", .lanes = {"default"}})).at(0);
}

}  // namespace ff::test
