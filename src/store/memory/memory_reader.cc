#include "core/state.h"
#include "core/view.h"
#include "store/audit.h"
#include "store/lease_page.h"
#include "store/memory/memory_shared.h"

namespace ff::store {
namespace {

class MemoryReader final : public Reader {
 public:
  MemoryReader(std::shared_ptr<MemoryStore::Shared> shared, StoreOptions options)
      : shared_(std::move(shared)), data_(shared_->data), options_(std::move(options)) {}

  Result<TimeMs> clock() override {
    std::lock_guard guard(data_.mutex);
    return shared_->now(options_, 0);
  }

  Result<std::optional<ExecutionSnapshot>> execution(const ExecutionId& id) override {
    std::lock_guard guard(data_.mutex);
    const auto* row = find(id);
    if (!row) return std::nullopt;
    ExecutionSnapshot snapshot{row->record, row->info, std::nullopt, std::nullopt};
    if (row->result) {
      snapshot.result_bytes = row->result->result->size();
      snapshot.result_content_type = row->result->result_content_type;
    }
    return snapshot;
  }

  Result<std::optional<std::optional<Blob>>> payload(const ExecutionId& id) override {
    std::lock_guard guard(data_.mutex);
    const auto* row = find(id);
    if (!row) return std::nullopt;
    std::optional<Blob> blob;
    if (row->payload) blob = Blob{*row->payload, row->info.payload_content_type};
    return std::optional(std::move(blob));
  }

  Result<std::optional<std::optional<Blob>>> result(const ExecutionId& id) override {
    std::lock_guard guard(data_.mutex);
    const auto* row = find(id);
    if (!row) return std::nullopt;
    std::optional<Blob> blob;
    if (row->result) blob = Blob{*row->result->result, row->result->result_content_type};
    return std::optional(std::move(blob));
  }

  Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId& id, std::optional<std::uint32_t> after,
                                                       std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    const auto* row = find(id);
    if (!row) return std::nullopt;
    std::vector<Attempt> found;
    auto it = data_.attempts.lower_bound({id, after ? *after + 1 : 0});
    for (; it != data_.attempts.end() && it->first.execution_id == id && found.size() < limit; ++it)
      found.push_back(it->second);
    const auto& newest = row->record.attempt;
    if (newest && found.size() < limit && (!after || newest->attempt_index > *after)) found.push_back(*newest);
    return found;
  }

  Result<std::optional<HistoryPage>> history(const ExecutionId& id, std::int64_t after_event_id,
                                             std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    if (!find(id)) return std::nullopt;
    HistoryPage page;
    auto of = data_.events_of.find(id);
    if (of == data_.events_of.end()) return page;
    for (std::int64_t event_id : of->second) {
      if (event_id <= after_event_id) continue;
      auto it = std::lower_bound(data_.events.begin(), data_.events.end(), event_id,
                                 [](const auto& item, std::int64_t wanted) { return item.event_id < wanted; });
      if (it->event.kind == EventKind::lease && it->event.lease_event == LeaseEventType::renewed) continue;
      if (page.events.size() == limit) {
        page.more = true;
        break;
      }
      page.events.push_back(core::to_event(it->event, event_id));
    }
    return page;
  }

