#pragma once

#include <functional>

namespace ff::api {

/// Runs this on a thread of its own; the program ends only when it is done. For an engine that is let go of on one of
/// its own threads, by the callback that held the last reference: a thread cannot wait for its own end. While the
/// program is ending already nothing is done: a store needs no farewell.
void end_elsewhere(std::function<void()> work);
/// To be called before the first engine is used, so that the end of the program knows what to wait for.
void expect_endings();

}  // namespace ff::api
