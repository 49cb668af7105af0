#include "core/ops/lanes.h"

#include "core/json.h"

namespace ff::core {
namespace {

Lane new_lane(const std::string& lane_id, const std::string& registered_by, TimeMs now) {
  Lane lane;
  lane.lane_id = lane_id;
  lane.registered_at_ms = now;
  lane.registered_by = registered_by;
  return lane;
}

json::object settings_of(const Lane& lane) {
  return {{"lane_state", to_value(lane.lane_state)},
          {"fairness", to_value(lane.fairness)},
          {"namespace_weights", to_value(lane.namespace_weights)}};
}

}  // namespace

void reads(const RegisterLane& op, const Records&, Reads& out) { out.lane(op.lane_id); }

Decision<Lane> decide(const RegisterLane& op, const Records& in, TimeMs now) {
  Writes writes(now);
  if (const Lane* known = in.lane(op.lane_id)) return {*known, std::move(writes)};
  writes.lane(new_lane(op.lane_id, op.registered_by, now));
  return {writes.lanes.back(), std::move(writes)};
}

void reads(const ConfigureLaneOp& op, const Records&, Reads& out) { out.lane(op.request.lane_id); }

Decision<Lane> decide(const ConfigureLaneOp& op, const Records& in, TimeMs now) {
  Writes writes(now);
  const ConfigureLane& request = op.request;
  const Lane* known = in.lane(request.lane_id);
  const Lane before = known ? *known : new_lane(request.lane_id, op.caller.actor, now);
  Lane after = before;
  if (request.lane_state && *request.lane_state != before.lane_state) {
    after.lane_state = *request.lane_state;
    after.state_changed_at_ms = now;
    after.state_reason = request.reason;
  }
  if (request.fairness) after.fairness = *request.fairness;
  if (request.namespace_weights) after.namespace_weights = *request.namespace_weights;

  json::object details{{"lane_id", request.lane_id}, {"old", settings_of(before)}, {"new", settings_of(after)}};
  if (request.reason) details["reason"] = *request.reason;
  writes.lane(std::move(after));
  writes.append(operator_event("default", "lane_configured", op.caller, std::move(details), now));
  return {writes.lanes.back(), std::move(writes)};
}

}  // namespace ff::core
