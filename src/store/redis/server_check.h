#pragma once

#include "store/redis/topology.h"
#include "store/store.h"

namespace ff::store::redis {

/// Examines every primary: its version, its function library, and the settings that decide what survives a crash.
/// Fills `info`; refusals are `store_refused`, what is merely weak is told to `options.warn`.
Result<void> check_servers(const Topology& topology, const StoreOptions& options, StoreInfo& info);

/// A version of three numbers, as the server spells it.
struct ServerVersion {
  std::string kind;  ///< `redis` or `valkey`
  std::string text;
  int major = 0, minor = 0;

  static Result<ServerVersion> read(std::string_view server_info);
  bool is_supported() const;
};

}  // namespace ff::store::redis
