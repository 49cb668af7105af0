#include "engine/homes.h"

#include "core/ids.h"

namespace ff::engine {
namespace {

constexpr std::uint64_t mask(std::uint64_t bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

Homes::Homes(std::size_t executors) {
  if (executors > 1 && executors <= mask(kExecutorBits)) places_.reset(new std::atomic<std::uint64_t>[kPlaces]{});
}

void Homes::leased(const ExecutionId& id, std::size_t executor) {
  if (!places_) return;
  const std::uint64_t hash = std::hash<ExecutionId>{}(id);
  places_[(hash >> kExecutorBits) % kPlaces].store((hash & ~mask(kExecutorBits)) | (executor + 1),
                                                   std::memory_order_relaxed);
}

std::optional<std::size_t> Homes::of(const ExecutionId& id) const {
  if (!places_) return std::nullopt;
  const std::uint64_t hash = std::hash<ExecutionId>{}(id);
  const std::uint64_t place = places_[(hash >> kExecutorBits) % kPlaces].load(std::memory_order_relaxed);
  if (place == 0 || ((place ^ hash) & ~mask(kExecutorBits)) != 0) return std::nullopt;
  return (place & mask(kExecutorBits)) - 1;
}

}  // namespace ff::engine
