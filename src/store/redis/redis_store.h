#pragma once

#include "store/redis/places.h"
#include "store/store.h"

#include <atomic>

namespace ff::store {

/// Opens `redis://...` or `valkey://...`; refusals are `store_refused` with their reason.
Result<std::unique_ptr<Store>> open_redis(const std::string& url, const StoreOptions& options);

namespace redis {

/// What the sessions and readers of one store share.
struct RedisShared {
  StoreOptions options;
  std::shared_ptr<Topology> topology;
  Places places;
  core::Partitioning partitioning;  ///< set before the first session is opened
  StoreInfo info;
  int replicas = 0;      ///< how many must have a commit before it is answered
  std::string instance;  ///< tells our own wake-ups from those of others

  Link link() const { return Link(topology); }
};

/// The time in a reply to `TIME`.
TimeMs time_of(const Value& reply);

Result<std::unique_ptr<Session>> open_session(std::shared_ptr<RedisShared> shared);
Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<RedisShared> shared);

}  // namespace redis
}  // namespace ff::store
