#pragma once

#include "core/caller.h"
#include "core/handle.h"
#include "core/operation.h"

namespace ff::core {

/// The words of a cancel; the lease event says whether the holder itself let go.
struct CancelCause {
  std::string reason;
  CancelSource source = CancelSource::operator_override;
};
/// Ends an execution as cancelled, from any phase that is not terminal.
void cancel_record(ExecutionRecord& record, const CancelCause& cause, Writes& writes);

/// An operator cancels an execution. Cancelling it again answers the same and keeps the first reason; a real outcome
/// is never overwritten.
struct CancelByOperator {
  using Reply = Changed;
  static constexpr std::string_view kName = "cancel";

  Caller caller;
  ExecutionId id;
  std::string reason;
};
void reads(const CancelByOperator& op, const Records& in, Reads& out);
Decision<Changed> decide(const CancelByOperator& op, const Records& in, TimeMs now);

/// The holder of the lease cancels its own execution.
struct CancelByHolder {
  using Reply = Changed;
  static constexpr std::string_view kName = "cancel_task";

  TaskHandle handle;
  std::string reason;
};
void reads(const CancelByHolder& op, const Records& in, Reads& out);
Decision<Changed> decide(const CancelByHolder& op, const Records& in, TimeMs now);

}  // namespace ff::core
