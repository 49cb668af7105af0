#pragma once

#include "store/sqlite/queues.h"

namespace ff::store::sqlite {

/// Walks everything that is stored and compares what is derived with what should be: the columns that drive indexes,
/// the tags by value, parts without an execution and executions without their parts. One line per fault.
///
/// May run beside writers: each step of the walk is one snapshot.
Result<std::vector<std::string>> verify(Connection& connection, Queues& queues, std::uint32_t limit);

}  // namespace ff::store::sqlite
