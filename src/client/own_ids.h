#pragma once

#include "core/ids.h"

#include <atomic>
#include <mutex>
#include <random>

namespace ff::client {

/// Makes ids before anything is sent, so that a call whose answer was lost can be repeated. Thread-safe.
class OwnIds {
 public:
  /// Rising, so that what is submitted first is handed out first.
  Uuid next();

 private:
  std::mutex mutex_;
  std::mt19937_64 random_{(std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()};
  TimeMs last_ms_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace ff::client
