#include "core/ops/claim_operation.h"

namespace ff::core {
namespace {

/// Claims that ask for more seldom get it.
constexpr std::uint32_t kReservedMax = 64;

}  // namespace

std::uint32_t ClaimOperation::wanted() const {
  if (repeats_ || payload_bytes_ >= kClaimPayloadBytesMax) return 0;
  return claim_.max - static_cast<std::uint32_t>(leased_.size());
}

bool ClaimOperation::offer(const ExecutionId& id, WorkingSet& set, TimeMs now) {
  const ExecutionRecord* record = set.execution(id);
  if (!record || wanted() == 0) return false;
  Writes writes(now);
  auto task = lease_candidate(*record, set, claim_, ids_, writes);
  if (!task || !writes.broken().empty()) return false;
  set.apply(std::move(writes));
  if (task->payload) payload_bytes_ += task->payload->size();
  if (leased_.empty()) leased_.reserve(std::min(claim_.max, kReservedMax));
  leased_.push_back(std::move(*task));
  return true;
}

void ClaimOperation::repeat(const ExecutionId& id, const WorkingSet& set) {
  const ExecutionRecord* record = set.execution(id);
  if (!record || !record->lease) return;
  repeats_ = true;
  leased_.push_back(task_of(*record, set, lease_kind(*record)));
}

void ClaimOperation::settle(const std::vector<bool>& committed) {
  LeasedTasks kept;
  kept.reserve(leased_.size());
  for (std::size_t i = 0; i < leased_.size(); ++i)
    if (repeats_ || (i < committed.size() && committed[i])) kept.push_back(std::move(leased_[i]));
  reply_ = std::move(kept);
  leased_.clear();
}

void ClaimOperation::reset() {
  leased_.clear();
  payload_bytes_ = 0;
  repeats_ = false;
  ids_ = claim_.ids;
}

}  // namespace ff::core
