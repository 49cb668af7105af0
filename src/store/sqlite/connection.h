#pragma once

#include <flowfabric/error.h>
#include <flowfabric/ids.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace ff::store::sqlite {

/// A prepared statement. Texts and blobs are bound by reference: they must live until `reset`.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    return *this;
  }
  ~Statement();

  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, std::string_view text);
  Statement& bind(int at, const Uuid& uuid);
  Statement& bind_blob(int at, std::string_view bytes);
  Statement& bind_null(int at);
  template <class T>
  Statement& bind(int at, const std::optional<T>& value) {
    return value ? bind(at, *value) : bind_null(at);
  }
  /// Null when zero.
  Statement& bind_unless_zero(int at, std::int64_t value) { return value == 0 ? bind_null(at) : bind(at, value); }
  /// Null when empty.
  Statement& bind_or_null(int at, std::string_view text) { return text.empty() ? bind_null(at) : bind(at, text); }

  /// True when there is a row. Failures come back as errors of the store.
  Result<bool> step();
  /// Steps a statement that gives no rows, and resets it.
  Result<void> run();
  void reset();

  bool is_null(int column) const;
  std::int64_t number(int column) const;
  std::optional<std::int64_t> number_if(int column) const;
  /// Valid until the next step or reset.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  Uuid uuid(int column) const;
  std::optional<Uuid> uuid_if(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// Resets a statement at the end of a scope, also on an early return.
class ResetLater {
 public:
  explicit ResetLater(Statement& statement) : statement_(statement) {}
  ~ResetLater() { statement_.reset(); }
  ResetLater(const ResetLater&) = delete;

 private:
  Statement& statement_;
};

enum class OpenMode { read_write, read_only };

/// One connection; used by one thread at a time.
class Connection {
 public:
  /// Opens the file. The settings that matter (WAL, synchronous) are made by the store.
  static Result<Connection> open(const std::string& path, OpenMode mode, bool create, std::uint32_t busy_timeout_ms);

  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// One value of one row, as text; empty when there is none.
  Result<std::string> value(const std::string& sql);
  sqlite3* raw() const { return handle_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  struct Busy;
  Connection() = default;

  std::unique_ptr<Busy> busy_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

/// The error that stands for the last failure on this connection.
Error error_of(sqlite3* handle);

}  // namespace ff::store::sqlite
