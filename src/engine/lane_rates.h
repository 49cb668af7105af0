#pragma once

#include "engine/runtime.h"
#include "store/store.h"

#include <array>
#include <mutex>

namespace ff::engine {

/// How many claims and completions each lane saw in the last minute, in this process.
class LaneRates {
 public:
  struct Rates {
    double claims_per_s = 0, completions_per_s = 0;
  };

  void committed(const std::deque<store::Unit>& units, SteadyUs now);
  Rates of(const std::string& lane_id, SteadyUs now);

 private:
  static constexpr std::int64_t kSeconds = 60;
  struct Second {
    std::int64_t second = -1;
    std::uint64_t claims = 0, completions = 0;
  };
  using Window = std::array<Second, kSeconds>;

  std::mutex mutex_;
  std::unordered_map<std::string, Window> lanes_;
};

}  // namespace ff::engine
