#include "store/postgres/postgres_store.h"

#include "core/errors.h"
#include "core/ids.h"
#include "store/postgres/maintenance.h"
#include "store/refusal.h"

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;

constexpr int kVersionMin = 140'000;
constexpr auto kConnectMax = 10s;

constexpr Sql kDatasetInsert{
    "dataset_insert",
    "INSERT INTO ff_dataset (only_row, data_set_id, handle_key, num_flow_partitions, num_budget_partitions, "
    "num_quota_partitions, lane_spread, event_shards, created_at_ms, engine_version) VALUES (true, $1::uuid, "
    "$2::bytea, $3::integer, $4::integer, $5::integer, $6::integer, $7::integer, $8::bigint, $9::text) ON CONFLICT DO "
    "NOTHING"};
constexpr Sql kDataset{
    "dataset",
    "SELECT data_set_id, handle_key, num_flow_partitions, num_budget_partitions, num_quota_partitions, lane_spread, "
    "event_shards, created_at_ms, engine_version FROM ff_dataset"};
constexpr Sql kSetVersion{"set_version", "UPDATE ff_dataset SET engine_version = $1::text"};

class PostgresStore final : public Store {
 public:
  explicit PostgresStore(std::shared_ptr<PostgresShared> shared) : shared_(std::move(shared)), maintenance_(shared_) {
    maintenance_.start();
  }
  ~PostgresStore() override {
    maintenance_.stop();
    shared_->wake_ups.finish();
  }

  StoreInfo info() override {
    StoreInfo info = shared_->info;
    info.settings.emplace_back("wake_ups", shared_->wake_ups.state());
    return info;
  }
  StoreTraits traits() const override { return {2, true, true, true}; }
  Result<core::Dataset> adopt_dataset(const core::Dataset& proposed) override;
  Result<std::unique_ptr<Session>> open_session() override { return postgres::open_session(shared_); }
  Result<std::unique_ptr<Reader>> open_reader() override { return postgres::open_reader(shared_); }
  void watch(ForeignWatcher* watcher) override {
    shared_->wake_ups.stop();
    if (watcher) shared_->wake_ups.start(watcher);
  }
  void set_watchful(bool) override {}
  Result<void> set_engine_version(const std::string& version) override;

 private:
  std::shared_ptr<PostgresShared> shared_;
  Maintenance maintenance_;
};

Result<core::Dataset> PostgresStore::adopt_dataset(const core::Dataset& proposed) {
  const std::string_view key(reinterpret_cast<const char*>(proposed.handle_key.data()), proposed.handle_key.size());
  auto rows = shared_->side.with([&](Connection& c) -> Result<Rows> {
    Params params;
    params.bytes(core::raw_bytes(proposed.data_set_id)).bytes(key);
    params.number4(proposed.partitioning.num_flow_partitions).number4(proposed.partitioning.num_budget_partitions);
    params.number4(proposed.partitioning.num_quota_partitions).number4(proposed.partitioning.lane_spread);
    params.number4(proposed.event_shards).number(proposed.created_at_ms).bytes(proposed.engine_version);
    if (auto done = c.query(kDatasetInsert, params); !done) return done;
    return c.query(kDataset);
  });
  if (!rows) return std::unexpected(rows.error());
  core::Dataset found;
  const std::string_view id = rows->text(0, 0), stored_key = rows->text(0, 1);
  if (id.size() != 16 || stored_key.size() != found.handle_key.size())
    return std::unexpected(core::corruption("ff_dataset", "handle_key", "wrong length"));
  std::copy(id.begin(), id.end(), found.data_set_id.bytes.begin());
  std::copy(stored_key.begin(), stored_key.end(), found.handle_key.begin());
  found.partitioning.num_flow_partitions = static_cast<std::uint16_t>(rows->number(0, 2));
  found.partitioning.num_budget_partitions = static_cast<std::uint16_t>(rows->number(0, 3));
  found.partitioning.num_quota_partitions = static_cast<std::uint16_t>(rows->number(0, 4));
  found.partitioning.lane_spread = static_cast<std::uint16_t>(rows->number(0, 5));
  found.event_shards = static_cast<std::uint16_t>(rows->number(0, 6));
  found.created_at_ms = rows->number(0, 7);
  found.engine_version = rows->text(0, 8);
  shared_->event_shards = found.event_shards;
  return found;
}

Result<void> PostgresStore::set_engine_version(const std::string& version) {
  auto done = shared_->side.with([&](Connection& c) { return c.query(kSetVersion, Params().bytes(version)); });
  if (!done) return std::unexpected(done.error());
  return {};
}

Result<std::string> setting(Connection& connection, const std::string& name) {
  auto rows = connection.execute("SHOW " + name);
  if (!rows) return std::unexpected(rows.error());
  return std::string(rows->text(0, 0));
}