  Result<ListResult> list(const ListQuery& query) override {
    std::lock_guard guard(data_.mutex);
    ListResult result;
    std::uint32_t walked = 0;
    auto look_at = [&](const ListPosition& position) {
      if (result.records.size() == query.limit || walked == kListWalkMax) return false;
      ++walked;
      result.next = position;
      const ExecutionRecord& record = data_.executions.at(position.id).record;
      if (query.matches(record)) result.records.push_back(record);
      return true;
    };
    auto visit = [&](const std::pair<TimeMs, ExecutionId>& key) {
      return look_at({.created_at_ms = key.first, .id = key.second});
    };
    const auto& keys = data_.by_created;
    const auto after = query.after ? std::pair(query.after->created_at_ms, query.after->id) : std::pair(TimeMs{0}, ExecutionId{});
    bool more = false;
    if (query.along == ListAlong::raised) {
      auto it = data_.raised.begin();
      if (query.after) it = data_.raised.upper_bound({query.after->priority, query.after->created_at_ms, query.after->id});
      while (it != data_.raised.end() && look_at({it->created_at_ms, it->id, it->priority})) ++it;
      more = it != data_.raised.end();
    } else if (query.along == ListAlong::oldest_first) {
      auto it = query.after ? keys.upper_bound(after) : keys.begin();
      while (it != keys.end() && visit(*it)) ++it;
      more = it != keys.end();
    } else {
      auto it = query.after ? keys.lower_bound(after) : keys.end();
      while (it != keys.begin() && visit(*std::prev(it))) --it;
      more = it != keys.begin();
    }
    if (!more) result.next.reset();
    return result;
  }

  Result<std::vector<LeaseItem>> leases(const LeaseQuery& query) override {
    std::lock_guard guard(data_.mutex);
    LeasePage page(query);
    for (const auto& [id, row] : data_.executions) page.add(row.record);
    return page.items();
  }

  Result<std::optional<Lane>> lane(const std::string& lane_id) override {
    std::lock_guard guard(data_.mutex);
    auto it = data_.lanes.find(lane_id);
    return it == data_.lanes.end() ? std::optional<Lane>() : std::optional(it->second);
  }

  Result<std::vector<Lane>> lanes(const std::string& after, std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    std::vector<Lane> found;
    for (auto it = data_.lanes.upper_bound(after); it != data_.lanes.end() && found.size() < limit; ++it)
      found.push_back(it->second);
    return found;
  }

  Result<LaneCounts> lane_counts(const std::string& lane_id) override {
    std::lock_guard guard(data_.mutex);
    LaneCounts counts;
    Count* const by_bucket[] = {&counts.eligible,       &counts.delayed,     &counts.blocked_dependencies,
                                &counts.blocked_budget, &counts.blocked_quota, &counts.blocked_route,
                                &counts.active,         &counts.reclaimable, &counts.suspended,
                                &counts.terminal};
    for (const auto& [id, row] : data_.executions)
      if (row.record.lane_id() == lane_id) ++by_bucket[static_cast<int>(core::bucket_of(row.record))]->value;
    for (Count* count : by_bucket) count->estimate = count->value > kCountExactMax;
    return counts;
  }

  Result<std::optional<TimeMs>> oldest_candidate(const std::string& lane_id) override {
    std::lock_guard guard(data_.mutex);
    std::optional<TimeMs> oldest;
    for_queues_of(lane_id, [&](const auto&, const std::set<OrderKey>& members) {
      for (const auto& key : members)
        if (!oldest || key.created_at_ms < *oldest) oldest = key.created_at_ms;
    });
    return oldest;
  }

  Result<std::uint64_t> ahead_of(const ExecutionRecord& record) override {
    std::lock_guard guard(data_.mutex);
    auto queue = data_.queues.find(MemoryData::name_of(*record.queue));
    if (queue == data_.queues.end()) return 0;
    const OrderKey own = core::order_key(record);
    std::uint64_t ahead = 0;
    for (const auto& key : queue->second) {
      if (key >= own || ahead == kAheadMax) break;
      ++ahead;
    }
    return ahead;
  }

  Result<std::vector<QueueHead>> queue_heads(const std::string& lane_id, std::uint32_t count_max) override {
    std::lock_guard guard(data_.mutex);
    std::vector<QueueHead> heads;
    for_queues_of(lane_id, [&](const auto&, const std::set<OrderKey>& members) {
      const OrderKey head = *members.begin();
      heads.push_back({data_.executions.at(head.id).record.queue, head, std::min<std::uint64_t>(members.size(), count_max)});
    });
    return heads;
  }

