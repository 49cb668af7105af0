#pragma once

#include "core/errors.h"
#include "core/records/execution.h"

namespace ff::core {

/// The one word for people, from the other six facts. A vector that has none is `corruption`.
Result<PublicState> derive_public_state(const StateVector& state);

/// The eligibility that goes with a reason to block; none for a reason that does not block.
std::optional<EligibilityState> eligibility_for(BlockingReason reason);

/// What is illegal about a record, as `<field>: <value>`; empty when all is well. Every save asserts it.
std::string illegality(const ExecutionRecord& record);

}  // namespace ff::core
