#include "core/ops/visible.h"

#include "core/json.h"

namespace ff::core {

Result<const ExecutionRecord*> visible(const Records& in, const ExecutionId& id, const Caller& caller) {
  const ExecutionRecord* record = in.execution(id);
  if (!record || (caller.namespace_scope && *caller.namespace_scope != record->namespace_()))
    return std::unexpected(not_found(id));
  return record;
}

json::object reason_details(const std::optional<std::string>& reason) {
  json::object details;
  if (reason) details["reason"] = *reason;
  return details;
}

}  // namespace ff::core