  Result<DueResult> due(const DueQuery& query) override {
    std::lock_guard guard(data_.mutex);
    DueResult result;
    std::uint32_t walked = 0;
    auto it = query.after.empty() ? data_.due.begin() : data_.due.upper_bound(due_position(query.after));
    for (; it != data_.due.end() && it->first <= query.now; ++it) {
      const auto& [at, id] = *it;
      if (result.due.size() == query.limit || ++walked > kListWalkMax) {
        result.next = fmt::format("{} {}", std::prev(it)->first, std::prev(it)->second.to_string());
        break;
      }
      const ExecutionRecord& record = data_.executions.at(id).record;
      if (!core::has_rung(record, query.kind, query.now)) continue;
      if (!query.accept(record)) {
        ++result.filtered;
        continue;
      }
      if (!result.oldest_due_at) result.oldest_due_at = at;
      result.due.push_back(id);
    }
    return result;
  }

  Result<std::optional<TimeMs>> next_due() override {
    std::lock_guard guard(data_.mutex);
    return data_.due.empty() ? std::optional<TimeMs>() : std::optional(data_.due.begin()->first);
  }

  Result<std::vector<ExecutionId>> retired(TimeMs now, std::uint32_t limit,
                                           const std::function<bool(const ExecutionRecord&)>& accept) override {
    std::lock_guard guard(data_.mutex);
    std::vector<ExecutionId> found;
    for (const auto& [at, id] : data_.retention) {
      if (at > now || found.size() == limit) break;
      if (accept(data_.executions.at(id).record)) found.push_back(id);
    }
    return found;
  }

  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs now, std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    std::vector<core::IdempotencyId> found;
    for (const auto& [id, record] : data_.keys) {
      if (found.size() == limit) break;
      if (record.expires_at_ms < now) found.push_back(id);
    }
    return found;
  }

  Result<Walk<core::IdempotencyRecord>> keys(const std::string& after, std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    // The position is a number, good while nothing changes; a walk over what changes would promise nothing anyway.
    std::size_t at = after.empty() ? 0 : std::stoull(after);
    Walk<core::IdempotencyRecord> walk;
    auto it = std::next(data_.keys.begin(), static_cast<std::ptrdiff_t>(std::min(at, data_.keys.size())));
    for (; it != data_.keys.end() && walk.items.size() < limit; ++it, ++at) walk.items.push_back(it->second);
    if (it != data_.keys.end()) walk.next = std::to_string(at);
    return walk;
  }

  Result<Walk<Event>> log(const std::string& after, std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    const std::int64_t behind = after.empty() ? 0 : std::stoll(after);
    Walk<Event> walk;
    auto it = std::upper_bound(data_.events.begin(), data_.events.end(), behind,
                               [](std::int64_t wanted, const auto& item) { return wanted < item.event_id; });
    for (; it != data_.events.end() && walk.items.size() < limit; ++it)
      walk.items.push_back(core::to_event(it->event, it->event_id));
    if (it != data_.events.end()) walk.next = std::to_string(walk.items.back().event_id);
    return walk;
  }

  Result<std::optional<core::Document>> document(const core::DocumentId& id) override {
    std::lock_guard guard(data_.mutex);
    auto it = data_.documents.find(id);
    return it == data_.documents.end() ? std::nullopt : std::optional(it->second);
  }

