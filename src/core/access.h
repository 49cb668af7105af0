#pragma once

// Where a record is found: pure functions of it. Stores keep indexes over their answers, so nothing can drift.

#include "core/records/execution.h"

#include <compare>

namespace ff::core {

/// Place in a queue: higher priority first, then older, then smaller uuid. Less is earlier.
struct OrderKey {
  std::int32_t priority = 0;
  TimeMs created_at_ms = 0;
  ExecutionId id;

  bool operator==(const OrderKey&) const = default;
  std::strong_ordering operator<=>(const OrderKey& other) const {
    if (auto by = other.priority <=> priority; by != 0) return by;
    if (auto by = created_at_ms <=> other.created_at_ms; by != 0) return by;
    return id <=> other.id;
  }
};
OrderKey order_key(const ExecutionRecord& record);

/// Whether a claim may find it: waiting for a worker, or left behind by one; never when its cancel is owed.
bool is_candidate(const ExecutionRecord& record);
/// Whether claims are given the work of a lane in this state. One that drains still gives what it has.
inline bool hands_out(LaneState state) { return state != LaneState::paused && state != LaneState::disabled; }

/// The kinds of clocks that can ring for an execution.
enum class TimerKind : std::uint8_t { delay, lease, attempt_timeout, deadline };
inline constexpr int kTimerKinds = 4;

/// When that clock rings, if it is set.
std::optional<TimeMs> timer_at(const ExecutionRecord& record, TimerKind kind);
/// Whether it has rung: `t <= now` for delays, `t < now` for the others.
bool has_rung(const ExecutionRecord& record, TimerKind kind, TimeMs now);
/// The first moment at which `has_rung` is true, given the time of the clock.
constexpr TimeMs rings_from(TimerKind kind, TimeMs at) { return kind == TimerKind::delay ? at : at + 1; }

/// The earliest clock of all.
std::optional<TimeMs> due_at(const ExecutionRecord& record);

/// Its place in the counts of its lane.
Bucket bucket_of(const ExecutionRecord& record);

}  // namespace ff::core
