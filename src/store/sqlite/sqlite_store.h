#pragma once

#include "store/sqlite/peers.h"
#include "store/sqlite/queues.h"
#include "store/store.h"

#include <atomic>
#include <condition_variable>
#include <thread>

namespace ff::store {

/// Opens `sqlite:<path>`; refusals are `store_refused` with their reason.
Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, const StoreOptions& options);

namespace sqlite {

/// Copies the write-ahead log back into the database on a thread of its own, and keeps it from growing without bound.
class Checkpointer {
 public:
  ~Checkpointer() { stop(); }
  Result<void> start(const std::string& path, std::uint32_t busy_timeout_ms);
  void stop();
  /// Called by the writer after a commit with the length of the log, in pages. True: the writer should finish the
  /// checkpoint itself, between two batches, because the log can only start over when nobody appends to it.
  bool committed(int wal_pages);

 private:
  void loop();

  std::optional<Connection> connection_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  bool stop_ = false;
  std::atomic<int> wal_pages_ = 0;
};

/// What the connections of one store share.
struct SqliteShared {
  std::string path;
  StoreOptions options;
  QueueCache queues;
  Peers peers;
  Checkpointer checkpointer;
  StoreInfo info;

  TimeMs now() const;
  /// How long an opening waits for another process that is making or changing the schema: a minute, when a request
  /// waits for five seconds.
  std::uint32_t boot_wait_ms() const { return options.request_timeout_ms * 12; }
};

Result<std::unique_ptr<Session>> open_session(std::shared_ptr<SqliteShared> shared);
Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<SqliteShared> shared);

/// Opens a connection with the settings that the store relies on. It waits for locks as long as a request may, unless
/// told otherwise.
Result<Connection> open_connection(const SqliteShared& shared, OpenMode mode,
                                   std::optional<std::uint32_t> wait_ms = std::nullopt);

/// Brings the schema up to date under the write lock; returns the version that it had. `schema_too_new` or, without
/// `auto_migrate`, `version_unsupported` when it cannot be.
Result<int> migrate(Connection& connection, bool auto_migrate, TimeMs now);

}  // namespace sqlite
}  // namespace ff::store
