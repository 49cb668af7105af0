#include "bench/raw.h"
#include "store/sqlite/connection.h"

#include <unistd.h>

#include <filesystem>

namespace ff::bench {
namespace {

using store::sqlite::Connection;
using store::sqlite::OpenMode;
using store::sqlite::Statement;

constexpr std::uint32_t kBusyTimeoutMs = 5'000;

class SqliteQueue final : public RawQueue {
 public:
  SqliteQueue(std::string path, std::uint32_t payload_bytes)
      : path_(std::move(path)), payload_(payload_bytes, 'x') {}
  ~SqliteQueue() override {
    for (Statement* statement : {&insert_, &take_, &finish_}) *statement = Statement();
    connection_.reset();
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix, ignored);
  }

  Result<void> open() {
    auto connection = Connection::open(path_, OpenMode::read_write, true, kBusyTimeoutMs);
    if (!connection) return std::unexpected(connection.error());
    connection_.emplace(std::move(*connection));
    for (const char* sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
                            "CREATE TABLE job (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, payload BLOB)",
                            "CREATE INDEX job_waiting ON job (id) WHERE state = 0"})
      if (auto done = connection_->execute(sql); !done) return done;
    for (auto& [statement, sql] : {
             std::pair{&insert_, "INSERT INTO job (state, payload) VALUES (0, ?1)"},
             std::pair{&take_,
                       "UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT ?1) "
                       "RETURNING id, payload"},
             std::pair{&finish_, "UPDATE job SET state = 2 WHERE id = ?1"},
         }) {
      auto prepared = connection_->prepare(sql);
      if (!prepared) return std::unexpected(prepared.error());
      *statement = std::move(*prepared);
    }
    return {};
  }

  Result<void> cycle(std::uint64_t executions) override {
    for (std::uint64_t done = 0; done < executions; done += kRawBatch)
      if (auto sent = submit(std::min(kRawBatch, executions - done)); !sent) return sent;
    for (std::uint64_t done = 0; done < executions;) {
      auto finished = take_and_finish();
      if (!finished) return std::unexpected(finished.error());
      done += *finished;
    }
    return {};
  }

 private:
  Result<void> submit(std::uint64_t count) {
    if (auto begun = connection_->execute("BEGIN IMMEDIATE"); !begun) return begun;
    for (std::uint64_t i = 0; i < count; ++i)
      if (auto done = insert_.bind_blob(1, payload_).run(); !done) return done;
    return connection_->execute("COMMIT");
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
    if (auto begun = connection_->execute("BEGIN IMMEDIATE"); !begun) return std::unexpected(begun.error());
    for (std::int64_t id : ids_)
      if (auto done = finish_.bind(1, id).run(); !done) return std::unexpected(done.error());
    if (auto done = connection_->execute("COMMIT"); !done) return std::unexpected(done.error());
    return ids_.size();
  }

  const std::string path_;
  const std::string payload_;
  std::optional<Connection> connection_;
  Statement insert_, take_, finish_;
  std::vector<std::int64_t> ids_;
};

}  // namespace

Result<std::unique_ptr<RawQueue>> open_raw_sqlite(const std::string& path, const RawOptions& options) {
  auto queue = std::make_unique<SqliteQueue>(fmt::format("{}-raw-{}", path, getpid()), options.payload_bytes);
  if (auto opened = queue->open(); !opened) return std::unexpected(opened.error());
  return queue;
}

}  // namespace ff::bench
