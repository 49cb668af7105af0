#pragma once

// The least that a queue on a store could do: three statements on one narrow table, in batches of 100. No leases, no
// attempts, no events, no order but that of arrival. It is the ceiling that our own figure is compared with.

#include <flowfabric/error.h>

#include <cstdint>
#include <memory>
#include <string>

namespace ff::bench {

inline constexpr std::uint64_t kRawBatch = 100;

struct RawOptions {
  std::uint32_t payload_bytes = 256;
  std::uint32_t connections = 1;
};

/// A bare queue beside the data set of a store. What it made is removed with it.
class RawQueue {
 public:
  virtual ~RawQueue() = default;
  /// Submits so many, then takes and finishes them all.
  virtual Result<void> cycle(std::uint64_t executions) = 0;
};

/// On the store of that URL; null for stores without such a limit.
Result<std::unique_ptr<RawQueue>> open_raw(const std::string& url, const RawOptions& options);

/// On a file of its own in the same folder, with the same settings.
Result<std::unique_ptr<RawQueue>> open_raw_sqlite(const std::string& path, const RawOptions& options);

/// In a schema of its own in the same database, on that many connections.
Result<std::unique_ptr<RawQueue>> open_raw_postgres(const std::string& url, const RawOptions& options);

/// On keys of its own on the same server: HSET and ZADD, ZPOPMIN and HSET, HSET and ZADD, pipelined.
Result<std::unique_ptr<RawQueue>> open_raw_redis(const std::string& url, const RawOptions& options);

}  // namespace ff::bench
