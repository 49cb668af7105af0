#include "support/faults.h"

#include "core/errors.h"

#include <stdexcept>

namespace ff::test {
namespace {

using namespace store;

bool use_one(std::atomic<int>& left) {
  int now = left.load();
  while (now > 0)
    if (left.compare_exchange_weak(now, now - 1)) return true;
  return now < 0;
}

class FaultySession final : public Session {
 public:
  FaultySession(std::unique_ptr<Session> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  Result<Step> begin() override {
    faults_->wait_while_held();
    return inner_->begin();
  }
  Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) override {
    for (const auto& wanted : reads)
      for (const auto& id : wanted.executions)
        if (faults_->is_broken(id))
          return core::fail(ErrorCode::invariant_violation, "This execution was broken by a test.");
    return inner_->load(units, reads, mode);
  }
  Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) override {
    return inner_->take(plan, units, taken);
  }
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                 const std::string& claim_key) override {
    return inner_->claimed_under(worker_instance_id, claim_key);
  }
  Result<Step> save(std::span<Unit* const> units) override {
    if (use_one(faults_->conflicts)) return core::fail(ErrorCode::retry_exhausted, "A conflict made by a test.");
    ++faults_->saves;
    return inner_->save(units);
  }
  void rollback() override { inner_->rollback(); }
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override {
    return inner_->trim_events(before, audit_before, limit);
  }

 private:
  std::unique_ptr<Session> inner_;
  std::shared_ptr<Faults> faults_;
};

class FaultyReader final : public Reader {
 public:
  FaultyReader(std::unique_ptr<Reader> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  Result<DueResult> due(const DueQuery& query) override {
    if (use_one(faults_->crashes)) throw std::runtime_error("a crash made by a test");
    return inner_->due(query);
  }

  Result<TimeMs> clock() override { return inner_->clock(); }
  Result<std::optional<ExecutionSnapshot>> execution(const ExecutionId& id) override { return inner_->execution(id); }
  Result<std::optional<std::optional<Blob>>> payload(const ExecutionId& id) override { return inner_->payload(id); }
  Result<std::optional<std::optional<Blob>>> result(const ExecutionId& id) override { return inner_->result(id); }
  Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId& id, std::optional<std::uint32_t> after,
                                                       std::uint32_t limit) override {
    return inner_->attempts(id, after, limit);
  }
  Result<std::optional<HistoryPage>> history(const ExecutionId& id, std::int64_t after_event_id,
                                             std::uint32_t limit) override {
    return inner_->history(id, after_event_id, limit);
  }
  Result<ListResult> list(const ListQuery& query) override { return inner_->list(query); }
  Result<std::vector<LeaseItem>> leases(const LeaseQuery& query) override { return inner_->leases(query); }
  Result<std::optional<Lane>> lane(const std::string& lane_id) override { return inner_->lane(lane_id); }
  Result<std::vector<Lane>> lanes(const std::string& after, std::uint32_t limit) override {
    return inner_->lanes(after, limit);
  }
  Result<LaneCounts> lane_counts(const std::string& lane_id) override { return inner_->lane_counts(lane_id); }
  Result<std::optional<TimeMs>> oldest_candidate(const std::string& lane_id) override {
    return inner_->oldest_candidate(lane_id);
  }
  Result<std::uint64_t> ahead_of(const ExecutionRecord& record) override { return inner_->ahead_of(record); }
  Result<std::vector<QueueHead>> queue_heads(const std::string& lane_id, std::uint32_t count_max) override {
    return inner_->queue_heads(lane_id, count_max);
  }
  Result<std::optional<TimeMs>> next_due() override { return inner_->next_due(); }
  Result<std::vector<ExecutionId>> retired(TimeMs now, std::uint32_t limit,
                                           const std::function<bool(const ExecutionRecord&)>& accept) override {
    return inner_->retired(now, limit, accept);
  }
  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs now, std::uint32_t limit) override {
    return inner_->expired_keys(now, limit);
  }
  Result<std::optional<core::Document>> document(const core::DocumentId& id) override { return inner_->document(id); }
  Result<std::vector<core::Document>> documents(core::DocumentKind kind, const std::string& after,
                                                std::uint32_t limit) override {
    return inner_->documents(kind, after, limit);
  }
  Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind kind, TimeMs now,
                                                      std::uint32_t limit) override {
    return inner_->due_documents(kind, now, limit);
  }
  Result<Walk<Event>> audit(const AuditQuery& query) override { return inner_->audit(query); }
  Result<Walk<core::IdempotencyRecord>> keys(const std::string& after, std::uint32_t limit) override {
    return inner_->keys(after, limit);
  }
  Result<Walk<Event>> log(const std::string& after, std::uint32_t limit) override { return inner_->log(after, limit); }
  Result<std::vector<std::string>> verify(std::uint32_t limit) override { return inner_->verify(limit); }

 private:
  std::unique_ptr<Reader> inner_;
  std::shared_ptr<Faults> faults_;
};

class FaultyStore final : public Store {
 public:
  FaultyStore(std::unique_ptr<Store> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  StoreInfo info() override { return inner_->info(); }
  StoreTraits traits() const override { return inner_->traits(); }
  Result<core::Dataset> adopt_dataset(const core::Dataset& proposed) override { return inner_->adopt_dataset(proposed); }
  Result<void> set_engine_version(const std::string& version) override { return inner_->set_engine_version(version); }
  Result<std::unique_ptr<Session>> open_session() override {
    auto session = inner_->open_session();
    if (!session) return session;
    return std::make_unique<FaultySession>(std::move(*session), faults_);
  }
  Result<std::unique_ptr<Reader>> open_reader() override {
    auto reader = inner_->open_reader();
    if (!reader) return reader;
    return std::make_unique<FaultyReader>(std::move(*reader), faults_);
  }
  void watch(ForeignWatcher* watcher) override { inner_->watch(faults_->deaf ? nullptr : watcher); }
  void set_watchful(bool watchful) override { inner_->set_watchful(watchful); }

 private:
  std::unique_ptr<Store> inner_;
  std::shared_ptr<Faults> faults_;
};

}  // namespace

void Faults::break_execution(const ExecutionId& id) {
  std::lock_guard guard(mutex_);
  broken_.insert(id);
}

void Faults::mend_executions() {
  std::lock_guard guard(mutex_);
  broken_.clear();
}

bool Faults::is_broken(const ExecutionId& id) const {
  std::lock_guard guard(mutex_);
  return broken_.contains(id);
}

void Faults::hold() {
  std::lock_guard guard(mutex_);
  held_ = true;
}

void Faults::release() {
  {
    std::lock_guard guard(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

bool Faults::holds_one() {
  std::lock_guard guard(mutex_);
  return waiting_ > 0;
}

void Faults::wait_while_held() {
  std::unique_lock guard(mutex_);
  ++waiting_;
  changed_.wait(guard, [&] { return !held_; });
  --waiting_;
}

Wrap with(std::shared_ptr<Faults> faults) {
  return [faults](std::unique_ptr<Store> store) -> std::unique_ptr<Store> {
    return std::make_unique<FaultyStore>(std::move(store), faults);
  };
}

}  // namespace ff::test
