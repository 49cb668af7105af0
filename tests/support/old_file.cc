#include "support/old_file.h"

#include "store/migrations.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <stdexcept>

namespace ff::test {

void execute_on_file(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  std::string fault;
  const bool opened = sqlite3_open(path.c_str(), &db) == SQLITE_OK && sqlite3_busy_timeout(db, 10'000) == SQLITE_OK;
  if (!opened || sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fault = sqlite3_errmsg(db);
  sqlite3_close(db);
  if (!fault.empty()) throw std::runtime_error(path + ": " + fault);
}

void make_old_file(const std::string& path, int version) {
  std::string script =
      "PRAGMA journal_mode = WAL; CREATE TABLE ff_migration_annotation (version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
      "applied_at_ms INTEGER NOT NULL, backward_compatible INTEGER NOT NULL);";
  for (const auto& step : store::sqlite::migrations()) {
    if (step.version > version) continue;
    script.append(step.sql);
    script += fmt::format(";INSERT INTO ff_migration_annotation VALUES ({}, '{}', 5, 0);", step.version, step.name);
  }
  execute_on_file(path, script);
}

}  // namespace ff::test
