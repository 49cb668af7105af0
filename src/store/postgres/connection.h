#pragma once

#include "store/postgres/params.h"
#include "store/postgres/url.h"

#include <flowfabric/ids.h>

#include <chrono>
#include <memory>
#include <unordered_set>

struct pg_conn;
struct pg_result;

namespace ff::store::postgres {

/// One statement of the store. Prepared under its name when a connection first uses it.
struct Sql {
  const char* name;
  const char* text;
};

/// What a statement answered, in binary.
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result) : result_(result) {}

  int size() const;
  bool empty() const { return size() == 0; }
  /// Rows that a change touched.
  std::uint64_t touched() const;

  bool is_null(int row, int column) const;
  std::int64_t number(int row, int column) const;
  std::optional<std::int64_t> number_if(int row, int column) const;
  /// Text and bytea alike; valid while these rows live.
  std::string_view text(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

/// How sessions behave; set on each new connection.
struct SessionSettings {
  std::uint32_t request_timeout_ms = 5'000;
  bool durable = true;  ///< false: its commits need not reach the disk before they are answered (notifications)
  std::string application = "flowfabric";
};

/// One connection; used by one thread at a time. Statements are queued and sent together: a flush is one round trip.
///
/// Errors: `retry_exhausted` for a conflict with another transaction, `store_unavailable` when the server is gone or
/// silent (the connection is then closed, and `open` makes a new one), `resource_exhausted` when it is full.
class Connection {
 public:
  Connection(Target target, SessionSettings settings);
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  /// Connects if it is not connected. Gives up after `patience`.
  Result<void> open(std::chrono::milliseconds patience);
  bool is_open() const { return connection_ != nullptr; }
  void close();

  /// Adds a statement to the next flush.
  void queue(const Sql& sql, Params params);
  void queue(const Sql& sql) { queue(sql, Params()); }
  /// The answers so far are to be sent back at once, whatever the statements behind take.
  void queue_push();
  std::size_t queued() const { return queued_.size(); }
  /// Sends what is queued in one go and waits for all answers, in order. The first failure ends the rest.
  Result<std::vector<Rows>> flush();
  /// What a flush that failed had answered before.
  const std::vector<Rows>& answered() const { return answered_; }
  Result<Rows> query(const Sql& sql, Params params = {});
  /// Runs a script, or a statement that cannot be prepared.
  Result<Rows> execute(const std::string& script);
  /// Like `execute`, for what may take long; no time limit but `patience`.
  Result<Rows> execute(const std::string& script, std::chrono::milliseconds patience);

  /// Asks the server to stop what this connection is doing; may be called from another thread.
  void cancel();

  /// Notifications that have arrived: channel payloads. Reads what the socket has, without waiting.
  Result<std::vector<std::string>> notifications();
  int socket() const;

  const Target& target() const { return target_; }
  const SessionSettings& settings() const { return settings_; }
  int server_version() const;
  /// Who answers: of this connection, or of the last one when it is closed.
  struct Peer {
    std::string server_started;  ///< a restart in between shows
    std::string process;         ///< the number that the server's process for this connection has
  };
  const Peer& peer() const { return peer_; }

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  struct Canceller;
  struct Queued {
    const Sql* sql;
    Params params;
    bool push = false;  ///< after it
  };
  using Deadline = std::chrono::steady_clock::time_point;

  Result<void> connect(Deadline deadline);
  Result<void> prepare_session();
  bool wait(bool for_write, Deadline deadline);
  Result<void> push(Deadline deadline);
  /// The next result; null at the end of a statement.
  Result<pg_result*> next(Deadline deadline);
  Error lost(std::string_view when);
  Deadline deadline() const;

  Target target_;
  SessionSettings settings_;
  std::unique_ptr<pg_conn, Finish> connection_;
  std::vector<Queued> queued_;
  std::vector<Rows> answered_;
  std::unordered_set<const char*> prepared_;
  Peer peer_;
  std::shared_ptr<Canceller> canceller_;
};

/// The error that stands for a failed result.
Error error_of(const pg_result* result);
/// Whether the error means that the connection is gone, not that the statement was refused.
bool is_lost(const Error& error);

}  // namespace ff::store::postgres
