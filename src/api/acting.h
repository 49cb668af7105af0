#pragma once

#include "api/backend.h"
#include "core/caller.h"

namespace ff::api {

/// The same engine on behalf of a caller: what it may see, and what the audit log says. The backend itself where the
/// engine is not in this process: then whoever has it decides.
std::shared_ptr<Backend> acting_for(const std::shared_ptr<Backend>& backend, core::Caller caller);

}  // namespace ff::api
