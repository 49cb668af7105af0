#include "store/sqlite/sqlite_store.h"

#include "core/errors.h"
#include "store/migrations.h"
#include "store/refusal.h"
#include "store/sqlite/statements.h"
#include "store/system_clock.h"

#include <sqlite3.h>

#include <sys/vfs.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace ff::store::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kQuickCheckBytesMax = 1ULL << 30;

/// WAL needs shared memory between the processes that use the file, which network file systems do not give.
bool on_network(const fs::path& folder) {
  struct statfs info {};
  if (statfs(folder.c_str(), &info) != 0) return false;
  switch (static_cast<unsigned long>(info.f_type)) {
    case 0x6969:      // NFS
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB2
    case 0x517b:      // SMB
    case 0x5346414f:  // AFS
    case 0x00c36400:  // Ceph
      return true;
    default: return false;
  }
}

/// The data set that was made before, if there is one.
Result<std::optional<core::Dataset>> read_dataset(Connection& connection) {
  auto select = connection.prepare(
      "SELECT data_set_id, handle_key, num_flow_partitions, num_budget_partitions, num_quota_partitions, lane_spread, "
      "event_shards, created_at_ms, engine_version FROM ff_dataset");
  if (!select) return std::unexpected(select.error());
  auto row = select->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  core::Dataset found;
  found.data_set_id = select->uuid(0);
  const auto stored_key = select->blob(1);
  if (stored_key.size() != found.handle_key.size())
    return std::unexpected(core::corruption("ff_dataset", "handle_key", "wrong length"));
  std::copy(stored_key.begin(), stored_key.end(), found.handle_key.begin());
  found.partitioning.num_flow_partitions = static_cast<std::uint16_t>(select->number(2));
  found.partitioning.num_budget_partitions = static_cast<std::uint16_t>(select->number(3));
  found.partitioning.num_quota_partitions = static_cast<std::uint16_t>(select->number(4));
  found.partitioning.lane_spread = static_cast<std::uint16_t>(select->number(5));
  found.event_shards = static_cast<std::uint16_t>(select->number(6));
  found.created_at_ms = select->number(7);
  found.engine_version = select->text(8);
  return found;
}

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(std::shared_ptr<SqliteShared> shared) : shared_(std::move(shared)) {}
  ~SqliteStore() override {
    watch(nullptr);
    shared_->checkpointer.stop();
  }

  StoreInfo info() override { return shared_->info; }
  StoreTraits traits() const override { return {1, true, true}; }
  Result<core::Dataset> adopt_dataset(const core::Dataset& proposed) override;
  Result<void> set_engine_version(const std::string& version) override;
  Result<std::unique_ptr<Session>> open_session() override { return sqlite::open_session(shared_); }
  Result<std::unique_ptr<Reader>> open_reader() override { return sqlite::open_reader(shared_); }
  void watch(ForeignWatcher* watcher) override;
  void set_watchful(bool watchful) override;

 private:
  void watch_loop(Connection connection, ForeignWatcher* watcher);

  std::shared_ptr<SqliteShared> shared_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  bool watchful_ = false;
  std::thread thread_;
};

