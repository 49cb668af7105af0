#pragma once

#include "core/records/queue.h"
#include "store/postgres/connection.h"

#include <functional>
#include <mutex>
#include <unordered_map>

namespace ff::store::postgres {

/// A connection for small things that are no part of a batch: new queues, new partitions. Thread-safe.
class Side {
 public:
  explicit Side(Connection connection) : connection_(std::move(connection)) {}

  template <class Use>
  auto with(Use use) -> decltype(use(std::declval<Connection&>())) {
    std::lock_guard guard(mutex_);
    if (auto opened = connection_.open(std::chrono::seconds(2)); !opened) return std::unexpected(opened.error());
    return use(connection_);
  }

 private:
  std::mutex mutex_;
  Connection connection_;
};

/// The queues of a database that this process has met. A new one is committed at once, apart from the batch that needs
/// it: a queue without members harms nobody, and batches never wait for each other because of one. Thread-safe.
class QueueCache {
 public:
  explicit QueueCache(Side& side) : side_(side) {}

  Result<core::QueueRef> get(std::int32_t queue_id);
  /// With `add` it is inserted when it is new.
  Result<std::optional<std::int32_t>> id_of(const core::QueueRef& queue, bool add);

 private:
  core::QueueRef keep(std::int32_t queue_id, core::QueueRef queue);

  Side& side_;
  std::mutex mutex_;
  std::unordered_map<std::int32_t, core::QueueRef> by_id_;
  std::unordered_map<std::string, std::int32_t> by_key_;
};

/// One thread's view of the cache: most records point to the same few queues, found by address.
class Queues {
 public:
  explicit Queues(QueueCache& cache) : cache_(&cache) {}

  Result<core::QueueRef> get(std::int32_t queue_id);
  Result<std::optional<std::int32_t>> id_of(const core::QueueRef& queue, bool add);

 private:
  QueueCache* cache_;
  std::unordered_map<core::QueueRef, std::int32_t> ids_;
  std::unordered_map<std::int32_t, core::QueueRef> refs_;
};

}  // namespace ff::store::postgres
