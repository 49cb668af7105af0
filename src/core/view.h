#pragma once

#include "core/records/records.h"

#include <flowfabric/calls.h>

namespace ff::core {

/// An execution as readers see it, but for `why`.
Execution to_view(const ExecutionRecord& record, const ExecutionInfo& info);
ExecutionSummary summarize(const ExecutionRecord& record);
LeaseItem lease_item(const ExecutionRecord& record);

/// Whether an execution passes every given part of a filter.
bool matches(const ExecutionRecord& record, const ExecutionFilter& filter);

}  // namespace ff::core
