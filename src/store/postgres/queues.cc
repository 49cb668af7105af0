#include "store/postgres/queues.h"

#include "core/errors.h"
#include "store/postgres/statements.h"
#include "store/queue_text.h"

namespace ff::store::postgres {
namespace {

constexpr std::size_t kMetMax = 4096;

}  // namespace

core::QueueRef QueueCache::keep(std::int32_t queue_id, core::QueueRef queue) {
  std::lock_guard guard(mutex_);
  auto [it, added] = by_id_.try_emplace(queue_id, std::move(queue));
  if (added) by_key_.emplace(key_of(*it->second), queue_id);
  return it->second;
}

Result<core::QueueRef> QueueCache::get(std::int32_t queue_id) {
  {
    std::lock_guard guard(mutex_);
    if (auto known = by_id_.find(queue_id); known != by_id_.end()) return known->second;
  }
  auto rows = side_.with([&](Connection& c) { return c.query(sql::kQueueById, Params().number4(queue_id)); });
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::unexpected(core::corruption("ff_exec_core", "queue_id", std::to_string(queue_id)));
  return keep(queue_id, core::make_queue(std::string(rows->text(0, 1)), std::string(rows->text(0, 2)),
                                         std::string(rows->text(0, 3)), split(rows->text(0, 4))));
}

Result<std::optional<std::int32_t>> QueueCache::id_of(const core::QueueRef& queue, bool add) {
  {
    std::lock_guard guard(mutex_);
    if (auto known = by_key_.find(key_of(*queue)); known != by_key_.end()) return known->second;
  }
  const std::string required = joined(queue->required_capabilities);
  auto names = [&] {
    return Params().bytes(queue->lane_id).bytes(queue->namespace_).bytes(queue->execution_kind).bytes(required);
  };
  auto rows = side_.with([&](Connection& c) -> Result<Rows> {
    if (add)
      if (auto done = c.query(sql::kQueueInsert, names().bytes(queue->queue_class)); !done) return done;
    return c.query(sql::kQueueFind, names());
  });
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  const auto id = static_cast<std::int32_t>(rows->number(0, 0));
  keep(id, queue);
  return id;
}

Result<core::QueueRef> Queues::get(std::int32_t queue_id) {
  if (auto met = refs_.find(queue_id); met != refs_.end()) return met->second;
  auto found = cache_->get(queue_id);
  if (found) {
    if (refs_.size() >= kMetMax) refs_.clear();
    refs_.emplace(queue_id, *found);
  }
  return found;
}

Result<std::optional<std::int32_t>> Queues::id_of(const core::QueueRef& queue, bool add) {
  if (auto met = ids_.find(queue); met != ids_.end()) return met->second;
  auto found = cache_->id_of(queue, add);
  if (found && *found) {
    if (ids_.size() >= kMetMax) ids_.clear();
    ids_.emplace(queue, **found);
  }
  return found;
}

}  // namespace ff::store::postgres
