#pragma once

#include "store/redis/connection.h"

namespace ff::store::redis {

/// The version of the function library that this program carries: `LIBRARY_VERSION` in flowfabric.lua.
inline constexpr int kLibraryVersion = 5;
/// Its text, as the server wants it.
std::string library_text();
/// flowfabric.lua, built into the program.
std::string_view library_body();

/// Loads the library when the server has none or an older one. A newer one is refused: `schema_too_new`.
Result<void> ensure_library(Connection& connection);

/// Whether an error reply says that the server does not know our functions.
bool is_library_missing(std::string_view error);

}  // namespace ff::store::redis
