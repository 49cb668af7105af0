#include "store/sqlite/batch_table.h"

#include "core/errors.h"

#include <sqlite3.h>

namespace ff::store::sqlite {
namespace {

struct Table : sqlite3_vtab {
  const BatchTable* source;
};
struct Cursor : sqlite3_vtab_cursor {
  const BatchTable* source;
  std::size_t row;
};

int connect(sqlite3* db, void* aux, int, const char* const*, sqlite3_vtab** out, char**) {
  const auto* source = static_cast<const BatchTable*>(aux);
  std::string ddl = "CREATE TABLE x(c0";
  for (int i = 1; i < source->columns(); ++i) ddl += fmt::format(", c{}", i);
  if (const int code = sqlite3_declare_vtab(db, (ddl + ")").c_str()); code != SQLITE_OK) return code;
  auto* table = new Table{};
  table->source = source;
  *out = table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedCost = 1;
  info->estimatedRows = 100;
  return SQLITE_OK;
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  auto* cursor = new Cursor{};
  cursor->source = static_cast<Table*>(table)->source;
  *out = cursor;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  static_cast<Cursor*>(cursor)->row = 0;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<Cursor*>(cursor)->row;
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* cursor) {
  const auto* at = static_cast<Cursor*>(cursor);
  return at->row >= at->source->rows();
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int index) {
  const auto* at = static_cast<Cursor*>(cursor);
  at->source->column(at->row, index, to);
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->row);
  return SQLITE_OK;
}

const sqlite3_module& module_table() {
  static const sqlite3_module table = [] {
    sqlite3_module all{};
    all.xConnect = connect;
    all.xDisconnect = disconnect;
    all.xBestIndex = best_index;
    all.xOpen = open;
    all.xClose = close;
    all.xFilter = filter;
    all.xNext = next;
    all.xEof = eof;
    all.xColumn = column;
    all.xRowid = rowid;
    return all;
  }();
  return table;
}

}  // namespace

Result<void> BatchTable::attach(Connection& connection, const char* name, int columns) {
  columns_ = columns;
  if (sqlite3_create_module_v2(connection.raw(), name, &module_table(), this, nullptr) != SQLITE_OK)
    return std::unexpected(error_of(connection.raw()));
  return {};
}

void BatchTable::give(sqlite3_context* to, std::int64_t value) { sqlite3_result_int64(to, value); }
void BatchTable::give_null(sqlite3_context* to) { sqlite3_result_null(to); }
void BatchTable::give_text(sqlite3_context* to, std::string_view text) {
  sqlite3_result_text(to, text.data() ? text.data() : "", static_cast<int>(text.size()), SQLITE_STATIC);
}
void BatchTable::give_blob(sqlite3_context* to, std::string_view bytes) {
  sqlite3_result_blob64(to, bytes.data() ? bytes.data() : "", bytes.size(), SQLITE_STATIC);
}

}  // namespace ff::store::sqlite
