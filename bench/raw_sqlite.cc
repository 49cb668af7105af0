#include "bench/raw.h"
#include "bench/samples.h"
#include "store/sqlite/connection.h"

#include <unistd.h>

#include <filesystem>

namespace ff::bench {
namespace {

using store::sqlite::Connection;
using store::sqlite::OpenMode;
using store::sqlite::Statement;

constexpr std::uint32_t kBusyTimeoutMs = 5'000;

class RawQueue {
 public:
  static Result<RawQueue> open(const std::string& path) {
    auto connection = Connection::open(path, OpenMode::read_write, true, kBusyTimeoutMs);
    if (!connection) return std::unexpected(connection.error());
    for (const char* sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
                            "CREATE TABLE job (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, payload BLOB)",
                            "CREATE INDEX job_waiting ON job (id) WHERE state = 0"})
      if (auto done = connection->execute(sql); !done) return std::unexpected(done.error());
    RawQueue queue(std::move(*connection));
    for (auto& [statement, sql] : {
             std::pair{&queue.insert_, "INSERT INTO job (state, payload) VALUES (0, ?1)"},
             std::pair{&queue.take_,
                       "UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT ?1) "
                       "RETURNING id, payload"},
             std::pair{&queue.finish_, "UPDATE job SET state = 2 WHERE id = ?1"},
         }) {
      auto prepared = queue.connection_.prepare(sql);
      if (!prepared) return std::unexpected(prepared.error());
      *statement = std::move(*prepared);
    }
    return queue;
  }

  Result<void> submit(std::uint64_t count, const std::string& payload) {
    if (auto begun = connection_.execute("BEGIN IMMEDIATE"); !begun) return begun;
    for (std::uint64_t i = 0; i < count; ++i)
      if (auto done = insert_.bind_blob(1, payload).run(); !done) return done;
    return connection_.execute("COMMIT");
  }

  /// Takes up to a batch and then finishes it; how many that were.
  Result<std::uint64_t> take_and_finish() {
    ids_.clear();
    take_.bind(1, static_cast<std::int64_t>(kRawBatch));
    for (;;) {
      auto row = take_.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      ids_.push_back(take_.number(0));
    }
    take_.reset();
    if (auto begun = connection_.execute("BEGIN IMMEDIATE"); !begun) return std::unexpected(begun.error());
    for (std::int64_t id : ids_)
      if (auto done = finish_.bind(1, id).run(); !done) return std::unexpected(done.error());
    if (auto done = connection_.execute("COMMIT"); !done) return std::unexpected(done.error());
    return ids_.size();
  }

 private:
  explicit RawQueue(Connection connection) : connection_(std::move(connection)) {}

  Connection connection_;
  Statement insert_, take_, finish_;
  std::vector<std::int64_t> ids_;
};

Result<double> measure(const std::string& path, const RawOptions& options) {
  auto queue = RawQueue::open(path);
  if (!queue) return std::unexpected(queue.error());
  const std::string payload(options.payload_bytes, 'x');
  const auto start = Clock::now();
  for (std::uint64_t done = 0; done < options.executions; done += kRawBatch)
    if (auto sent = queue->submit(std::min(kRawBatch, options.executions - done), payload); !sent)
      return std::unexpected(sent.error());
  for (std::uint64_t done = 0; done < options.executions;) {
    auto finished = queue->take_and_finish();
    if (!finished) return std::unexpected(finished.error());
    done += *finished;
  }
  return static_cast<double>(options.executions) / seconds_since(start);
}

}  // namespace

Result<double> raw_sqlite(const std::string& path, const RawOptions& options) {
  const std::string raw_path = fmt::format("{}-raw-{}", path, getpid());
  auto measured = measure(raw_path, options);
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(raw_path + suffix, ignored);
  return measured;
}

}  // namespace ff::bench
