#pragma once

// Opening the store of a server: with its password, and with patience.

#include "server/settings.h"

#include <flowfabric/fabric.h>

namespace ff::server {

/// The store's URL with the password that was given apart from it.
std::string store_url(const Settings& settings);

/// How long a store is waited for that cannot be reached.
struct Patience {
  std::int64_t at_most_ms = 60'000;
  std::int64_t first_pause_ms = 200;
  std::int64_t longest_pause_ms = 5'000;
};

struct OpeningTools {
  std::function<std::int64_t()> steady_ms;
  /// Lets so much time go by; false when the waiting has to end.
  std::function<bool(std::int64_t ms)> pause;
  /// Told of each try that failed, and how long the pause will be.
  std::function<void(const Error&, std::int64_t pause_ms)> failed;
};

/// Tries again while the error may pass; the last error when the time is over. A store that refuses us is not asked twice.
Result<Fabric> open_patiently(const std::function<Result<Fabric>()>& open, const Patience& patience,
                              const OpeningTools& tools);

}  // namespace ff::server
