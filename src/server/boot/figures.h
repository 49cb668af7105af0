#pragma once

// What `/metrics` tells of the engine and the store.

#include "server/engine_metrics.h"

#include <memory>
#include <mutex>

namespace ff::api {
class EmbeddedBackend;
}

namespace ff::server {

/// Thread-safe. Looks at the store only from time to time, whoever asks how often.
class Figures : public std::enable_shared_from_this<Figures> {
 public:
  Figures(std::shared_ptr<api::EmbeddedBackend> backend, FabricInfo info);

  /// To be told about every second how the engine is; from time to time it samples what has to be read from the store.
  void looked(const Result<FabricInfo>& info);
  void write(MetricsText& text);

 private:
  static constexpr int kLooksPerSample = 15;

  void sample_lanes(std::string cursor, std::vector<LaneStatus> so_far);

  std::shared_ptr<api::EmbeddedBackend> backend_;
  std::mutex mutex_;
  int looks_ = 0;
  FabricInfo info_;
  bool is_store_up_ = true;
  std::vector<LaneStatus> lanes_;
};

}  // namespace ff::server
