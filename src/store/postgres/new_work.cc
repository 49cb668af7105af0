#include "store/postgres/new_work.h"

namespace ff::store::postgres {
namespace {

/// What one execution takes besides its payload and its tags, about.
constexpr std::size_t kItemBytes = sizeof(core::ExecutionRecord) + sizeof(core::ExecutionInfo) + sizeof(Policy) + 512;
constexpr std::size_t kTagBytes = 100;  ///< besides its name and value
constexpr std::size_t kGoneMax = 1'000;

std::size_t own_bytes(const NewWork::Item& item) {
  std::size_t bytes = item.payload ? item.payload->payload->size() : 0;
  if (item.record->tags)
    for (const auto& [name, value] : *item.record->tags) bytes += name.size() + value.size() + kTagBytes;
  return bytes;
}

}  // namespace

void NewWork::put(std::int32_t queue_id, Item item, Clock::time_point now) {
  const std::size_t own = own_bytes(item);
  if (own > kOwnBytesMax) return;
  const ExecutionId id = item.record->id;
  std::lock_guard guard(mutex_);
  for (; !order_.empty(); order_.pop_front()) {
    const auto oldest = items_.find(order_.front().id);
    if (oldest == items_.end()) continue;
    if (order_.front().at + kKept > now) break;
    taken_elsewhere_.insert(oldest->second.queue_id);
    remove(oldest);
  }
  if (const auto old = items_.find(id); old != items_.end()) remove(old);
  if (taken_elsewhere_.contains(queue_id)) return;
  const std::size_t bytes = kItemBytes + own;
  if (bytes_ + bytes > kBytesMax) return;
  // One that nobody takes must not keep the names of all that came after it.
  if (order_.size() > 2 * items_.size() + kGoneMax)
    std::erase_if(order_, [&](const Arrival& arrival) { return !items_.contains(arrival.id); });
  bytes_ += bytes;
  ++counts_[queue_id];
  items_.emplace(id, Kept{std::move(item), queue_id, bytes});
  order_.push_back({id, now});
}

bool NewWork::knows(std::int32_t queue_id, std::size_t count) {
  std::lock_guard guard(mutex_);
  taken_elsewhere_.erase(queue_id);
  const auto known = counts_.find(queue_id);
  return known != counts_.end() && known->second >= count;
}

std::vector<NewWork::Item> NewWork::find(std::span<const Key> keys) {
  std::vector<Item> found(keys.size());
  std::lock_guard guard(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (const auto kept = items_.find(keys[i].id); kept != items_.end() && kept->second.item.xact == keys[i].xact)
      found[i] = kept->second.item;
  return found;
}

void NewWork::erase(std::span<const ExecutionId> ids) {
  std::lock_guard guard(mutex_);
  if (items_.empty()) return;
  for (const auto& id : ids)
    if (const auto kept = items_.find(id); kept != items_.end()) remove(kept);
}

void NewWork::forget(std::int32_t queue_id) {
  std::lock_guard guard(mutex_);
  boost::unordered::erase_if(items_, [&](const auto& entry) {
    if (entry.second.queue_id != queue_id) return false;
    bytes_ -= entry.second.bytes;
    return true;
  });
  counts_.erase(queue_id);
}

void NewWork::remove(Items::iterator kept) {
  bytes_ -= kept->second.bytes;
  if (const auto count = counts_.find(kept->second.queue_id); --count->second == 0) counts_.erase(count);
  items_.erase(kept);
}

}  // namespace ff::store::postgres
