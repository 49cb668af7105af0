#pragma once

#include "core/operation.h"

namespace ff::core {

/// Creates an execution, or answers with the one that the same id or key created before.
///
/// Everything that does not depend on records was checked before: ids, sizes, policy, tags.
struct Create {
  using Reply = Submitted;
  static constexpr std::string_view kName = "create";

  ExecutionId id;
  bool own_id = false;  ///< given by the caller: it may exist already
  QueueRef queue;
  std::int32_t priority = 0;
  PolicyNumbers limits;
  ExecutionInfo info;
  SharedBytes payload;
  std::shared_ptr<const Tags> tags;
  std::optional<TimeMs> delay_until_ms;
  std::optional<std::uint64_t> delay_ms;
  std::optional<TimeMs> execution_deadline_at_ms;
  std::optional<std::uint64_t> execution_deadline_ms;
  std::optional<IdempotencyId> key;
  Bytes content_digest;
  std::uint64_t dedup_window_ms = 0;
  /// The lane as this process knows it; none: look at the record, and register the lane when it is new.
  std::optional<LaneState> known_lane_state;
};

void reads(const Create& op, const Records& in, Reads& out);
Decision<Submitted> decide(const Create& op, const Records& in, TimeMs now);

}  // namespace ff::core
