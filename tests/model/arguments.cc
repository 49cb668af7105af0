#include "model/arguments.h"

#include "core/ids.h"

#include <fmt/format.h>

namespace ff::test {
namespace {

constexpr core::Partitioning kPartitioning{.lane_spread = 1};
constexpr std::uint16_t kKeepsTime = 5;

bool keeps_time(std::uint16_t partition) { return partition % kKeepsTime == 0; }

const std::vector<std::string> kNamespaces = {"default", "tenant-a", "tenant-b"};

}  // namespace

Arguments::Arguments(Random& random) : random_(random) {
  for (int i = 0; lanes_.size() < 3; ++i)
    if (std::string name = fmt::format("lane{}", i); keeps_time(core::solo_partition(name, {}, kPartitioning)))
      lanes_.push_back(std::move(name));
  for (const auto& name : kNamespaces)
    for (int i = 0; keys_[name].size() < 3; ++i)
      if (std::string key = fmt::format("order-{}", i); keeps_time(core::keyed_partition(name, key, kPartitioning)))
        keys_[name].push_back(std::move(key));
}

std::optional<std::string> Arguments::namespace_() {
  if (random_.chance(0.5)) return std::nullopt;
  return random_.chance(0.97) ? random_.pick(kNamespaces) : std::string("bad name");
}

std::optional<Bytes> Arguments::bytes() {
  switch (random_.below(8)) {
    case 0: return std::nullopt;
    case 1: return Bytes();
    case 2: return Bytes("\0\xff\xfe", 3);
    case 3: return random_.chance(0.2) ? Bytes(kModelPayloadMax + 1, 'x') : Bytes(100, 'y');
    default: return fmt::format("{{\"n\":{}}}", random_.below(100));
  }
}

std::optional<std::string> Arguments::text() {
  switch (random_.below(4)) {
    case 0: return std::nullopt;
    case 1: return fmt::format("reason {}", random_.below(5));
    case 2: return "\u6771\u4eac";
    default: return "because";
  }
}

std::vector<std::string> Arguments::capabilities() {
  if (random_.chance(0.03)) return {"bad token"};
  std::vector<std::string> tokens;
  for (const char* token : {"gpu", "cuda", "eu"})
    if (random_.chance(0.4)) tokens.emplace_back(token);
  return tokens;
}

Policy Arguments::policy() {
  Policy policy;
  RetryPolicy& retry = policy.retry_policy.emplace();
  if (random_.chance(0.9)) retry.max_retries = static_cast<std::uint32_t>(random_.below(4));
  Backoff& backoff = retry.backoff.emplace();
  if (random_.chance(0.5)) {
    backoff.type = BackoffType::fixed;
    backoff.delay_ms = random_.pick(std::vector<std::uint64_t>{0, 500, 5'000});
  } else {
    backoff.type = BackoffType::exponential;
    backoff.initial_delay_ms = random_.below(3'000);
    backoff.multiplier = random_.pick(std::vector<double>{1.0, 1.5, 3.0, random_.chance(0.1) ? 0.5 : 2.0});
    backoff.jitter = false;
  }
  if (random_.chance(0.2)) retry.retryable_categories = std::vector<std::string>{"timeout", "billing"};
  if (random_.chance(0.4)) {
    TimeoutPolicy& timeouts = policy.timeout_policy.emplace();
    if (random_.chance(0.6)) timeouts.attempt_timeout_ms = 1'000 + random_.below(60'000);
    if (random_.chance(0.4)) timeouts.execution_deadline_ms = 1'000 + random_.below(300'000);
  }
  if (random_.chance(0.5))
    policy.lease_loss_policy = random_.chance(0.5) ? LeaseLossPolicy::retry : LeaseLossPolicy::reclaim;
  if (random_.chance(0.4)) policy.max_reclaim_count = static_cast<std::uint32_t>(random_.below(3));
  if (random_.chance(0.3)) policy.max_replay_count = static_cast<std::uint32_t>(random_.below(3));
  if (random_.chance(0.3)) policy.dedup_window_ms = random_.pick(std::vector<std::uint64_t>{0, 1'000, 60'000});
  if (random_.chance(0.3)) policy.retention_ttl_ms = 1 + random_.below(100'000);
  if (random_.chance(0.3)) policy.routing_requirements.emplace().required_capabilities = capabilities();
  if (random_.chance(0.2)) policy.priority = static_cast<std::int32_t>(random_.between(-10, 10'000));
  return policy;
}

ExecutionId Arguments::own_id() {
  ExecutionId id;
  id.partition = static_cast<std::uint16_t>(random_.below(51) * kKeepsTime);
  if (random_.chance(0.02)) id.partition = 300;
  random_.fill(id.uuid.bytes);
  return id;
}

Submission Arguments::submission(TimeMs now) {
  Submission submission;
  submission.execution_kind = random_.chance(0.98) ? kind() : std::string();
  submission.lane_id = lane();
  submission.namespace_ = namespace_();
  submission.payload = bytes();
  if (random_.chance(0.2)) submission.content_type = "text/plain";
  if (random_.chance(0.5)) submission.priority = static_cast<std::int32_t>(random_.below(3) * 100) - 5;
  const bool keyed = random_.chance(0.25);
  if (keyed) {
    // A refused namespace has no keys of its own.
    const auto known = keys_.find(submission.namespace_.value_or("default"));
    submission.idempotency_key = random_.pick(known == keys_.end() ? keys_.begin()->second : known->second);
  }
  if (random_.chance(keyed ? 0.05 : 0.7)) submission.execution_id = own_id();
  if (random_.chance(0.1)) submission.creator_identity = "somebody";
  if (random_.chance(0.1)) submission.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  if (random_.chance(0.4)) submission.tags["team"] = random_.chance(0.5) ? "red" : "blue";
  if (random_.chance(0.1)) submission.tags[random_.chance(0.2) ? ".bad" : "app.task"] = "x";
  if (random_.chance(0.8)) submission.policy = policy();
  if (random_.chance(0.2)) submission.delay_ms = random_.below(20'000);
  if (random_.chance(0.1)) submission.delay_until_ms = now + random_.between(-5'000, 60'000);
  if (random_.chance(0.1)) submission.execution_deadline_at_ms = now + random_.between(-5'000, 100'000);
  return submission;
}

ClaimRequest Arguments::claim() {
  ClaimRequest request;
  request.worker_id = "pool";
  request.worker_instance_id = worker();
  // Which of several lanes is first is the engine's own affair: such a claim takes all there is.
  const bool several = random_.chance(0.4);
  request.lanes = several ? lanes_ : std::vector{random_.pick(lanes_)};
  if (random_.chance(0.02)) request.lanes = {"bad\nlane"};
  request.capabilities = capabilities();
  if (random_.chance(0.2)) request.kinds = {kind()};
  if (random_.chance(0.2)) request.namespace_ = namespace_();
  request.max = static_cast<std::uint32_t>(several ? 1'000 : random_.chance(0.98) ? 1 + random_.below(4) : 0);
  if (random_.chance(0.6)) request.lease_ttl_ms = random_.pick(std::vector<std::uint32_t>{999, 1'000, 5'000, 60'000});
  if (random_.chance(0.1)) request.idempotency_key = random_.pick(std::vector<std::string>{"k1", "k2"});
  return request;
}

ClaimRequest Arguments::claim_named(const ExecutionId& id) {
  ClaimRequest request = claim();
  request.lanes.clear();
  request.kinds.clear();
  request.max = 1;
  request.execution_id = id;
  return request;
}

ListExecutions Arguments::list(TimeMs now) {
  ListExecutions query;
  ExecutionFilter& filter = query.filter;
  if (random_.chance(0.3)) filter.namespace_ = namespace_();
  if (random_.chance(0.3)) filter.lane = lane();
  if (random_.chance(0.2)) filter.kind = kind();
  if (random_.chance(0.4))
    for (int i = 0; i < 12; ++i)
      if (random_.chance(0.4)) filter.state.push_back(static_cast<PublicState>(i));
  if (random_.chance(0.2)) filter.tags["team"] = random_.chance(0.5) ? "red" : "blue";
  if (random_.chance(0.1)) filter.worker = worker();
  if (random_.chance(0.1)) filter.created_after_ms = now - static_cast<TimeMs>(random_.below(100'000));
  if (random_.chance(0.1)) filter.created_before_ms = now - static_cast<TimeMs>(random_.below(100'000));
  if (random_.chance(0.1)) filter.blocking_reason = BlockingReason::waiting_for_retry_backoff;
  query.limit = random_.pick(std::vector<std::uint32_t>{0, 1, 3, 10, 500, 501});
  query.order = random_.pick(std::vector{ListOrder::newest_first, ListOrder::oldest_first, ListOrder::priority});
  if (random_.chance(0.03)) query.cursor = "no cursor";
  return query;
}

ListLeases Arguments::leases(TimeMs now) {
  ListLeases query;
  if (random_.chance(0.4)) query.expired_before_ms = now + random_.between(-10'000, 60'000);
  if (random_.chance(0.3)) query.worker = worker();
  if (random_.chance(0.3)) query.namespace_ = namespace_();
  query.limit = random_.pick(std::vector<std::uint32_t>{1, 2, 50});
  return query;
}

ConfigureLane Arguments::lane_settings() {
  ConfigureLane request;
  request.lane_id = lane();
  // Mostly open, or the rest of the run has nothing to do.
  if (random_.chance(0.7))
    request.lane_state = random_.chance(0.7) ? LaneState::active : static_cast<LaneState>(random_.below(4));
  if (random_.chance(0.4)) request.fairness = random_.chance(0.5) ? LaneFairness::fair : LaneFairness::strict;
  if (random_.chance(0.4))
    request.namespace_weights = std::map<std::string, std::uint32_t>{
        {"tenant-a", static_cast<std::uint32_t>(random_.below(4))}, {"default", 1}};
  request.reason = text();
  return request;
}

std::map<std::string, std::optional<std::string>> Arguments::tag_changes() {
  std::map<std::string, std::optional<std::string>> changes;
  if (random_.chance(0.7)) changes["team"] = random_.chance(0.5) ? std::optional<std::string>("red") : std::nullopt;
  if (random_.chance(0.5)) changes["app.task"] = "y";
  if (random_.chance(0.05)) changes["bad key"] = "z";
  return changes;
}

TimeMs Arguments::step_in_time() {
  return random_.pick(
      std::vector<TimeMs>{1, 10, 499, 999, 1'000, 1'001, 5'000, 5'001, 30'000, 30'001, 60'000, 400'000});
}

}  // namespace ff::test
