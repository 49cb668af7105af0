#pragma once

// History stands in partitions that are cut by time and dropped as a whole.

#include "store/postgres/queues.h"

#include <set>

namespace ff::store::postgres {

inline constexpr TimeMs kSlotMs = 6 * 3'600'000LL;
inline constexpr TimeMs kAuditSlotMs = 30 * 86'400'000LL;
/// What is kept longer than this stands in one partition of its own and is trimmed row by row.
inline constexpr TimeMs kFarMs = 7 * 86'400'000LL;
inline constexpr std::int32_t kFarSlot = -1;
/// For this long after its retention a row can still be loaded by the trimmer; then it only waits for its partition to
/// be dropped. The statements know the number too.
inline constexpr TimeMs kRetireGraceMs = 120'000;
/// Partitions up to this size are trimmed row by row, larger ones only as a whole.
inline constexpr std::int64_t kSmallPartitionBytes = 8 * 1024 * 1024;

enum class History : std::uint8_t { executions, events };

/// Where an execution that ended goes.
std::int32_t done_slot(TimeMs retain_until, TimeMs now);
/// Where an event goes; those of operators have negative slots.
std::int32_t event_slot(TimeMs occurred_at, bool of_operator);

/// The partitions that exist, as far as this process knows. Thread-safe.
class Slots {
 public:
  explicit Slots(Side& side) : side_(side) {}

  /// Makes the partition if it is not there yet, in a transaction of its own.
  Result<void> ensure(History of, std::int32_t slot);
  /// Whether it is known to exist; no round trip.
  bool knows(History of, std::int32_t slot);
  /// One of the partitions was not there after all: look again.
  void forget();

 private:
  Side& side_;
  std::mutex mutex_;
  std::set<std::pair<History, std::int32_t>> known_;
};

/// A partition that exists.
struct Partition {
  std::string table;
  std::int32_t slot = 0;
  std::int64_t bytes = 0;
};
Result<std::vector<Partition>> partitions(Connection& connection, History of);

}  // namespace ff::store::postgres
