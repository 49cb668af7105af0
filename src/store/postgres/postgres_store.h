#pragma once

#include "store/store.h"

namespace ff::store {

/// Opens `postgres://...`; refusals are `store_refused` with their reason.
Result<std::unique_ptr<Store>> open_postgres(const std::string& url, const StoreOptions& options);

}  // namespace ff::store
