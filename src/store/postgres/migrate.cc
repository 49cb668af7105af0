#include "store/migrations.h"
#include "store/postgres/shared.h"
#include "store/refusal.h"
#include "store/system_clock.h"

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;

/// Others may be migrating: they are waited for this long.
constexpr auto kMigrationMax = 60s;

Result<int> apply(Connection& connection, const StoreOptions& options) {
  const std::string& schema = connection.target().schema;
  auto run = [&](const std::string& script) { return connection.execute(script, kMigrationMax); };
  // The lock has a number of its own; two data sets in one database take turns, which is harmless.
  if (auto locked = run("BEGIN; SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '60s'; "
                        "SET LOCAL enable_seqscan = on; SELECT pg_advisory_xact_lock(4600, 1)");
      !locked)
    return std::unexpected(locked.error());
  if (options.create && schema != "public")
    if (auto made = run(fmt::format("CREATE SCHEMA IF NOT EXISTS {}", schema)); !made)
      return std::unexpected(made.error());
  auto known = run(fmt::format("SELECT to_regclass('{}.ff_migration_annotation') IS NOT NULL", schema));
  if (!known) return std::unexpected(known.error());
  const bool is_new = known->text(0, 0) != "t";
  int have = 0;
  if (is_new) {
    if (auto made = run("CREATE TABLE ff_migration_annotation (version integer PRIMARY KEY, name text NOT NULL, "
                        "applied_at_ms bigint NOT NULL, backward_compatible boolean NOT NULL)");
        !made)
      return std::unexpected(made.error());
  } else {
    auto stored = run("SELECT coalesce(max(version), 0) FROM ff_migration_annotation");
    if (!stored) return std::unexpected(stored.error());
    have = std::stoi(std::string(stored->text(0, 0)));
  }
  const int want = migrations().back().version;
  if (have > want)
    return std::unexpected(
        refusal("schema_too_new", fmt::format("The database has schema version {}, this program knows {}. "
                                              "Use a newer program.",
                                              have, want)));
  if (have < want && have > 0 && !options.auto_migrate)
    return std::unexpected(
        refusal("version_unsupported", fmt::format("The database has schema version {}, this program "
                                                   "needs {}. Run `ff migrate`.",
                                                   have, want)));
  for (const auto& migration : migrations()) {
    if (migration.version <= have) continue;
    if (auto done = run(std::string(migration.sql)); !done) return std::unexpected(done.error());
    if (auto done =
            run(fmt::format("INSERT INTO ff_migration_annotation VALUES ({}, '{}', {}, false)", migration.version,
                            migration.name, options.clock ? options.clock->now_ms() : system_now_ms()));
        !done)
      return std::unexpected(done.error());
  }
  if (auto done = run("COMMIT"); !done) return std::unexpected(done.error());
  return have;
}

}  // namespace

Result<int> migrate(Connection& connection, const StoreOptions& options) {
  auto had = apply(connection, options);
  if (!had && connection.is_open()) (void)connection.execute("ROLLBACK");
  return had;
}

}  // namespace ff::store::postgres
