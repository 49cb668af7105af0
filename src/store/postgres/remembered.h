#pragma once

// Records that this process has written last, and will most likely be asked about next.

#include "core/records/records.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <deque>
#include <mutex>

namespace ff::store::postgres {

inline constexpr std::size_t kRememberedMax = 10'000;

/// Leased executions as they were committed, with the places of their rows. A batch that decides on one of them saves
/// only if its row still has that version at that place; so nothing here has to be true. Thread-safe.
class Remembered {
 public:
  struct Item {
    std::shared_ptr<const core::ExecutionRecord> record;
    std::string tid;
    std::size_t log_place_count = 0;
  };

  /// Beyond `kRememberedMax` the oldest are forgotten.
  void put(Item item);
  /// Gives it away: whoever uses it changes the row.
  std::optional<Item> take(const ExecutionId& id);

 private:
  std::mutex mutex_;
  boost::unordered_flat_map<ExecutionId, Item, std::hash<ExecutionId>> items_;
  std::deque<ExecutionId> order_;  ///< also of those that were taken
};

}  // namespace ff::store::postgres
