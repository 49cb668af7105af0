#pragma once

#include "core/handle.h"
#include "core/operation.h"

namespace ff::core {

/// What every call by handle reads: the execution, and the caller's own attempt when it is no longer the newest.
void read_fenced(const TaskHandle& handle, const Records& in, Reads& out);

/// The caller's own attempt: `execution_not_found`, `attempt_not_found`, `stale_lease` (first checks of the fence).
Result<const Attempt*> own_attempt(const TaskHandle& handle, const Records& in);

/// Whether this very lease already did this very operation: the call is a repeat after a lost reply.
bool is_repeat(const Attempt& attempt, const TaskHandle& handle, ReleaseOp op);

/// The rest of the fence: the handle's lease must be the current one and live. A lapsed lease that nobody has marked
/// yet is lost here, in `writes`, and answered with `lease_expired`.
Result<const ExecutionRecord*> holder_check(const TaskHandle& handle, const Records& in, Writes& writes);

/// Both halves for operations that leave no receipt (renew, progress).
Result<const ExecutionRecord*> fence(const TaskHandle& handle, const Records& in, Writes& writes);

/// `execution_not_active` with its four facts.
Error not_active(const ExecutionRecord& record);
Error not_found(const ExecutionId& id);

}  // namespace ff::core
