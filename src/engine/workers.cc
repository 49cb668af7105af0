#include "engine/workers.h"

namespace ff::engine {
namespace {

constexpr TimeMs kFreshMs = 1'000;
constexpr std::uint32_t kPerPage = 1'000;
/// Beyond so many, sentences about waiting count no more workers.
constexpr std::size_t kLiveMax = 10'000;
constexpr std::size_t kNotedMax = 100'000;

}  // namespace

Result<LiveWorkers::List> LiveWorkers::get(store::Reader& reader, TimeMs now) {
  std::uint64_t changes = 0;
  {
    std::lock_guard guard(mutex_);
    if (known_ && now - read_at_ < kFreshMs && now >= read_at_) return known_;
    changes = changes_;
  }
  auto live = std::make_shared<std::vector<core::WorkerRecord>>();
  std::string after;
  while (live->size() < kLiveMax) {
    auto page = reader.documents(core::DocumentKind::worker, after, kPerPage);
    if (!page) return std::unexpected(page.error());
    for (const auto& document : *page)
      if (auto worker = core::read_document<core::WorkerRecord>(document); worker && core::is_live(*worker, now))
        live->push_back(std::move(*worker));
    if (page->size() < kPerPage) break;
    after = page->back().id.key;
  }
  std::lock_guard guard(mutex_);
  if (changes != changes_) return live;
  known_ = std::move(live);
  read_at_ = now;
  return known_;
}

void LiveWorkers::forget() {
  std::lock_guard guard(mutex_);
  known_.reset();
  ++changes_;
}

bool NotedClaimers::due(const std::string& namespace_, const std::string& worker_instance_id, std::uint64_t every_ms,
                        TimeMs now) {
  std::lock_guard guard(mutex_);
  if (noted_.size() >= kNotedMax) noted_.clear();
  auto [it, added] = noted_.try_emplace(namespace_ + ' ' + worker_instance_id, now);
  if (!added && now >= it->second && now - it->second < static_cast<TimeMs>(every_ms)) return false;
  it->second = now;
  return true;
}

}  // namespace ff::engine
