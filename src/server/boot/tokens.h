#pragma once

// The tokens of a server's data set.

#include "server/settings.h"
#include "server/token_book.h"

namespace ff::api {
class EmbeddedBackend;
}

namespace ff::server {

/// Knows the stored tokens and the one of the settings. `clock_difference_ms` is how far the store's clock is ahead of
/// this machine's. The error of the store when the tokens cannot be read.
Result<std::shared_ptr<TokenBook>> open_tokens(const std::shared_ptr<api::EmbeddedBackend>& backend, const Settings& settings,
                                               std::int64_t clock_difference_ms);

}  // namespace ff::server