  Result<std::vector<core::Document>> documents(core::DocumentKind kind, const std::string& after,
                                                std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    std::vector<core::Document> found;
    for (auto it = data_.documents.upper_bound({kind, after});
         it != data_.documents.end() && it->first.kind == kind && found.size() < limit; ++it)
      found.push_back(it->second);
    return found;
  }

  Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind kind, TimeMs now,
                                                      std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    std::set<std::pair<TimeMs, core::DocumentId>> due;
    for (const auto& [id, document] : data_.documents)
      if (id.kind == kind && document.due_at_ms && *document.due_at_ms <= now) due.emplace(*document.due_at_ms, id);
    std::vector<core::DocumentId> found;
    for (auto it = due.begin(); it != due.end() && found.size() < limit; ++it) found.push_back(it->second);
    return found;
  }

  Result<Walk<Event>> audit(const AuditQuery& query) override {
    std::lock_guard guard(data_.mutex);
    const std::int64_t before = query.after.empty() ? std::numeric_limits<std::int64_t>::max() : std::stoll(query.after);
    AuditPage page(query);
    for (auto it = data_.events.rbegin(); it != data_.events.rend(); ++it) {
      if (it->event_id >= before || it->event.kind != EventKind::operator_) continue;
      if (!page.add(core::to_event(it->event, it->event_id), std::to_string(it->event_id))) break;
    }
    return page.take();
  }

  Result<std::vector<std::string>> verify(std::uint32_t limit) override {
    std::lock_guard guard(data_.mutex);
    std::vector<std::string> faults;
    std::size_t queued = 0, clocks = 0, ended = 0, raised = 0, in_queues = 0;
    for (const auto& [id, row] : data_.executions) {
      const ExecutionRecord& record = row.record;
      auto expect = [&](bool good, std::string_view what) {
        if (!good) faults.push_back(fmt::format("{}: {}", id.to_string(), what));
      };
      if (auto bad = core::illegality(record); !bad.empty()) expect(false, bad);
      if (core::is_candidate(record)) {
        ++queued;
        auto queue = data_.queues.find(MemoryData::name_of(*record.queue));
        expect(queue != data_.queues.end() && queue->second.contains(core::order_key(record)), "not in its queue");
      }
      if (auto at = core::due_at(record)) {
        ++clocks;
        expect(data_.due.contains({*at, id}), "not among the clocks");
      }
      if (auto until = record.times.retain_until_ms) {
        ++ended;
        expect(data_.retention.contains({*until, id}), "not among the ended");
      }
      expect(data_.by_created.contains({record.times.created_at_ms, id}), "not in the list");
      raised += record.priority > 0;
      expect((record.priority > 0) == data_.raised.contains(core::order_key(record)), "not in the list by priority");
    }
    for (const auto& [name, members] : data_.queues) in_queues += members.size();
    // Every record has its entries, so more entries than that belong to nobody.
    if (in_queues != queued) faults.push_back("queues: entries without a candidate");
    if (data_.due.size() != clocks) faults.push_back("clocks: entries without a clock");
    if (data_.retention.size() != ended) faults.push_back("ended: entries without an end");
    if (data_.by_created.size() != data_.executions.size()) faults.push_back("list: entries without an execution");
    if (data_.raised.size() != raised) faults.push_back("list by priority: entries without an execution");
    if (faults.size() > limit) faults.resize(limit);
    return faults;
  }

 private:
  /// Reads what `due` wrote: the time and the id of the last row.
  static std::pair<TimeMs, ExecutionId> due_position(const std::string& text) {
    return {std::stoll(text), ExecutionId::parse(std::string_view(text).substr(text.find(' ') + 1)).value()};
  }

  const MemoryData::Row* find(const ExecutionId& id) const {
    auto it = data_.executions.find(id);
    return it == data_.executions.end() ? nullptr : &it->second;
  }
  template <class Visit>
  void for_queues_of(const std::string& lane_id, Visit&& visit) const {
    for (auto it = data_.queues.lower_bound({lane_id, "", ""}); it != data_.queues.end() && it->first.lane_id == lane_id;
         ++it)
      visit(it->first, it->second);
  }

  std::shared_ptr<MemoryStore::Shared> shared_;
  MemoryData& data_;
  StoreOptions options_;
};

}  // namespace

std::unique_ptr<Reader> make_memory_reader(std::shared_ptr<MemoryStore::Shared> shared, StoreOptions options) {
  return std::make_unique<MemoryReader>(std::move(shared), std::move(options));
}

}  // namespace ff::store
