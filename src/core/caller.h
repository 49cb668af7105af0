#pragma once

#include <optional>
#include <string>

namespace ff::core {

/// On whose behalf a call is made: what it may see, and what the audit log says.
struct Caller {
  std::optional<std::string> namespace_scope;  ///< other namespaces are as if they did not exist
  std::string actor = "embedded";
};

}  // namespace ff::core