/// Reads before it writes: opening a data set that exists needs no lock.
Result<core::Dataset> SqliteStore::adopt_dataset(const core::Dataset& proposed) {
  auto connection = open_connection(*shared_, OpenMode::read_write, shared_->boot_wait_ms());
  if (!connection) return std::unexpected(connection.error());
  auto found = read_dataset(*connection);
  if (!found) return std::unexpected(found.error());
  if (*found) return **found;
  if (auto begun = connection->execute(std::string(sql::kBegin)); !begun) return std::unexpected(begun.error());
  auto insert = connection->prepare(
      "INSERT OR IGNORE INTO ff_dataset (only_row, data_set_id, handle_key, num_flow_partitions, "
      "num_budget_partitions, num_quota_partitions, lane_spread, event_shards, created_at_ms, engine_version) "
      "VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
  if (!insert) return std::unexpected(insert.error());
  const std::string_view key(reinterpret_cast<const char*>(proposed.handle_key.data()), proposed.handle_key.size());
  insert->bind(1, proposed.data_set_id).bind_blob(2, key);
  insert->bind(3, std::int64_t{proposed.partitioning.num_flow_partitions});
  insert->bind(4, std::int64_t{proposed.partitioning.num_budget_partitions});
  insert->bind(5, std::int64_t{proposed.partitioning.num_quota_partitions});
  insert->bind(6, std::int64_t{proposed.partitioning.lane_spread}).bind(7, std::int64_t{proposed.event_shards});
  insert->bind(8, proposed.created_at_ms).bind(9, proposed.engine_version);
  if (auto done = insert->run(); !done) return std::unexpected(done.error());
  if (auto done = connection->execute(std::string(sql::kCommit)); !done) return std::unexpected(done.error());

  found = read_dataset(*connection);
  if (!found) return std::unexpected(found.error());
  return found->value();
}

Result<void> SqliteStore::set_engine_version(const std::string& version) {
  auto connection = open_connection(*shared_, OpenMode::read_write);
  if (!connection) return std::unexpected(connection.error());
  auto update = connection->prepare("UPDATE ff_dataset SET engine_version = ?1");
  if (!update) return std::unexpected(update.error());
  return update->bind(1, version).run();
}

void SqliteStore::watch(ForeignWatcher* watcher) {
  if (thread_.joinable()) {
    {
      std::lock_guard guard(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  if (!watcher) return;
  auto connection = open_connection(*shared_, OpenMode::read_only);
  if (!connection) {
    if (shared_->options.warn) shared_->options.warn("other processes' commits cannot be watched: " + connection.error().message);
    return;
  }
  stop_ = false;
  thread_ = std::thread([this, watcher, c = std::move(*connection)]() mutable { watch_loop(std::move(c), watcher); });
}

void SqliteStore::set_watchful(bool watchful) {
  {
    std::lock_guard guard(mutex_);
    if (watchful_ == watchful) return;
    watchful_ = watchful;
  }
  wake_.notify_all();
}

/// While somebody waits, looks every 20 ms whether the file was changed; only other processes can surprise us, so
/// without any there is nothing to look at.
void SqliteStore::watch_loop(Connection connection, ForeignWatcher* watcher) {
  auto version = connection.prepare("PRAGMA data_version");
  if (!version) return;
  std::int64_t seen = -1;
  bool others_before = false;
  std::unique_lock guard(mutex_);
  while (!stop_) {
    if (!watchful_) {
      wake_.wait(guard, [&] { return stop_ || watchful_; });
      continue;
    }
    guard.unlock();
    // Whoever was here a moment ago may have left something.
    const bool others = shared_->peers.others_present();
    if (others || others_before) {
      if (auto row = version->step(); row && *row) {
        const std::int64_t now = version->number(0);
        if (now != seen) watcher->foreign_commit();
        seen = now;
      }
      version->reset();
    }
    others_before = others;
    guard.lock();
    wake_.wait_for(guard, std::chrono::milliseconds(20), [&] { return stop_; });
  }
}

/// Puts a new file into WAL mode. SQLite starts this with a read lock and refuses at once, without asking the busy
/// handler, when another process is about to do the same: the loser tries again and finds it done.
Result<std::string> enter_wal(const SqliteShared& shared, Connection& connection) {
  using std::chrono::steady_clock;
  const auto give_up_at = steady_clock::now() + std::chrono::milliseconds(shared.boot_wait_ms());
  while (true) {
    auto mode = connection.value("PRAGMA journal_mode = WAL");
    if (mode || mode.error().code != ErrorCode::resource_exhausted || steady_clock::now() >= give_up_at) return mode;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Makes the settings that the store relies on and reads them back.
Result<void> settle_settings(SqliteShared& shared, Connection& connection) {
  auto mode = enter_wal(shared, connection);
  if (!mode) return std::unexpected(mode.error());
  if (*mode != "wal")
    return std::unexpected(refusal("unsafe_settings", fmt::format("'{}' does not accept the WAL journal mode (it says "
                                                                  "'{}'); keep it on a local file system.",
                                                                  shared.path, *mode)));
  auto synchronous = connection.value("PRAGMA synchronous");
  if (!synchronous) return std::unexpected(synchronous.error());
  if (*synchronous != "2")
    return std::unexpected(refusal("unsafe_settings", fmt::format("'{}' does not accept synchronous=FULL.", shared.path)));
  auto page_size = connection.value("PRAGMA page_size");
  shared.info.kind = "sqlite";
  shared.info.version = sqlite3_libversion();
  shared.info.durability = Durability::full;
  shared.info.durability_detail = "journal_mode=WAL, synchronous=FULL: a commit is on disk before it is answered";
  shared.info.settings = {{"path", shared.path},
                          {"journal_mode", *mode},
                          {"synchronous", "FULL"},
                          {"page_size", page_size ? *page_size : std::string("?")}};
  return {};
}

/// Refuses a database that holds no data set, before anything is written to it: it may belong to somebody else.
Result<void> expect_dataset(const SqliteShared& shared) {
  auto connection = open_connection(shared, OpenMode::read_only);
  if (!connection) return std::unexpected(connection.error());
  auto count = connection->value("SELECT count(*) FROM sqlite_master WHERE name = 'ff_dataset'");
  if (count && *count != "0") count = connection->value("SELECT count(*) FROM ff_dataset");
  if (!count) return std::unexpected(count.error());
  if (*count == "0")
    return std::unexpected(refusal("unsafe_settings", fmt::format("'{}' holds no FlowFabric data. Check the path; `ff "
                                                                  "migrate` makes a new data set.",
                                                                  shared.path)));
  return {};
}

/// The steps that the schema went through, for people.
Result<std::vector<SchemaStep>> schema_steps(Connection& connection) {
  auto select = connection.prepare("SELECT version, name, applied_at_ms FROM ff_migration_annotation ORDER BY version");
  if (!select) return std::unexpected(select.error());
  std::vector<SchemaStep> steps;
  while (true) {
    auto row = select->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return steps;
    steps.push_back({static_cast<int>(select->number(0)), std::string(select->text(1)), select->number(2)});
  }
}

/// A log that is left although nobody has the file open: the last user did not close it.
Result<void> check_after_crash(SqliteShared& shared, Connection& connection, bool log_left) {
  std::error_code error;
  const auto bytes = fs::file_size(shared.path, error);
  if (!log_left || error || bytes >= kQuickCheckBytesMax) return {};
  auto verdict = connection.value("PRAGMA quick_check(1)");
  if (!verdict) return std::unexpected(verdict.error());
  if (*verdict != "ok")
    return std::unexpected(refusal("unsafe_settings", fmt::format("'{}' is damaged ({}). Restore it from a backup.",
                                                                  shared.path, *verdict)));
  return {};
}

}  // namespace

TimeMs SqliteShared::now() const { return options.clock ? options.clock->now_ms() : system_now_ms(); }

Result<Connection> open_connection(const SqliteShared& shared, OpenMode mode, std::optional<std::uint32_t> wait_ms) {
  auto connection = Connection::open(shared.path, OpenMode::read_write, mode == OpenMode::read_write && shared.options.create,
                                     wait_ms.value_or(shared.options.request_timeout_ms));
  if (!connection) return connection;
  for (const char* setting : {"PRAGMA synchronous = FULL", "PRAGMA cache_size = -32768", "PRAGMA temp_store = MEMORY",
                              "PRAGMA wal_autocheckpoint = 0", "PRAGMA foreign_keys = OFF"})
    if (auto done = connection->execute(setting); !done) return std::unexpected(done.error());
  if (mode == OpenMode::read_only)
    if (auto done = connection->execute("PRAGMA query_only = ON"); !done) return std::unexpected(done.error());
  return connection;
}

Result<int> migrate(Connection& connection, bool auto_migrate, TimeMs now) {
  constexpr const char* kVersionFound = "SELECT coalesce(max(version), 0) FROM ff_migration_annotation";
  const int want = migrations().back().version;
  // Mostly there is nothing to do, and then no lock is needed. A new file has no such table.
  if (auto current = connection.value(kVersionFound); current && std::stoi(*current) == want) return want;
  if (auto begun = connection.execute(std::string(sql::kBegin)); !begun) return std::unexpected(begun.error());
  auto give_up = [&](Error error) -> Result<int> {
    (void)connection.execute(std::string(sql::kRollback));
    return std::unexpected(std::move(error));
  };
  if (auto done = connection.execute("CREATE TABLE IF NOT EXISTS ff_migration_annotation (version INTEGER PRIMARY KEY, "
                                     "name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL, backward_compatible INTEGER "
                                     "NOT NULL)");
      !done)
    return give_up(done.error());
  auto stored = connection.value(kVersionFound);
  if (!stored) return give_up(stored.error());
  const int have = std::stoi(*stored);
  if (have > want)
    return give_up(refusal("schema_too_new", fmt::format("The database has schema version {}, this program knows {}. Use a "
                                                         "newer program.",
                                                         have, want)));
  if (have < want && have > 0 && !auto_migrate)
    return give_up(refusal("version_unsupported", fmt::format("The database has schema version {}, this program needs {}. "
                                                              "Run `ff migrate`.",
                                                              have, want)));
  for (const auto& migration : migrations()) {
    if (migration.version <= have) continue;
    if (auto done = connection.execute(std::string(migration.sql)); !done) {
      if (done.error().context.text("reason") != "sqlite_error") return give_up(done.error());
      return give_up(refusal("unsafe_settings", fmt::format("The schema cannot be brought to version {}: {} Does the "
                                                            "database belong to another program?",
                                                            migration.version, done.error().message)));
    }
    if (auto done = connection.execute(fmt::format("INSERT INTO ff_migration_annotation VALUES ({}, '{}', {}, 0)",
                                                   migration.version, migration.name, now));
        !done)
      return give_up(done.error());
  }
  if (auto done = connection.execute(std::string(sql::kCommit)); !done) return std::unexpected(done.error());
  return have;
}

}  // namespace ff::store::sqlite

namespace ff::store {

Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, const StoreOptions& options) {
  using namespace sqlite;
  namespace fs = std::filesystem;
  if (path.empty())
    return std::unexpected(refusal("invalid_url", "The store URL names no file. Write sqlite:<path>, for example sqlite:flow.db."));
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return std::unexpected(refusal("unsafe_settings", fmt::format("The folder '{}' does not exist. Create it first.", folder.string())));
  if (on_network(folder))
    return std::unexpected(refusal("unsafe_settings", fmt::format("'{}' is on a network file system, where SQLite's WAL is "
                                                                  "not safe. Use a local disk, or Postgres.",
                                                                  path)));
  if (fs::is_directory(path, error))
    return std::unexpected(refusal("unsafe_settings", fmt::format("'{}' is a folder, not a database file.", path)));
  if (!options.create && !fs::exists(path, error))
    return std::unexpected(refusal("unsafe_settings", fmt::format("There is no database '{}'.", path)));

  // SQLite counts every allocation under a process-wide lock unless told not to; refused, harmlessly, when the program
  // has used SQLite before.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  auto shared = std::make_shared<SqliteShared>();
  shared->path = path;
  shared->options = options;
  auto as_refusal = [&](const Error& cause) {
    if (cause.code == ErrorCode::corruption)
      return refusal("unsafe_settings", fmt::format("'{}' is not a usable SQLite database: {}", path, cause.message));
    return cause;
  };
  std::error_code size_error;
  const auto log_bytes = fs::file_size(path + "-wal", size_error);
  if (!options.create)
    if (auto there = expect_dataset(*shared); !there) return std::unexpected(as_refusal(there.error()));
  if (auto joined = shared->peers.join(path); !joined) return std::unexpected(joined.error());
  const bool log_left = !size_error && log_bytes > 0 && !shared->peers.others_present();

  auto connection = open_connection(*shared, OpenMode::read_write, shared->boot_wait_ms());
  if (!connection) return std::unexpected(as_refusal(connection.error()));
  if (auto done = settle_settings(*shared, *connection); !done) return std::unexpected(as_refusal(done.error()));
  if (auto done = check_after_crash(*shared, *connection, log_left); !done) return std::unexpected(as_refusal(done.error()));
  auto found = migrate(*connection, options.auto_migrate, shared->now());
  if (!found) return std::unexpected(as_refusal(found.error()));
  auto steps = schema_steps(*connection);
  if (!steps) return std::unexpected(as_refusal(steps.error()));
  shared->info.schema_version_found = *found;
  shared->info.schema = std::move(*steps);
  if (auto done = shared->checkpointer.start(path, options.request_timeout_ms); !done)
    return std::unexpected(done.error());
  return std::make_unique<SqliteStore>(std::move(shared));
}

}  // namespace ff::store
