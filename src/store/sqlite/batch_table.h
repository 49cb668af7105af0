#pragma once

#include "store/sqlite/connection.h"

#include <string_view>

struct sqlite3_context;

namespace ff::store::sqlite {

/// Rows in memory that a statement reads as if they were a table.
///
/// Problem it solves: a batch writes hundreds of rows of one kind, and binding, starting and resetting a statement for
/// each costs more than the work itself. `INSERT ... SELECT ... FROM <batch table>` does them all in one go.
class BatchTable {
 public:
  virtual ~BatchTable() = default;
  virtual std::size_t rows() const = 0;
  /// Hands the value of a column to SQLite, with one of the functions below.
  virtual void column(std::size_t row, int column, sqlite3_context* to) const = 0;

  /// Makes it readable as table `name` with columns c0, c1, ... on that connection, which it must outlive.
  Result<void> attach(Connection& connection, const char* name, int columns);

  static void give(sqlite3_context* to, std::int64_t value);
  /// Texts and blobs are not copied: they must live until the statement is reset.
  static void give_text(sqlite3_context* to, std::string_view text);
  static void give_blob(sqlite3_context* to, std::string_view bytes);
  static void give_null(sqlite3_context* to);
  static void give_if(sqlite3_context* to, const std::optional<std::int64_t>& value) {
    value ? give(to, *value) : give_null(to);
  }
  static void give_unless_zero(sqlite3_context* to, std::int64_t value) { value != 0 ? give(to, value) : give_null(to); }
  static void give_text_or_null(sqlite3_context* to, std::string_view text) {
    text.empty() ? give_null(to) : give_text(to, text);
  }

  int columns() const { return columns_; }

 private:
  int columns_ = 0;
};

}  // namespace ff::store::sqlite
