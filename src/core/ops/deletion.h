#pragma once

#include "core/caller.h"
#include "core/operation.h"

namespace ff::core {

/// An operator removes a terminal execution with everything that belongs to it. Its events stay. Removing it again
/// succeeds.
struct DeleteExecution {
  using Reply = Done;
  static constexpr std::string_view kName = "delete";

  Caller caller;
  ExecutionId id;
};
void reads(const DeleteExecution& op, const Records& in, Reads& out);
Decision<Done> decide(const DeleteExecution& op, const Records& in, TimeMs now);

/// The same by the retention sweep: only when its time is over, and without an operator event.
struct Retire {
  /// Whether it was removed.
  using Reply = bool;
  static constexpr std::string_view kName = "retire";

  ExecutionId id;
};
void reads(const Retire& op, const Records& in, Reads& out);
Decision<bool> decide(const Retire& op, const Records& in, TimeMs now);

/// Removes an idempotency key whose window is over.
struct ForgetKey {
  using Reply = bool;
  static constexpr std::string_view kName = "forget_key";

  IdempotencyId id;
};
void reads(const ForgetKey& op, const Records& in, Reads& out);
Decision<bool> decide(const ForgetKey& op, const Records& in, TimeMs now);

}  // namespace ff::core
