#include "server/boot/figures.h"

#include "api/embedded.h"

namespace ff::server {

Figures::Figures(std::shared_ptr<api::EmbeddedBackend> backend, FabricInfo info)
    : backend_(std::move(backend)), info_(std::move(info)) {}

void Figures::looked(const Result<FabricInfo>& info) {
  {
    std::lock_guard guard(mutex_);
    is_store_up_ = info.has_value();
    if (info) info_ = *info;
    if (!info || looks_++ % kLooksPerSample != 0) return;
  }
  sample_lanes({}, {});
}

void Figures::sample_lanes(std::string cursor, std::vector<LaneStatus> so_far) {
  ListLanes request{std::move(cursor), static_cast<std::uint32_t>(kLanesShown)};
  auto take = [weak = weak_from_this(), so_far = std::move(so_far)](Result<Page<LaneStatus>> page) mutable {
    auto self = weak.lock();
    if (!self || !page) return;
    so_far.insert(so_far.end(), page->items.begin(), page->items.end());
    if (page->next_cursor && so_far.size() < kLanesShown)
      return self->sample_lanes(std::move(*page->next_cursor), std::move(so_far));
    std::lock_guard guard(self->mutex_);
    self->lanes_ = std::move(so_far);
  };
  backend_->start(std::move(request), false, std::move(take));
}

void Figures::write(MetricsText& text) {
  EngineFigures figures;
  {
    std::lock_guard guard(mutex_);
    figures.info = info_;
    figures.is_store_up = is_store_up_;
    figures.lanes = lanes_;
  }
  engine::Engine& engine = backend_->engine();
  figures.counted = engine.metrics();
  figures.queue_depths = engine.queue_depths();
  figures.claim_waiters = engine.claim_waiters();
  figures.sweep_durations = engine.sweep_durations();
  write_engine_metrics(text, figures);
}

}  // namespace ff::server
