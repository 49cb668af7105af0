#include "store/sqlite/connection.h"

#include "core/errors.h"

#include <sqlite3.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace ff::store::sqlite {
namespace {

Error map_error(int code, int extended, std::string_view text) {
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::resource_exhausted,
              "Another process held the database's write lock for too long. Try again; if this persists, find the process "
              "that keeps a transaction open.",
              {{"pool", std::string("sqlite_write_lock")}, {"retry_after_ms", std::int64_t{100}}}};
    case SQLITE_CONSTRAINT:
      return {ErrorCode::retry_exhausted, fmt::format("A row changed meanwhile ({}).", text), {}};
    case SQLITE_FULL:
      return {ErrorCode::store_unavailable,
              "The disk is full: nothing was written. Free some space; the engine goes on by itself.",
              {{"reason", std::string("disk_full")}}};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::corruption,
              fmt::format("The database file is damaged or is no database ({}). Restore it from a backup.", text),
              {{"detail", std::string(text)}}};
    default:
      return {ErrorCode::store_unavailable,
              fmt::format("The database cannot be used right now: {} (SQLite {}).", text, extended),
              {{"reason", std::string("sqlite_error")}}};
  }
}

}  // namespace

Error error_of(sqlite3* handle) {
  return map_error(sqlite3_errcode(handle), sqlite3_extended_errcode(handle), sqlite3_errmsg(handle));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_, at, value);
  return *this;
}
Statement& Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text(statement_, at, text.data() ? text.data() : "", static_cast<int>(text.size()), SQLITE_STATIC);
  return *this;
}
Statement& Statement::bind(int at, const Uuid& uuid) {
  sqlite3_bind_blob(statement_, at, uuid.bytes.data(), 16, SQLITE_STATIC);
  return *this;
}
Statement& Statement::bind_blob(int at, std::string_view bytes) {
  sqlite3_bind_blob64(statement_, at, bytes.data() ? bytes.data() : "", bytes.size(), SQLITE_STATIC);
  return *this;
}
Statement& Statement::bind_null(int at) {
  sqlite3_bind_null(statement_, at);
  return *this;
}

Result<bool> Statement::step() {
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: return false;
    default: return std::unexpected(error_of(sqlite3_db_handle(statement_)));
  }
}

Result<void> Statement::run() {
  auto stepped = step();
  reset();
  if (!stepped) return std::unexpected(stepped.error());
  return {};
}

void Statement::reset() { sqlite3_reset(statement_); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_, column); }
std::optional<std::int64_t> Statement::number_if(int column) const {
  return is_null(column) ? std::nullopt : std::optional(number(column));
}
std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return data ? std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
              : std::string_view();
}
std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return data ? std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
              : std::string_view();
}
Uuid Statement::uuid(int column) const {
  Uuid uuid;
  const auto bytes = blob(column);
  if (bytes.size() == 16) std::memcpy(uuid.bytes.data(), bytes.data(), 16);
  return uuid;
}
std::optional<Uuid> Statement::uuid_if(int column) const {
  return is_null(column) ? std::nullopt : std::optional(uuid(column));
}

/// Waits for the write lock in steps of a millisecond, so that a short holder costs a short wait.
struct Connection::Busy {
  std::uint32_t timeout_ms = 0;
  std::chrono::steady_clock::time_point since;

  static int wait(void* self, int tries) {
    auto& busy = *static_cast<Busy*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (tries == 0) busy.since = now;
    if (now - busy.since >= std::chrono::milliseconds(busy.timeout_ms)) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 1;
  }
};

void Connection::Closer::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const std::string& path, OpenMode mode, bool create,
                                    std::uint32_t busy_timeout_ms) {
  Connection connection;
  sqlite3* handle = nullptr;
  int flags = mode == OpenMode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (create && mode == OpenMode::read_write) flags |= SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  connection.handle_.reset(handle);
  if (code != SQLITE_OK) {
    const std::string text = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    return core::fail(ErrorCode::store_unavailable, fmt::format("The database '{}' cannot be opened: {}.", path, text),
                      {{"reason", std::string("cannot_open")}});
  }
  sqlite3_extended_result_codes(handle, 0);
  connection.busy_ = std::make_unique<Busy>();
  connection.busy_->timeout_ms = busy_timeout_ms;
  sqlite3_busy_handler(handle, &Busy::wait, connection.busy_.get());
  return connection;
}

Result<void> Connection::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return std::unexpected(error_of(handle_.get()));
  return {};
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK)
    return std::unexpected(error_of(handle_.get()));
  return Statement(statement);
}

Result<std::string> Connection::value(const std::string& sql) {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  return *row ? std::string(statement->text(0)) : std::string();
}

}  // namespace ff::store::sqlite
