#include "core/submission.h"

#include "core/capabilities.h"
#include "core/json.h"
#include "core/ops/change.h"
#include "core/policy.h"

#include <algorithm>

namespace ff::core {
namespace {

Fault check_arguments(const Submission& s, const RuleSettings& settings, const Partitioning& partitioning) {
  if (s.execution_id)
    if (auto fault = check_partition(*s.execution_id, partitioning)) return fault;
  if (auto fault = check_lane(s.lane_id)) return fault;
  if (auto fault = check_name("namespace", s.namespace_.value_or(settings.namespace_))) return fault;
  if (auto fault = check_kind("execution_kind", s.execution_kind)) return fault;
  if (auto fault = check_label("content_type", s.content_type)) return fault;
  if (auto fault = check_label("creator_identity", s.creator_identity)) return fault;
  if (auto fault = check_key(s.idempotency_key.value_or(""))) return fault;
  if (auto fault = check_payload("payload", s.payload, settings.payload_bytes_max)) return fault;
  if (s.execution_id && s.idempotency_key && !s.idempotency_key->empty())
    return invalid_input("idempotency_key", "with_execution_id",
                         "Give an execution_id of your own or an idempotency_key, not both: each makes a repeat safe.");
  if (s.delay_until_ms && s.delay_ms)
    return invalid_input("delay_ms", "with_delay_until_ms", "Give delay_until_ms or delay_ms, not both.");
  return std::nullopt;
}

std::optional<std::string> if_set(const std::optional<std::string>& text) {
  return text && !text->empty() ? text : std::nullopt;
}

Result<std::shared_ptr<const Policy>> frozen_policy(Submission& s, const RuleSettings& settings,
                                                    const CommonParts& common) {
  if (!s.policy && common.plain_policy) return common.plain_policy;
  auto policy = check_policy(std::move(s.policy).value_or(Policy{}));
  if (!policy) return std::unexpected(policy.error());
  return std::make_shared<const Policy>(freeze_policy(*policy, settings));
}

QueueRef queue_of(const Submission& s, const Policy& policy, const RuleSettings& settings, const CommonParts& common) {
  static const std::vector<std::string> kNone;
  const auto& routing = policy.routing_requirements;
  const auto& required = routing && routing->required_capabilities ? *routing->required_capabilities : kNone;
  const std::string& namespace_ = s.namespace_ ? *s.namespace_ : settings.namespace_;
  if (const Queue* known = common.queue.get();
      known && known->lane_id == s.lane_id && known->execution_kind == s.execution_kind &&
      known->namespace_ == namespace_ && known->required_capabilities == required)
    return common.queue;
  return make_queue(s.lane_id, namespace_, s.execution_kind, required);
}

}  // namespace

Result<CheckedSubmission> check_submission(Submission&& s, const RuleSettings& settings,
                                           const Partitioning& partitioning, const CommonParts& common) {
  if (auto fault = check_arguments(s, settings, partitioning)) return std::unexpected(std::move(*fault));
  CheckedSubmission checked;
  checked.idempotency_key = s.idempotency_key.value_or("");
  if (!checked.idempotency_key.empty()) checked.content = submission_content(s);
  auto frozen = frozen_policy(s, settings, common);
  if (!frozen) return std::unexpected(frozen.error());
  const Policy* policy = frozen->get();
  if (auto fault = check_tags(s.tags)) return std::unexpected(std::move(*fault));
  if (policy->budget_ids && !policy->budget_ids->empty())
    return fail(ErrorCode::budget_not_found, fmt::format("There is no budget {}.", policy->budget_ids->front().to_string()),
                {{"budget_id", policy->budget_ids->front().to_string()}});
  if (policy->quota_id)
    return fail(ErrorCode::quota_policy_not_found, fmt::format("There is no quota {}.", policy->quota_id->to_string()),
                {{"quota_id", policy->quota_id->to_string()}});

  Create& create = checked.create;
  if (s.execution_id) create.id = *s.execution_id;
  create.own_id = s.execution_id.has_value();
  create.queue = queue_of(s, *policy, settings, common);
  create.priority = clamp_priority(s.priority.value_or(*policy->priority));
  create.limits = policy_numbers(*policy);
  create.delay_until_ms = s.delay_until_ms;
  create.delay_ms = s.delay_ms;
  if (!create.delay_until_ms && !create.delay_ms) create.delay_until_ms = policy->delay_until;
  create.execution_deadline_at_ms = s.execution_deadline_at_ms;
  if (policy->timeout_policy) create.execution_deadline_ms = policy->timeout_policy->execution_deadline_ms;
  create.dedup_window_ms = *policy->dedup_window_ms;
  create.info.policy = std::move(*frozen);
  create.info.creator_identity = if_set(s.creator_identity);
  create.info.idempotency_key = if_set(s.idempotency_key);
  if (s.traceparent && is_traceparent(*s.traceparent)) create.info.traceparent = s.traceparent;
  if (s.content_type && !s.content_type->empty()) create.info.payload_content_type = *s.content_type;
  if (s.payload) {
    create.info.payload_bytes = s.payload->size();
    create.payload = std::make_shared<const Bytes>(std::move(*s.payload));
  }
  if (!s.tags.empty()) create.tags = std::make_shared<const Tags>(std::move(s.tags));
  return checked;
}

std::string submission_content(const Submission& s) {
  // Length-prefixed, so that no two different submissions share a text.
  std::string text;
  auto add = [&](std::string_view part) { text += fmt::format("{}:{}", part.size(), part); };
  add(s.execution_kind);
  add(s.lane_id);
  add(s.payload ? "payload" : "none");
  add(s.payload.value_or(Bytes{}));
  add(canonical_json(to_value(s.policy.value_or(Policy{}))));
  add(canonical_json(to_value(s.tags)));
  return text;
}

void place_submission(CheckedSubmission& checked, const Uuid& fresh, const Partitioning& partitioning) {
  Create& create = checked.create;
  if (create.own_id) return;
  create.id.uuid = fresh;
  if (checked.idempotency_key.empty()) {
    create.id.partition = solo_partition(create.queue->lane_id, fresh, partitioning);
    return;
  }
  create.id.partition = keyed_partition(create.queue->namespace_, checked.idempotency_key, partitioning);
  create.key = IdempotencyId{create.queue->namespace_, std::string(kCreateOperation), checked.idempotency_key};
}

Result<Claim> check_claim(const ClaimRequest& request, const RuleSettings& settings) {
  auto refuse = [](Fault fault) { return std::unexpected(std::move(*fault)); };
  if (auto fault = check_name("worker_id", request.worker_id)) return refuse(std::move(fault));
  if (auto fault = check_name("worker_instance_id", request.worker_instance_id)) return refuse(std::move(fault));
  if (request.namespace_)
    if (auto fault = check_name("namespace", *request.namespace_)) return refuse(std::move(fault));
  if ((request.lanes.empty() && !request.execution_id) || request.lanes.size() > kClaimLanesMax)
    return refuse(invalid_input("lanes", "out_of_range",
                                fmt::format("A claim names 1 to {} lanes; this one names {}.", kClaimLanesMax,
                                            request.lanes.size())));
  for (const auto& lane : request.lanes)
    if (auto fault = check_lane(lane)) return refuse(std::move(fault));
  auto capabilities = normalize_capabilities("worker", request.capabilities);
  if (!capabilities) return std::unexpected(capabilities.error());
  if (request.kinds.size() > kClaimKindsMax)
    return refuse(invalid_input("kinds", "too_many", fmt::format("A claim names at most {} kinds.", kClaimKindsMax)));
  for (const auto& kind : request.kinds)
    if (auto fault = check_kind("kinds", kind)) return refuse(std::move(fault));
  if (request.max < 1 || request.max > kClaimMax)
    return refuse(invalid_input("max", "out_of_range",
                                fmt::format("max is {}; it may be 1 to {}.", request.max, kClaimMax)));
  if (auto fault = check_wait(request.wait_ms)) return refuse(std::move(fault));
  const std::uint32_t ttl = request.lease_ttl_ms.value_or(settings.lease_ttl_ms);
  if (auto fault = check_ttl(ttl)) return refuse(std::move(fault));
  if (auto fault = check_key(request.idempotency_key.value_or(""))) return refuse(std::move(fault));

  Claim claim;
  claim.worker.worker_id = request.worker_id;
  claim.worker.worker_instance_id = request.worker_instance_id;
  for (const auto& lane : request.lanes)
    if (std::find(claim.worker.lanes.begin(), claim.worker.lanes.end(), lane) == claim.worker.lanes.end())
      claim.worker.lanes.push_back(lane);
  claim.worker.capabilities.insert(capabilities->begin(), capabilities->end());
  claim.worker.kinds.insert(request.kinds.begin(), request.kinds.end());
  claim.worker.namespace_scope = request.namespace_;
  claim.max = request.max;
  claim.lease_ttl_ms = ttl;
  claim.claim_key = if_set(request.idempotency_key);
  return claim;
}

}  // namespace ff::core
