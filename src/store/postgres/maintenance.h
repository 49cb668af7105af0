#pragma once

#include "store/postgres/shared.h"

#include <condition_variable>

namespace ff::store::postgres {

/// What has to be done now and then, on a thread of its own: the partitions of the hours to come are made, those whose
/// time is over are dropped, and the hot table is vacuumed when dead rows pile up faster than autovacuum comes round.
/// Of several processes one does it at a time.
class Maintenance {
 public:
  explicit Maintenance(std::shared_ptr<PostgresShared> shared)
      : shared_(std::move(shared)), connection_(shared_->connection("flowfabric maintenance")) {}
  ~Maintenance() { stop(); }

  void start();
  void stop();

  /// One round, now; for tests and for whoever wants it done at once.
  Result<void> round();

 private:
  void loop();
  Result<void> care();
  Result<void> make_partitions(TimeMs now);
  Result<void> drop_executions(TimeMs now);
  Result<void> drop_events();
  Result<void> drop(const Partition& partition);
  Result<void> remove_tags(const Partition& partition);
  Result<void> vacuum();

  std::shared_ptr<PostgresShared> shared_;
  Connection connection_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  bool stop_ = false;
  std::atomic<bool> running_ = false;
  std::chrono::steady_clock::time_point vacuum_from_{}, partitions_from_{};
  std::chrono::seconds vacuum_pause_{5};
};

}  // namespace ff::store::postgres
