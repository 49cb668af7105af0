#pragma once

#include <flowfabric/ids.h>

namespace ff::store {

/// The machine's clock: the clock of stores that have none of their own.
TimeMs system_now_ms();

}  // namespace ff::store
