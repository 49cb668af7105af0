#include "sim_store.h"

namespace ff::sim {
namespace {

using namespace store;

Error conflict() { return {ErrorCode::retry_exhausted, "Somebody else was faster (simulated).", {}}; }
Error unavailable() { return {ErrorCode::store_unavailable, "The store was not reached (simulated).", {}}; }

}  // namespace

/// A session on which each step may be refused, put off, or answered wrongly after the fact.
class SimStore::FaultySession final : public Session {
 public:
  FaultySession(SimStore& owner, std::unique_ptr<Session> inner) : owner_(owner), inner_(std::move(inner)) {}
  ~FaultySession() override { let_go(); }

  Result<Step> begin() override {
    if (auto fault = draw()) return *fault;
    auto begun = inner_->begin();
    if (begun && *begun == Step::done && !inside_) {
      inside_ = true;
      ++owner_.transactions_;
    }
    return begun;
  }
  Result<Step> load(std::span<Unit* const> units, std::span<core::Reads> reads, LoadMode mode) override {
    if (auto fault = draw()) return *fault;
    return inner_->load(units, reads, mode);
  }
  Result<Step> take(std::span<const TakeRow> plan, std::deque<Unit>& units, std::vector<Taken>& taken) override {
    if (auto fault = draw()) return *fault;
    return inner_->take(plan, units, taken);
  }
  Result<std::vector<ExecutionId>> claimed_under(const std::string& worker_instance_id,
                                                 const std::string& claim_key) override {
    if (owner_.random_.chance(owner_.faults_.unavailable)) return std::unexpected(unavailable());
    return inner_->claimed_under(worker_instance_id, claim_key);
  }
  Result<Step> save(std::span<Unit* const> units) override {
    if (auto fault = draw()) return *fault;
    auto saved = inner_->save(units);
    if (saved && *saved == Step::done) {
      let_go();
      if (owner_.random_.chance(owner_.faults_.lost_commit)) return std::unexpected(unavailable());
    }
    return saved;
  }
  void rollback() override {
    inner_->rollback();
    let_go();
  }
  Result<std::uint64_t> trim_events(TimeMs before, TimeMs audit_before, std::uint32_t limit) override {
    if (owner_.random_.chance(owner_.faults_.unavailable)) return std::unexpected(unavailable());
    return inner_->trim_events(before, audit_before, limit);
  }

 private:
  std::optional<Result<Step>> draw() {
    if (owner_.random_.chance(owner_.faults_.blocked)) return Result<Step>(Step::blocked);
    if (owner_.random_.chance(owner_.faults_.conflict)) return std::unexpected(conflict());
    if (owner_.random_.chance(owner_.faults_.unavailable)) return std::unexpected(unavailable());
    return std::nullopt;
  }
  void let_go() {
    if (inside_) --owner_.transactions_;
    inside_ = false;
  }

  SimStore& owner_;
  std::unique_ptr<Session> inner_;
  bool inside_ = false;
};

/// A reader whose every call may fail.
class SimStore::FaultyReader final : public Reader {
 public:
  FaultyReader(SimStore& owner, std::unique_ptr<Reader> inner) : owner_(owner), inner_(std::move(inner)) {}

