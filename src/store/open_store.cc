#include "store/open_store.h"

#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/redis/redis_store.h"
#include "store/refusal.h"
#include "store/sqlite/sqlite_store.h"

namespace ff::store {

Result<std::unique_ptr<Store>> open_store(const std::string& url, const StoreOptions& options) {
  if (url.starts_with("sqlite:")) return open_sqlite(url.substr(7), options);
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) return open_postgres(url, options);
  if (url == "memory:") {
    if (options.warn) options.warn("the store is in memory: nothing survives this process");
    return std::make_unique<MemoryStore>(options);
  }
  for (const char* scheme : {"redis:", "valkey:", "rediss:", "valkeys:"})
    if (url.starts_with(scheme)) return open_redis(url, options);
  // What follows the scheme may hold a password.
  return std::unexpected(refusal(
      "invalid_url", fmt::format("'{:.80}' is not a store. Write sqlite:<path>, for example sqlite:flow.db, "
                                 "postgres://user@host/database, valkey://host:port, redis://host:port, or memory:.",
                                 url.substr(0, url.find("://")))));
}

}  // namespace ff::store
