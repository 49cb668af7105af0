// What runs beside the writer: the checkpointer.

#include "store/sqlite/sqlite_store.h"

#include <sqlite3.h>

namespace ff::store::sqlite {
namespace {

/// The checkpointer starts when the log has this many pages (4 MiB), and the writer helps from there on (32 MiB).
constexpr int kCheckpointFromPages = 1'000;
constexpr int kWriterHelpsFromPages = 8'000;

}  // namespace

Result<void> Checkpointer::start(const std::string& path, std::uint32_t busy_timeout_ms) {
  auto connection = Connection::open(path, OpenMode::read_write, false, busy_timeout_ms);
  if (!connection) return std::unexpected(connection.error());
  for (const char* setting : {"PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0"})
    if (auto done = connection->execute(setting); !done) return done;
  connection_ = std::move(*connection);
  thread_ = std::thread([this] { loop(); });
  return {};
}

void Checkpointer::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  connection_.reset();
}

bool Checkpointer::committed(int wal_pages) {
  const bool grew = wal_pages >= kCheckpointFromPages && wal_pages_.exchange(wal_pages) < wal_pages;
  if (grew) wake_.notify_one();
  return wal_pages >= kWriterHelpsFromPages;
}

void Checkpointer::loop() {
  std::unique_lock guard(mutex_);
  int done_at = 0;
  while (!stop_) {
    wake_.wait_for(guard, std::chrono::seconds(1));
    const int pages = wal_pages_.load();
    if (stop_ || pages < kCheckpointFromPages || pages == done_at) continue;
    guard.unlock();
    sqlite3_wal_checkpoint_v2(connection_->raw(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    done_at = pages;
    wal_pages_.compare_exchange_strong(done_at, 0);
    done_at = pages;
    guard.lock();
  }
}

}  // namespace ff::store::sqlite
