#pragma once

#include "core/access.h"
#include "core/operation.h"

namespace ff::core {

/// What a sweep does about one execution whose clock may have rung. The record is looked at again: when the clock was
/// moved, or something else came first, nothing is written and that is no error.
struct RingTimer {
  /// Whether it changed something.
  using Reply = bool;
  static constexpr std::string_view kName = "ring_timer";

  ExecutionId id;
  TimerKind kind = TimerKind::lease;
};
void reads(const RingTimer& op, const Records& in, Reads& out);
Decision<bool> decide(const RingTimer& op, const Records& in, TimeMs now);

}  // namespace ff::core