/// Reads the settings on which durability rests. What would lose acknowledged work is refused, unless that is allowed.
Result<void> settle_settings(PostgresShared& shared, Connection& connection) {
  StoreInfo& info = shared.info;
  info.kind = "postgres";
  info.settings = {{"database", shared.target.shown}};
  std::vector<std::string> unsafe;
  std::string detail;
  for (const char* name : {"synchronous_commit", "fsync", "full_page_writes"}) {
    auto value = setting(connection, name);
    if (!value) return std::unexpected(value.error());
    info.settings.emplace_back(name, *value);
    detail += fmt::format("{}{}={}", detail.empty() ? "" : ", ", name, *value);
    if (*value == "off") unsafe.emplace_back(name);
  }
  for (const char* name : {"server_version", "server_encoding", "transaction_read_only"}) {
    auto value = setting(connection, name);
    if (!value) return std::unexpected(value.error());
    info.settings.emplace_back(name, *value);
  }
  info.version = info.settings[4].second;
  if (info.settings[5].second != "UTF8")
    return std::unexpected(
        refusal("unsafe_settings", fmt::format("The database at {} has the encoding {}. Create one with "
                                               "`createdb --encoding=UTF8`.",
                                               shared.target.shown, info.settings[5].second)));
  if (info.settings[6].second == "on")
    return std::unexpected(refusal(
        "unsafe_settings", fmt::format("The server at {} is a read-only standby. Name the primary, or several hosts "
                                       "with ?target_session_attrs=read-write.",
                                       shared.target.shown)));
  info.settings.resize(6);
  if (unsafe.empty()) {
    info.durability = Durability::full;
    info.durability_detail = detail + ": a commit is on disk before it is answered";
    return {};
  }
  info.durability = Durability::relaxed;
  info.durability_detail = detail + ": a crash of the server may lose acknowledged work";
  if (!shared.options.allow_unsafe)
    return std::unexpected(
        refusal("unsafe_settings", fmt::format("The server at {} has {} = off: a crash would lose "
                                               "acknowledged work. Switch it on, or allow an unsafe store.",
                                               shared.target.shown, unsafe.front())));
  if (shared.options.warn) shared.options.warn(info.durability_detail);
  return {};
}

/// Refuses a database that holds no data set, before anything is written to it: it may belong to somebody else.
Result<void> expect_dataset(Connection& connection) {
  const Target& target = connection.target();
  auto there = connection.execute(fmt::format("SELECT to_regclass('{}.ff_dataset') IS NOT NULL", target.schema));
  if (there && there->text(0, 0) == "t") there = connection.execute("SELECT count(*) > 0 FROM ff_dataset");
  if (!there) return std::unexpected(there.error());
  if (there->text(0, 0) == "t") return {};
  return std::unexpected(
      refusal("unsafe_settings", fmt::format("'{}' holds no FlowFabric data. Check the URL; `ff migrate` "
                                             "makes a new data set.",
                                             target.shown)));
}

Result<std::vector<SchemaStep>> schema_steps(Connection& connection) {
  auto rows = connection.execute("SELECT version, name, applied_at_ms FROM ff_migration_annotation ORDER BY version");
  if (!rows) return std::unexpected(rows.error());
  std::vector<SchemaStep> steps;
  for (int row = 0; row < rows->size(); ++row)
    steps.push_back({std::stoi(std::string(rows->text(row, 0))), std::string(rows->text(row, 1)),
                     std::stoll(std::string(rows->text(row, 2)))});
  return steps;
}

}  // namespace
}  // namespace ff::store::postgres

namespace ff::store {

Result<std::unique_ptr<Store>> open_postgres(const std::string& url, const StoreOptions& options) {
  using namespace postgres;
  auto target = parse_url(url);
  if (!target) return std::unexpected(target.error());
  auto shared = std::make_shared<PostgresShared>(std::move(*target), options);
  Connection connection = shared->connection("flowfabric boot");
  if (auto opened = connection.open(kConnectMax); !opened) return std::unexpected(opened.error());
  if (connection.server_version() < kVersionMin)
    return std::unexpected(refusal("version_unsupported",
                                   fmt::format("The server at {} is Postgres {}; version 14 or newer is needed.",
                                               shared->target.shown, connection.server_version() / 10'000)));
  if (auto done = settle_settings(*shared, connection); !done) return std::unexpected(done.error());
  if (!options.create)
    if (auto there = expect_dataset(connection); !there) return std::unexpected(there.error());
  auto found = migrate(connection, options);
  if (!found) {
    if (found.error().context.text("sqlstate") == "42501")
      return std::unexpected(
          refusal("unsafe_settings", fmt::format("The user of the store URL may not create tables at {}: {}",
                                                 shared->target.shown, found.error().message)));
    return std::unexpected(found.error());
  }
  auto steps = schema_steps(connection);
  if (!steps) return std::unexpected(steps.error());
  shared->info.schema_version_found = *found;
  shared->info.schema = std::move(*steps);
  return std::make_unique<PostgresStore>(std::move(shared));
}

}  // namespace ff::store
