#include "store/packed_row.h"

#include "core/access.h"
#include "core/bytes.h"
#include "core/ids.h"
#include "core/json.h"
#include "core/policy.h"
#include "core/state.h"

#include <array>

namespace ff::store {
namespace {

namespace json = boost::json;
using core::ExecutionRecord;

// Fields that have columns of their own and are never found in the details.
constexpr std::array kColumns = {std::string_view("created_at_ms"), std::string_view("started_at_ms"),
                                 std::string_view("retain_until_ms"), std::string_view("last_mutation_at_ms"),
                                 std::string_view("total_attempt_count"), std::string_view("current_lease_epoch")};
constexpr std::array kLeaseColumns = {std::string_view("current_lease_id"), std::string_view("current_worker_id"),
                                      std::string_view("current_worker_instance_id"),
                                      std::string_view("lease_ttl_ms"), std::string_view("lease_acquired_at_ms"),
                                      std::string_view("lease_expires_at_ms"), std::string_view("claim_key")};
constexpr std::array kAttemptColumns = {std::string_view("attempt_id"), std::string_view("attempt_type"),
                                        std::string_view("lease_id"), std::string_view("worker_id"),
                                        std::string_view("worker_instance_id")};

/// What an attempt looks like when nothing unusual happened, from the columns alone.
Attempt expected_attempt(const ExecutionRecord& record) {
  const StateVector& s = record.state;
  Attempt attempt;
  attempt.attempt_index = record.counters.total_attempt_count - 1;
  attempt.lease_epoch = record.counters.current_lease_epoch;
  attempt.created_at_ms = attempt.started_at_ms = record.times.started_at_ms.value_or(0);
  attempt.version = 1;
  auto over = [&](AttemptRecordState state, AttemptOutcome outcome, ReleaseOp op) {
    attempt.attempt_state = state;
    attempt.outcome = outcome;
    attempt.release_op = op;
    attempt.released_lease_epoch = attempt.lease_epoch;
    attempt.version = 2;
  };
  if (s.attempt_state == AttemptState::pending_retry_attempt)
    over(AttemptRecordState::ended_failure, AttemptOutcome::retry, ReleaseOp::fail_retry);
  switch (s.terminal_outcome) {
    case TerminalOutcome::none: break;
    case TerminalOutcome::success:
      over(AttemptRecordState::ended_success, AttemptOutcome::success, ReleaseOp::complete);
      break;
    case TerminalOutcome::failed:
      over(AttemptRecordState::ended_failure, AttemptOutcome::failed, ReleaseOp::fail_terminal);
      break;
    case TerminalOutcome::cancelled:
    case TerminalOutcome::skipped:
      over(AttemptRecordState::ended_cancelled, AttemptOutcome::cancelled, ReleaseOp::cancel);
      break;
    case TerminalOutcome::expired:
      over(AttemptRecordState::ended_failure, AttemptOutcome::expired, ReleaseOp::expire);
      break;
  }
  if (s.lifecycle_phase == LifecyclePhase::terminal) attempt.ended_at_ms = record.times.completed_at_ms;
  return attempt;
}

/// Fills the fields that follow from others, as far as they follow.
void fill_expected(ExecutionRecord& record) {
  record.times.last_transition_at_ms = record.times.last_mutation_at_ms;
  if (record.is_terminal()) record.times.completed_at_ms = record.times.last_transition_at_ms;
  record.counters.claim_count = static_cast<std::uint32_t>(record.counters.current_lease_epoch);
  if (record.lease) {
    core::LeaseFields& lease = *record.lease;
    lease.lease_last_renewed_at_ms = lease.lease_expires_at_ms - lease.lease_ttl_ms;
    lease.lease_renewal_deadline_ms = lease.lease_last_renewed_at_ms + lease.lease_ttl_ms * 2LL / 3;
  }
  if (record.counters.total_attempt_count == 0) return;
  record.attempt = expected_attempt(record);
}

/// A record that has the columns of `record` and expects everything else. Texts that are columns are left out.
ExecutionRecord expectation(const ExecutionRecord& record) {
  ExecutionRecord expected;
  expected.state = record.state;
  expected.counters.total_attempt_count = record.counters.total_attempt_count;
  expected.counters.current_lease_epoch = record.counters.current_lease_epoch;
  expected.times.created_at_ms = record.times.created_at_ms;
  expected.times.started_at_ms = record.times.started_at_ms;
  expected.times.retain_until_ms = record.times.retain_until_ms;
  expected.times.last_mutation_at_ms = record.times.last_mutation_at_ms;
  if (record.lease) {
    core::LeaseFields& lease = expected.lease.emplace();
    lease.lease_ttl_ms = record.lease->lease_ttl_ms;
    lease.lease_acquired_at_ms = record.lease->lease_acquired_at_ms;
    lease.lease_expires_at_ms = record.lease->lease_expires_at_ms;
  }
  fill_expected(expected);
  if (expected.attempt && expected.attempt->release_op) expected.attempt->released_lease_id = record.attempt->lease_id;
  if (record.attempt && record.state.attempt_state != AttemptState::pending_retry_attempt &&
      record.state.attempt_state != AttemptState::pending_replay_attempt)
    expected.current_attempt_id = record.attempt->attempt_id;
  return expected;
}

template <const auto& kHaveColumns, class T>
void add_differences(json::object& out, const T& own, const T& expected, std::string_view prefix = "") {
  if (own == expected) return;
  core::for_each_field_pair<kHaveColumns>(own, expected, [&](std::string_view name, const auto& a, const auto& b) {
    if (a == b) return;
    out.emplace(prefix.empty() ? std::string(name) : fmt::format("{}{}", prefix, name), core::to_value(a));
  });
}

std::string details_of(const ExecutionRecord& record) {
  const ExecutionRecord expected = expectation(record);
  json::object out;
  add_differences<kColumns>(out, record.counters, expected.counters);
  add_differences<kColumns>(out, record.times, expected.times);
  add_differences<kColumns>(out, record.timers, expected.timers);
  add_differences<kColumns>(out, record.hold, expected.hold);
  add_differences<kColumns>(out, record.progress, expected.progress);
  add_differences<kColumns>(out, record.ending, expected.ending);
  add_differences<kColumns>(out, record.pending, expected.pending);
  add_differences<kColumns>(out, record.limits, expected.limits);
  if (record.current_attempt_id != expected.current_attempt_id)
    out.emplace("current_attempt_id", core::to_value(record.current_attempt_id));
  if (record.lease) add_differences<kLeaseColumns>(out, *record.lease, *expected.lease);
  if (record.attempt) add_differences<kAttemptColumns>(out, *record.attempt, *expected.attempt, "attempt.");
  return out.empty() ? std::string() : json::serialize(out);
}

/// Puts the named value back where `add_differences` found it; null unsets an optional.
template <class T>
bool restore(T& group, std::string_view name, const json::value& value, bool& good) {
  bool known = false;
  core::for_each_field(group, [&](std::string_view field, auto& member) {
    if (field != name) return;
    known = true;
    if constexpr (core::is_optional<std::remove_cvref_t<decltype(member)>>) {
      if (value.is_null()) {
        member.reset();
        return;
      }
    }
    core::JsonReader reader;
    good = reader.read(value, member);
  });
  return known;
}

Result<void> apply_details(ExecutionRecord& record, std::string_view text) {
  if (text.empty()) return {};
  auto parsed = core::parse_json(text);
  if (!parsed || !parsed->is_object()) return std::unexpected(core::corruption("ff_exec_core", "details", "not JSON"));
  for (const auto& [key, value] : parsed->get_object()) {
    const std::string_view name(key);
    bool good = true, known = false;
    if (name.starts_with("attempt.")) {
      known = record.attempt && restore(*record.attempt, name.substr(8), value, good);
    } else if (name == "current_attempt_id") {
      known = true;
      core::JsonReader reader;
      if (value.is_null())
        record.current_attempt_id.reset();
      else
        good = reader.read(value, record.current_attempt_id);
    } else {
      known = restore(record.counters, name, value, good) || restore(record.times, name, value, good) ||
              restore(record.timers, name, value, good) || restore(record.hold, name, value, good) ||
              restore(record.progress, name, value, good) || restore(record.ending, name, value, good) ||
              restore(record.pending, name, value, good) || restore(record.limits, name, value, good) ||
              (record.lease && restore(*record.lease, name, value, good));
    }
    if (!known || !good) return std::unexpected(core::corruption("ff_exec_core", name, json::serialize(value)));
  }
  return {};
}

// ---- the packed columns -------------------------------------------------------------------------------------------

constexpr std::size_t kIdsBytes = 32, kLeaseBytes = kIdsBytes + 4 + 8 + 8;

using core::get;
using core::get_uuid;
using core::put;

template <class E>
std::int64_t bits_of(E value, StateBits bits) {
  return static_cast<std::int64_t>(value) << bits.shift;
}

std::int64_t pack_state(const ExecutionRecord& record) {
  const StateVector& s = record.state;
  return bits_of(s.lifecycle_phase, kPhaseBits) | bits_of(s.ownership_state, kOwnershipBits) |
         bits_of(s.eligibility_state, kEligibilityBits) | bits_of(s.blocking_reason, kReasonBits) |
         bits_of(s.terminal_outcome, kOutcomeBits) | bits_of(s.attempt_state, kAttemptStateBits) |
         bits_of(s.public_state, kPublicStateBits) |
         (record.attempt ? bits_of(record.attempt->attempt_type, kAttemptTypeBits) : 0) |
         bits_of(record.tags ? 1 : 0, kTagsBits);
}

template <class E>
bool to_enum(std::int64_t state, StateBits bits, E last, E& to) {
  const std::int64_t number = get_bits(state, bits);
  to = static_cast<E>(number);
  return number <= static_cast<std::int64_t>(last);
}

Result<StateVector> unpack_state(std::int64_t state) {
  StateVector s;
  auto bad = [&](std::string_view field, StateBits bits) {
    return std::unexpected(core::corruption("ff_exec_core", field, std::to_string(get_bits(state, bits))));
  };
  to_enum(state, kPhaseBits, LifecyclePhase::terminal, s.lifecycle_phase);
  to_enum(state, kOwnershipBits, OwnershipState::lease_revoked, s.ownership_state);
  if (!to_enum(state, kEligibilityBits, EligibilityState::not_applicable, s.eligibility_state))
    return bad("eligibility_state", kEligibilityBits);
  if (!to_enum(state, kReasonBits, BlockingReason::paused_by_policy, s.blocking_reason))
    return bad("blocking_reason", kReasonBits);
  if (!to_enum(state, kOutcomeBits, TerminalOutcome::skipped, s.terminal_outcome))
    return bad("terminal_outcome", kOutcomeBits);
  if (!to_enum(state, kAttemptStateBits, AttemptState::attempt_terminal, s.attempt_state))
    return bad("attempt_state", kAttemptStateBits);
  if (!to_enum(state, kPublicStateBits, PublicState::skipped, s.public_state))
    return bad("public_state", kPublicStateBits);
  const auto derived = core::derive_public_state(s);
  if (!derived) return std::unexpected(derived.error());
  if (*derived != s.public_state) return bad("public_state", kPublicStateBits);
  return s;
}

std::string_view keep(std::string& buffer) { return buffer; }

}  // namespace

PackedRow pack(const ExecutionRecord& record, PackBuffer& buffer) {
  PackedRow row;
  row.id = record.id;
  row.priority = record.priority;
  row.created_at_ms = record.times.created_at_ms;
  row.candidate = core::is_candidate(record);
  row.due_at_ms = core::due_at(record);
  row.retain_until_ms = record.times.retain_until_ms;
  row.bucket = static_cast<std::int64_t>(core::bucket_of(record));
  row.state = pack_state(record);
  row.total_attempt_count = record.counters.total_attempt_count;
  row.current_lease_epoch = record.counters.current_lease_epoch;
  buffer.lease.clear();
  buffer.worker.clear();
  if (record.attempt) {
    buffer.lease.append(core::raw_bytes(record.attempt->lease_id)).append(core::raw_bytes(record.attempt->attempt_id));
    buffer.worker.append(record.attempt->worker_id).append(1, '\n').append(record.attempt->worker_instance_id);
  }
  if (record.lease) {
    put(buffer.lease, record.lease->lease_ttl_ms);
    put(buffer.lease, record.lease->lease_acquired_at_ms);
    put(buffer.lease, record.lease->lease_expires_at_ms);
    if (record.lease->claim_key) row.claim_key = *record.lease->claim_key;
  }
  row.lease = keep(buffer.lease);
  row.worker = keep(buffer.worker);
  row.started_at_ms = record.times.started_at_ms;
  row.last_mutation_at_ms = record.times.last_mutation_at_ms;
  row.version = record.version;
  buffer.details = details_of(record);
  row.details = keep(buffer.details);
  return row;
}

Result<void> unpack(const PackedRow& row, core::QueueRef queue, ExecutionRecord& record) {
  record.id = row.id;
  record.queue = std::move(queue);
  record.priority = row.priority;
  auto state = unpack_state(row.state);
  if (!state) return std::unexpected(state.error());
  record.state = *state;
  record.counters.total_attempt_count = row.total_attempt_count;
  record.counters.current_lease_epoch = row.current_lease_epoch;
  record.times.created_at_ms = row.created_at_ms;
  record.times.started_at_ms = row.started_at_ms;
  record.times.retain_until_ms = row.retain_until_ms;
  record.times.last_mutation_at_ms = row.last_mutation_at_ms;
  record.version = row.version;
  const bool owned = record.state.ownership_state != OwnershipState::unowned;
  const bool tried = row.total_attempt_count > 0;
  const std::size_t newline = row.worker.find('\n');
  if (row.lease.size() != (owned ? kLeaseBytes : tried ? kIdsBytes : 0))
    return std::unexpected(core::corruption("ff_exec_core", "lease", fmt::format("{} bytes", row.lease.size())));
  if (tried && newline == std::string_view::npos)
    return std::unexpected(core::corruption("ff_exec_core", "worker", row.worker));
  if (owned) {
    core::LeaseFields& lease = record.lease.emplace();
    lease.current_lease_id = get_uuid(row.lease, 0);
    lease.current_worker_id = row.worker.substr(0, newline);
    lease.current_worker_instance_id = row.worker.substr(newline + 1);
    lease.lease_ttl_ms = get<std::uint32_t>(row.lease, kIdsBytes);
    lease.lease_acquired_at_ms = get<TimeMs>(row.lease, kIdsBytes + 4);
    lease.lease_expires_at_ms = get<TimeMs>(row.lease, kIdsBytes + 12);
    if (row.claim_key) lease.claim_key = std::string(*row.claim_key);
  }
  fill_expected(record);
  if (record.attempt) {
    Attempt& attempt = *record.attempt;
    attempt.lease_id = get_uuid(row.lease, 0);
    attempt.attempt_id = get_uuid(row.lease, 16);
    to_enum(row.state, kAttemptTypeBits, AttemptType::replay, attempt.attempt_type);
    attempt.worker_id = row.worker.substr(0, newline);
    attempt.worker_instance_id = row.worker.substr(newline + 1);
    if (attempt.release_op) attempt.released_lease_id = attempt.lease_id;
    if (record.state.attempt_state != AttemptState::pending_retry_attempt &&
        record.state.attempt_state != AttemptState::pending_replay_attempt)
      record.current_attempt_id = attempt.attempt_id;
  }
  return apply_details(record, row.details);
}

std::string pack_attempt(const Attempt& attempt) { return core::to_json_text(attempt); }

Result<Attempt> unpack_attempt(std::string_view text) {
  Attempt attempt;
  core::JsonReader reader;
  auto value = core::parse_json(text);
  if (!value || !reader.read(*value, attempt))
    return std::unexpected(core::corruption("ff_attempt", value ? reader.problem().path : "attempt", "unreadable"));
  return attempt;
}

std::string pack_tags(const Tags& tags) { return json::serialize(core::to_value(tags)); }

Result<std::shared_ptr<const Tags>> unpack_tags(std::string_view text) {
  if (text.empty()) return nullptr;
  auto tags = std::make_shared<Tags>();
  core::JsonReader reader;
  auto value = core::parse_json(text);
  if (!value || !reader.read(*value, *tags))
    return std::unexpected(core::corruption("ff_exec_info", "tags", "unreadable"));
  return tags;
}

std::string pack_origin(const core::ExecutionInfo& info) {
  json::object out;
  if (info.creator_identity) out["creator_identity"] = *info.creator_identity;
  if (info.idempotency_key) out["idempotency_key"] = *info.idempotency_key;
  if (info.traceparent) out["traceparent"] = *info.traceparent;
  return out.empty() ? std::string() : json::serialize(out);
}

Result<core::ExecutionInfo> unpack_info(std::string_view policy, std::string_view origin) {
  static const auto kDefault = std::make_shared<const Policy>(core::default_policy());
  core::ExecutionInfo info;
  info.policy = kDefault;
  if (!policy.empty()) {
    auto parsed = core::policy_from_stored(policy);
    if (!parsed) return std::unexpected(parsed.error());
    info.policy = std::make_shared<const Policy>(std::move(*parsed));
  }
  if (origin.empty()) return info;
  auto value = core::parse_json(origin);
  if (!value || !value->is_object()) return std::unexpected(core::corruption("ff_exec_info", "origin", "not JSON"));
  auto text = [&](std::string_view name) -> std::optional<std::string> {
    const json::value* item = value->get_object().if_contains(name);
    if (!item || !item->is_string()) return std::nullopt;
    return std::string(item->get_string());
  };
  info.creator_identity = text("creator_identity");
  info.idempotency_key = text("idempotency_key");
  info.traceparent = text("traceparent");
  return info;
}

}  // namespace ff::store
