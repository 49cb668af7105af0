#pragma once

#include "core/handle.h"
#include "core/operation.h"

namespace ff::core {

/// Ends the attempt with a failure: the policy says whether another one follows, and when.
struct Fail {
  using Reply = TaskFailed;
  static constexpr std::string_view kName = "fail";

  TaskHandle handle;
  std::string message;
  FailureClass failure_class = FailureClass::transient;
  std::string category;
  double jitter_draw = 0;
};
void reads(const Fail& op, const Records& in, Reads& out);
Decision<TaskFailed> decide(const Fail& op, const Records& in, TimeMs now);

}  // namespace ff::core
