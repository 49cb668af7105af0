#pragma once

#include "core/caller.h"
#include "core/operation.h"

namespace ff::core {

inline constexpr std::int32_t kPriorityMax = 9000;
/// Priorities are clamped to 0..9000, never refused.
constexpr std::int32_t clamp_priority(std::int64_t priority) {
  return static_cast<std::int32_t>(priority < 0 ? 0 : priority > kPriorityMax ? kPriorityMax : priority);
}

inline constexpr std::size_t kTagsMax = 128;

/// Changes the place of an execution among its like, whenever it is a candidate.
struct ChangePriorityOp {
  using Reply = PriorityChanged;
  static constexpr std::string_view kName = "change_priority";

  Caller caller;
  ExecutionId id;
  std::int32_t priority = 0;
};
void reads(const ChangePriorityOp& op, const Records& in, Reads& out);
Decision<PriorityChanged> decide(const ChangePriorityOp& op, const Records& in, TimeMs now);

/// Sets and removes tags, all or none.
struct SetTagsOp {
  using Reply = Changed;
  static constexpr std::string_view kName = "set_tags";

  Caller caller;
  ExecutionId id;
  std::map<std::string, std::optional<std::string>> tags;
};
void reads(const SetTagsOp& op, const Records& in, Reads& out);
Decision<Changed> decide(const SetTagsOp& op, const Records& in, TimeMs now);

/// Runs a terminal execution again, with a new attempt and fresh retries; everything that happened stays readable.
struct Replay {
  using Reply = Changed;
  static constexpr std::string_view kName = "replay";

  Caller caller;
  ExecutionId id;
  std::optional<std::string> reason;
  std::optional<std::string> requested_by;
};
void reads(const Replay& op, const Records& in, Reads& out);
Decision<Changed> decide(const Replay& op, const Records& in, TimeMs now);

}  // namespace ff::core
