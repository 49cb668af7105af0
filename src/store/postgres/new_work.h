#pragma once

// Work that this process has submitted a moment ago, and will most likely be asked to hand out next.

#include "core/records/records.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <chrono>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace ff::store::postgres {

/// Waiting executions as they were committed, with all that a claim needs of them: a take of such rows brings their keys
/// instead of everything that stands in them. Each is known with the transaction that wrote its row; a row that any other
/// has written since is not that one any more, so nothing here has to be true. Thread-safe.
class NewWork {
 public:
  using Clock = std::chrono::steady_clock;
  struct Item {
    std::shared_ptr<const core::ExecutionRecord> record;
    std::shared_ptr<const core::ExecutionInfo> info;
    std::shared_ptr<const core::PayloadPart> payload;  ///< null: it has none
    std::uint32_t xact = 0;                            ///< who wrote the row
    std::size_t log_place_count = 0;
  };

  /// What is kept takes so much memory at most; what comes when it is full is not kept.
  static constexpr std::size_t kBytesMax = 32 * 1024 * 1024;
  /// One whose payload and tags are larger is not kept.
  static constexpr std::size_t kOwnBytesMax = 8 * 1024;
  /// What has waited for so long has gone elsewhere, or stands behind much other work; no more of its queue is kept until
  /// somebody here takes from it.
  static constexpr auto kKept = std::chrono::seconds(10);

  void put(std::int32_t queue_id, Item item, Clock::time_point now);
  /// Whether as many of a queue are known as somebody is about to take.
  bool knows(std::int32_t queue_id, std::size_t count);
  /// One by one what is known of these rows; without a record: nothing.
  struct Key {
    ExecutionId id;
    std::uint32_t xact = 0;
  };
  std::vector<Item> find(std::span<const Key> keys);
  void erase(std::span<const ExecutionId> ids);
  /// The work of others stands before what is known of this queue.
  void forget(std::int32_t queue_id);

 private:
  struct Kept {
    Item item;
    std::int32_t queue_id = 0;
    std::size_t bytes = 0;
  };
  struct Arrival {
    ExecutionId id;
    Clock::time_point at;
  };
  using Items = boost::unordered_flat_map<ExecutionId, Kept, std::hash<ExecutionId>>;
  void remove(Items::iterator kept);

  std::mutex mutex_;
  Items items_;
  std::deque<Arrival> order_;  ///< also of some that are gone
  boost::unordered_flat_map<std::int32_t, std::size_t> counts_;
  boost::unordered_flat_set<std::int32_t> taken_elsewhere_;  ///< queues
  std::size_t bytes_ = 0;
};

}  // namespace ff::store::postgres
