#pragma once

#include "core/handle.h"
#include "core/operation.h"

namespace ff::core {

/// The holder gives the task back; the same attempt goes on later.
struct Delay {
  using Reply = TaskDelayed;
  static constexpr std::string_view kName = "delay";

  TaskHandle handle;
  std::optional<TimeMs> delay_until_ms;
  std::optional<std::uint64_t> delay_ms;
};
void reads(const Delay& op, const Records& in, Reads& out);
Decision<TaskDelayed> decide(const Delay& op, const Records& in, TimeMs now);

/// The holder waits for its inbound dependencies. With nothing unresolved it is eligible again at once, in the same
/// commit, so that no wake-up can be lost.
struct WaitForChildren {
  using Reply = Changed;
  static constexpr std::string_view kName = "wait_children";

  TaskHandle handle;
  bool names_children = false;
};
void reads(const WaitForChildren& op, const Records& in, Reads& out);
Decision<Changed> decide(const WaitForChildren& op, const Records& in, TimeMs now);

}  // namespace ff::core
