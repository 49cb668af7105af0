#pragma once

#include "bench/cycle.h"

namespace ff::bench {

/// How long it takes from a submission to the start of its handler in a system that has nothing else to do: the median
/// in microseconds.
Result<std::uint64_t> measure_start(const Fabric& fabric, const std::string& lane, const Progress& progress);

}  // namespace ff::bench
