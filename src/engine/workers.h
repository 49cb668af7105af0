#pragma once

// What an engine remembers of workers, so that it need not look at the registry each time.

#include "core/records/worker.h"
#include "store/store.h"

#include <mutex>

namespace ff::engine {

/// The workers that are alive, read at most once a second.
class LiveWorkers {
 public:
  using List = std::shared_ptr<const std::vector<core::WorkerRecord>>;

  /// `now` is the store's clock.
  Result<List> get(store::Reader& reader, TimeMs now);
  /// The registry was changed by this process: the next look is a fresh one.
  void forget();

 private:
  std::mutex mutex_;
  List known_;
  TimeMs read_at_ = 0;
  std::uint64_t changes_ = 0;  ///< a list that was read before the last one is not kept
};

/// Workers whose claims were noted as signs of life a moment ago.
class NotedClaimers {
 public:
  /// True when it is time to note this one again.
  bool due(const std::string& namespace_, const std::string& worker_instance_id, std::uint64_t every_ms, TimeMs now);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, TimeMs> noted_;
};

}  // namespace ff::engine
