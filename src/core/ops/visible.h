#pragma once

#include "core/caller.h"
#include "core/fence.h"

namespace ff::core {

/// The execution, unless it does not exist or lies outside the caller's namespace: then `execution_not_found`.
Result<const ExecutionRecord*> visible(const Records& in, const ExecutionId& id, const Caller& caller);

/// `{"reason": ...}`, the details of most operator events; empty without a reason.
json::object reason_details(const std::optional<std::string>& reason);

}  // namespace ff::core
