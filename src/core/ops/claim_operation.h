#pragma once

#include "core/ops/claim.h"

namespace ff::core {

/// A claim by lane. It reads nothing by key: the batch takes candidates for all its claims and offers them in order.
class ClaimOperation final : public Operation {
 public:
  ClaimOperation(Claim claim, Callback<LeasedTasks> callback)
      : claim_(std::move(claim)), callback_(std::move(callback)) {}

  std::string_view name() const override { return "claim"; }
  void reads(const Records&, Reads&) const override {}
  void decide(WorkingSet&, TimeMs) override {}
  void refuse(Error error) override { reply_ = std::unexpected(std::move(error)); }
  void deliver() override { callback_(std::move(reply_)); }
  const Error* error() const override { return reply_ ? nullptr : &reply_.error(); }
  ClaimOperation* claim() override { return this; }

  const Claim& request() const { return claim_; }
  /// How many tasks it still wants.
  std::uint32_t wanted() const;

  /// Leases the candidate in `set` if it still can be; true when it did. The task counts once `settle` was told so.
  bool offer(const ExecutionId& id, WorkingSet& set, TimeMs now);
  /// Gives again a task that it holds already under its key.
  void repeat(const ExecutionId& id, const WorkingSet& set);
  /// Keeps the tasks of the offers whose commit succeeded (`committed[i]` for the i-th that was accepted).
  void settle(const std::vector<bool>& committed);
  /// Forgets everything that was offered: the batch is decided again.
  void reset();

 private:
  Claim claim_;
  Callback<LeasedTasks> callback_;
  IdSource ids_ = claim_.ids;
  LeasedTasks leased_;
  std::uint64_t payload_bytes_ = 0;
  bool repeats_ = false;
  Result<LeasedTasks> reply_;
};

}  // namespace ff::core
