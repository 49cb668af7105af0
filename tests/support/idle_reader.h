#pragma once

#include "core/errors.h"
#include "store/store.h"

namespace ff::test {

/// A reader that nobody should ask. Tests override what they expect to be asked.
class IdleReader : public store::Reader {
 public:
  Result<TimeMs> clock() override { return unasked(); }
  Result<std::optional<store::ExecutionSnapshot>> execution(const ExecutionId&) override { return unasked(); }
  Result<std::optional<std::optional<Blob>>> payload(const ExecutionId&) override { return unasked(); }
  Result<std::optional<std::optional<Blob>>> result(const ExecutionId&) override { return unasked(); }
  Result<std::optional<std::vector<Attempt>>> attempts(const ExecutionId&, std::optional<std::uint32_t>,
                                                       std::uint32_t) override {
    return unasked();
  }
  Result<std::optional<store::HistoryPage>> history(const ExecutionId&, std::int64_t, std::uint32_t) override {
    return unasked();
  }
  Result<store::ListResult> list(const store::ListQuery&) override { return unasked(); }
  Result<std::vector<LeaseItem>> leases(const store::LeaseQuery&) override { return unasked(); }
  Result<std::optional<Lane>> lane(const std::string&) override { return unasked(); }
  Result<std::vector<Lane>> lanes(const std::string&, std::uint32_t) override { return unasked(); }
  Result<LaneCounts> lane_counts(const std::string&) override { return unasked(); }
  Result<std::optional<TimeMs>> oldest_candidate(const std::string&) override { return unasked(); }
  Result<std::uint64_t> ahead_of(const store::ExecutionRecord&) override { return unasked(); }
  Result<std::vector<store::QueueHead>> queue_heads(const std::string&, std::uint32_t) override { return unasked(); }
  Result<store::DueResult> due(const store::DueQuery&) override { return unasked(); }
  Result<std::optional<TimeMs>> next_due() override { return unasked(); }
  Result<std::vector<ExecutionId>> retired(TimeMs, std::uint32_t,
                                           const std::function<bool(const store::ExecutionRecord&)>&) override {
    return unasked();
  }
  Result<std::vector<core::IdempotencyId>> expired_keys(TimeMs, std::uint32_t) override { return unasked(); }
  Result<std::optional<core::Document>> document(const core::DocumentId&) override { return unasked(); }
  Result<std::vector<core::Document>> documents(core::DocumentKind, const std::string&, std::uint32_t) override {
    return unasked();
  }
  Result<std::vector<core::DocumentId>> due_documents(core::DocumentKind, TimeMs, std::uint32_t) override {
    return unasked();
  }
  Result<store::Walk<Event>> audit(const store::AuditQuery&) override { return unasked(); }
  Result<store::Walk<core::IdempotencyRecord>> keys(const std::string&, std::uint32_t) override { return unasked(); }
  Result<store::Walk<Event>> log(const std::string&, std::uint32_t) override { return unasked(); }
  Result<std::vector<std::string>> verify(std::uint32_t) override { return unasked(); }

 private:
  static std::unexpected<Error> unasked() {
    return core::fail(ErrorCode::invariant_violation, "The test did not expect this read.");
  }
};

}  // namespace ff::test
