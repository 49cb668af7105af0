#pragma once

#include "core/records/queue.h"
#include "store/sqlite/connection.h"

#include <map>
#include <mutex>
#include <unordered_map>

namespace ff::store::sqlite {

/// The queues of a database that this process has met. Shared by all connections of a store; thread-safe.
class QueueCache {
 public:
  core::QueueRef find(std::int64_t queue_id) const;
  std::optional<std::int64_t> find(const core::Queue& queue) const;
  /// Only for queues that are committed.
  core::QueueRef add(std::int64_t queue_id, core::QueueRef queue);

 private:

  mutable std::mutex mutex_;
  std::unordered_map<std::int64_t, core::QueueRef> by_id_;
  std::unordered_map<std::string, std::int64_t> by_key_;
};

/// One connection's view of the queues: reads what the cache lacks, and holds new ones back until they are committed.
class Queues {
 public:
  static Result<Queues> open(Connection& connection, QueueCache& cache);

  Result<core::QueueRef> get(std::int64_t queue_id);
  /// The id of a queue; with `add` it is inserted when it is new, in the transaction that is under way.
  Result<std::optional<std::int64_t>> id_of(const core::QueueRef& queue, bool add);
  /// The queues of a lane, as committed.
  Result<std::vector<std::pair<std::int64_t, core::QueueRef>>> of_lane(const std::string& lane_id);

  void committed();
  void rolled_back();

 private:
  Queues(QueueCache& cache) : cache_(&cache) {}
  core::QueueRef read(const Statement& row);

  QueueCache* cache_;
  Statement by_id_, find_, insert_, of_lane_;
  std::map<core::QueueRef, std::int64_t> fresh_;
  /// Ids by address, because most records point to the same few queues. Holds the queues, so no address is reused.
  std::unordered_map<core::QueueRef, std::int64_t> met_;
};

}  // namespace ff::store::sqlite
