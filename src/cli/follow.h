#pragma once

#include "cli/command.h"

namespace ff::cli {

/// Follows an execution to its end, or for that long: tells each change of its state on standard error (with `--json`
/// as objects on standard output), then gives its result. The exit code says how it ended.
Result<int> follow(Globals& globals, const Fabric& fabric, const ExecutionId& id, std::optional<std::uint64_t> at_most_ms);

}  // namespace ff::cli
