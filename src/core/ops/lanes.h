#pragma once

#include "core/caller.h"
#include "core/operation.h"

namespace ff::core {

inline constexpr std::size_t kNamespaceWeightsMax = 1000;
inline constexpr std::uint32_t kNamespaceWeightMax = 1000;

/// Adds a lane that is not there yet; one that is stays as it is.
struct RegisterLane {
  using Reply = Lane;
  static constexpr std::string_view kName = "register_lane";

  std::string lane_id;
  std::string registered_by;
};
void reads(const RegisterLane& op, const Records& in, Reads& out);
Decision<Lane> decide(const RegisterLane& op, const Records& in, TimeMs now);

/// Changes the settings of a lane, which is created when absent. A lane's state never rewrites its executions.
struct ConfigureLaneOp {
  using Reply = Lane;
  static constexpr std::string_view kName = "configure_lane";

  Caller caller;
  ConfigureLane request;
};
void reads(const ConfigureLaneOp& op, const Records& in, Reads& out);
Decision<Lane> decide(const ConfigureLaneOp& op, const Records& in, TimeMs now);

}  // namespace ff::core
