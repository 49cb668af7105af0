#pragma once

#include "store/redis/layout.h"
#include "store/redis/link.h"

#include <mutex>

namespace ff::store::redis {

/// The partitions that hold anything, so that reads over all of them ask only those. Kept as a set in partition 0 to
/// which a partition is added before its first commit; it never shrinks. Shared by the links of a store; thread-safe.
///
/// A cluster may lose the entry in a failover although the partition's own records survive: from time to time the
/// partitions that are not in the set are looked at themselves.
class Places {
 public:
  void set_count(std::uint16_t partitions);

  /// Those that are known in this process.
  std::vector<Place> known() const;
  /// Those of the whole data set.
  Result<std::vector<Place>> current(Link& link);
  /// Makes sure that these are in the set.
  Result<void> add(Link& link, std::span<const std::uint16_t> partitions);

 private:
  Result<void> look_for_lost(Link& link);

  mutable std::mutex mutex_;
  std::uint16_t count_ = 0;
  std::set<std::uint16_t> known_;
  std::mutex look_mutex_;
  Steady::time_point looked_at_{};
};

}  // namespace ff::store::redis