  Result<TimeMs> clock() override { return unless_fault(&Reader::clock); }
  Result<std::optional<ExecutionSnapshot>> execution(const ExecutionId& id) override {
    return unless_fault(&Reader::execution, id);
  }
  Result<std::optional<std::optional<Blob>>> payload(const ExecutionId& id) override {
    return unless_fault(&Reader::payload, id);
  }
  Result<std::optional<std::optional<Blob>>> result(const ExecutionId& id) override {
    return unless_fault(&Reader::result, id);
  }
  Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId& id, std::optional<std::uint32_t> after,
                                                       std::uint32_t limit) override {
    return unless_fault(&Reader::attempts, id, after, limit);
  }
  Result<std::optional<HistoryPage>> history(const ExecutionId& id, std::int64_t after, std::uint32_t limit) override {
    return unless_fault(&Reader::history, id, after, limit);
  }
  Result<ListResult> list(const ListQuery& query) override { return unless_fault(&Reader::list, query); }
  Result<std::vector<LeaseItem>> leases(const LeaseQuery& query) override {
    return unless_fault(&Reader::leases, query);
  }
  Result<std::optional<Lane>> lane(const std::string& id) override { return unless_fault(&Reader::lane, id); }
  Result<std::vector<Lane>> lanes(const std::string& after, std::uint32_t limit) override {
    return unless_fault(&Reader::lanes, after, limit);
  }
  Result<LaneCounts> lane_counts(const std::string& id) override { return unless_fault(&Reader::lane_counts, id); }
  Result<std::optional<TimeMs>> oldest_candidate(const std::string& id) override {
    return unless_fault(&Reader::oldest_candidate, id);
  }
  Result<std::uint64_t> ahead_of(const ExecutionRecord& record) override {
    return unless_fault(&Reader::ahead_of, record);
  }
  Result<std::vector<QueueHead>> queue_heads(const std::string& id, std::uint32_t count_max) override {
    if (owner_.bug_ == Bug::hides_queues) return std::vector<QueueHead>();
    return unless_fault(&Reader::queue_heads, id, count_max);
  }
  Result<DueResult> due(const DueQuery& query) override { return unless_fault(&Reader::due, query); }
  Result<std::optional<TimeMs>> next_due() override { return unless_fault(&Reader::next_due); }
  Result<std::vector<ExecutionId>> retired(TimeMs now, std::uint32_t limit,
                                           const std::function<bool(const ExecutionRecord&)>& accept) override {
    return unless_fault(&Reader::retired, now, limit, accept);
  }
  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs now, std::uint32_t limit) override {
    return unless_fault(&Reader::expired_keys, now, limit);
  }
  Result<std::optional<core::Document>> document(const core::DocumentId& id) override {
    return unless_fault(&Reader::document, id);
  }
  Result<std::vector<core::Document>> documents(core::DocumentKind kind, const std::string& after,
                                                std::uint32_t limit) override {
    return unless_fault(&Reader::documents, kind, after, limit);
  }
  Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind kind, TimeMs now,
                                                      std::uint32_t limit) override {
    return unless_fault(&Reader::due_documents, kind, now, limit);
  }
  Result<Walk<Event>> audit(const AuditQuery& query) override { return unless_fault(&Reader::audit, query); }
  Result<Walk<core::IdempotencyRecord>> keys(const std::string& after, std::uint32_t limit) override {
    return unless_fault(&Reader::keys, after, limit);
  }
  Result<Walk<Event>> log(const std::string& after, std::uint32_t limit) override {
    return unless_fault(&Reader::log, after, limit);
  }
  Result<std::vector<std::string>> verify(std::uint32_t limit) override { return unless_fault(&Reader::verify, limit); }

 private:
  template <class T, class... Params, class... Args>
  Result<T> unless_fault(Result<T> (Reader::*call)(Params...), Args&&... args) {
    if (owner_.random_.chance(owner_.faults_.reader)) return std::unexpected(unavailable());
    return (inner_.get()->*call)(std::forward<Args>(args)...);
  }

  SimStore& owner_;
  std::unique_ptr<Reader> inner_;
};

SimStore::SimStore(std::unique_ptr<MemoryStore> inner, const StoreFaults& faults, Bug bug, Random random)
    : inner_(std::move(inner)), faults_(faults), bug_(bug), random_(random) {}

SimStore::~SimStore() { inner_->watch(nullptr); }

Result<std::unique_ptr<Session>> SimStore::open_session() {
  auto session = inner_->open_session();
  if (!session) return std::unexpected(session.error());
  return std::make_unique<FaultySession>(*this, with_bug(std::move(*session), inner_->data(), bug_, random_.fork()));
}

Result<std::unique_ptr<Reader>> SimStore::open_reader() {
  auto reader = inner_->open_reader();
  if (!reader) return std::unexpected(reader.error());
  return std::make_unique<FaultyReader>(*this, std::move(*reader));
}

void SimStore::watch(ForeignWatcher* watcher) {
  watcher_ = watcher;
  inner_->watch(watcher ? this : nullptr);
}

void SimStore::foreign_commit() {
  if (watcher_ && !random_.chance(faults_.lost_wake_up)) watcher_->foreign_commit();
}

}  // namespace ff::sim
