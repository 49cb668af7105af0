#pragma once

#include "store/store.h"

namespace ff::engine {

/// A page of the list that has the highest priority first and, among equals, the oldest. Of `query` everything counts
/// but what it walks along: those with a priority stand in an index of their own, the others follow in the order of
/// creation.
Result<store::ListResult> list_by_priority(store::Reader& reader, store::ListQuery query);

}  // namespace ff::engine
