#pragma once

#include <flowfabric/ids.h>

#include <memory>
#include <optional>
#include <string>

namespace ff::core {

/// The idempotency key that a call was made with.
struct RequestKey {
  std::string namespace_;
  std::string key;
  Bytes digest;  ///< of everything that the call says: under one key it may say one thing only
  /// Set when the call turned out to be a repeat, and got the first answer.
  bool repeated = false;
};

/// On whose behalf a call is made: what it may see, and what the audit log says.
struct Caller {
  std::optional<std::string> namespace_scope;  ///< other namespaces are as if they did not exist
  std::string actor = "embedded";
  std::string request_id;  ///< of the request that made the call, if one did
  std::string remote;      ///< where that came from
  std::shared_ptr<RequestKey> key;
};

}  // namespace ff::core
