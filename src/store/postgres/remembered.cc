#include "store/postgres/remembered.h"

namespace ff::store::postgres {

void Remembered::put(Item item) {
  const ExecutionId id = item.record->id;
  std::lock_guard guard(mutex_);
  items_.insert_or_assign(id, std::move(item));
  order_.push_back(id);
  while (order_.size() > kRememberedMax) {
    items_.erase(order_.front());
    order_.pop_front();
  }
}

std::optional<Remembered::Item> Remembered::take(const ExecutionId& id) {
  std::lock_guard guard(mutex_);
  const auto found = items_.find(id);
  if (found == items_.end()) return std::nullopt;
  std::optional<Item> item = std::move(found->second);
  items_.erase(found);
  return item;
}

}  // namespace ff::store::postgres
