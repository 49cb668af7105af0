#pragma once

#include "core/view.h"
#include "store/store.h"

namespace ff::store {

/// Picks the page of a list of leases from records that come in any order: the first `limit` by expiry and id text.
class LeasePage {
 public:
  explicit LeasePage(const LeaseQuery& query) : query_(query) {}

  void add(const ExecutionRecord& record) {
    if (!record.is_leased() || !record.lease) return;
    const TimeMs expires = record.lease->lease_expires_at_ms;
    if (query_.expired_before_ms && expires > *query_.expired_before_ms) return;
    if (query_.worker && record.lease->current_worker_instance_id != *query_.worker) return;
    if (query_.namespace_ && record.namespace_() != *query_.namespace_) return;
    std::pair key(expires, record.id.to_string());
    if (query_.after && key <= *query_.after) return;
    found_.emplace(std::move(key), core::lease_item(record));
    if (found_.size() > query_.limit) found_.erase(std::prev(found_.end()));
  }

  std::vector<LeaseItem> items() {
    std::vector<LeaseItem> items;
    for (auto& [key, item] : found_) items.push_back(std::move(item));
    return items;
  }

 private:
  const LeaseQuery& query_;
  std::map<std::pair<TimeMs, std::string>, LeaseItem> found_;
};

}  // namespace ff::store
