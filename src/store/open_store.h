#pragma once

#include "store/store.h"

namespace ff::store {

/// Opens a store by URL. An unknown scheme is `store_refused` with reason `invalid_url`.
Result<std::unique_ptr<Store>> open_store(const std::string& url, const StoreOptions& options);

}  // namespace ff::store
