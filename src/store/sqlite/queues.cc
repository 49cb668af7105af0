#include "store/sqlite/queues.h"

#include "core/errors.h"
#include "store/queue_text.h"
#include "store/sqlite/statements.h"

namespace ff::store::sqlite {
namespace {

constexpr std::size_t kMetMax = 4096;

}  // namespace

core::QueueRef QueueCache::find(std::int64_t queue_id) const {
  std::lock_guard guard(mutex_);
  auto it = by_id_.find(queue_id);
  return it == by_id_.end() ? nullptr : it->second;
}

std::optional<std::int64_t> QueueCache::find(const core::Queue& queue) const {
  std::lock_guard guard(mutex_);
  auto it = by_key_.find(key_of(queue));
  return it == by_key_.end() ? std::nullopt : std::optional(it->second);
}

core::QueueRef QueueCache::add(std::int64_t queue_id, core::QueueRef queue) {
  std::lock_guard guard(mutex_);
  auto [it, added] = by_id_.try_emplace(queue_id, std::move(queue));
  if (added) by_key_.emplace(key_of(*it->second), queue_id);
  return it->second;
}

Result<Queues> Queues::open(Connection& connection, QueueCache& cache) {
  Queues queues(cache);
  for (auto [statement, text] : {std::pair(&queues.by_id_, sql::kQueueById), std::pair(&queues.find_, sql::kQueueFind),
                                 std::pair(&queues.insert_, sql::kQueueInsert),
                                 std::pair(&queues.of_lane_, sql::kQueuesOfLane)}) {
    auto prepared = connection.prepare(text);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return queues;
}

core::QueueRef Queues::read(const Statement& row) {
  return core::make_queue(std::string(row.text(1)), std::string(row.text(2)), std::string(row.text(3)),
                          split(row.text(4)));
}

Result<core::QueueRef> Queues::get(std::int64_t queue_id) {
  if (auto known = cache_->find(queue_id)) return known;
  ResetLater reset(by_id_);
  auto row = by_id_.bind(1, queue_id).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::unexpected(core::corruption("ff_exec_core", "queue_id", std::to_string(queue_id)));
  return cache_->add(queue_id, read(by_id_));
}

Result<std::optional<std::int64_t>> Queues::id_of(const core::QueueRef& queue, bool add) {
  if (auto met = met_.find(queue); met != met_.end()) return met->second;
  if (auto fresh = fresh_.find(queue); fresh != fresh_.end()) return fresh->second;
  if (auto known = cache_->find(*queue)) {
    if (met_.size() >= kMetMax) met_.clear();
    met_.emplace(queue, *known);
    return known;
  }
  for (const auto& [other, id] : fresh_)
    if (*other == *queue) return id;
  const std::string required = joined(queue->required_capabilities);
  {
    ResetLater reset(find_);
    auto row =
        find_.bind(1, queue->lane_id).bind(2, queue->namespace_).bind(3, queue->execution_kind).bind(4, required).step();
    if (!row) return std::unexpected(row.error());
    if (*row) {
      // Visible to this connection, but perhaps added by its own open transaction: not yet for the cache.
      const std::int64_t id = find_.number(0);
      fresh_.emplace(queue, id);
      return id;
    }
  }
  if (!add) return std::nullopt;
  ResetLater reset(insert_);
  auto row = insert_.bind(1, queue->lane_id)
                 .bind(2, queue->namespace_)
                 .bind(3, queue->execution_kind)
                 .bind(4, required)
                 .bind(5, queue->queue_class)
                 .step();
  if (!row) return std::unexpected(row.error());
  const std::int64_t id = insert_.number(0);
  fresh_.emplace(queue, id);
  return id;
}

Result<std::vector<std::pair<std::int64_t, core::QueueRef>>> Queues::of_lane(const std::string& lane_id) {
  std::vector<std::pair<std::int64_t, core::QueueRef>> found;
  ResetLater reset(of_lane_);
  of_lane_.bind(1, lane_id);
  while (true) {
    auto row = of_lane_.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return found;
    const std::int64_t id = of_lane_.number(0);
    core::QueueRef queue = cache_->find(id);
    found.emplace_back(id, queue ? queue : cache_->add(id, read(of_lane_)));
  }
}

void Queues::rolled_back() {
  fresh_.clear();
  met_.clear();
}

void Queues::committed() {
  for (const auto& [queue, id] : fresh_) cache_->add(id, queue);
  fresh_.clear();
}

}  // namespace ff::store::sqlite
