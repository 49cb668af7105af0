#pragma once

#include "core/caller.h"
#include "core/operation.h"

namespace ff::core {

/// An operator ends an execution as a success, without a handle, from any phase that is not terminal.
struct CompleteByOperator {
  using Reply = Changed;
  static constexpr std::string_view kName = "operator_complete";

  Caller caller;
  ExecutionId id;
  SharedBytes result;
  std::string content_type;
  std::optional<std::string> reason;
};
void reads(const CompleteByOperator& op, const Records& in, Reads& out);
Decision<Changed> decide(const CompleteByOperator& op, const Records& in, TimeMs now);

/// An operator ends an execution as failed. No retry, whatever the policy says.
struct FailByOperator {
  using Reply = Changed;
  static constexpr std::string_view kName = "operator_fail";

  Caller caller;
  ExecutionId id;
  std::string message;
  std::string category;
  std::optional<std::string> reason;
};
void reads(const FailByOperator& op, const Records& in, Reads& out);
Decision<Changed> decide(const FailByOperator& op, const Records& in, TimeMs now);

}  // namespace ff::core
