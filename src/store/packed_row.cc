#include "store/packed_row.h"

#include "core/access.h"
#include "core/json.h"
#include "core/policy.h"

#include <array>

namespace ff::store {
namespace {

namespace json = boost::json;
using core::ExecutionRecord;
using core::name_of;

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

template <std::size_t N>
bool in(const std::array<std::string_view, N>& columns, std::string_view name) {
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

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

template <class T, std::size_t N>
void add_differences(json::object& out, const T& own, const T& expected, std::string_view prefix,
                     const std::array<std::string_view, N>& columns) {
  core::for_each_field_pair(own, expected, [&](std::string_view name, const auto& a, const auto& b) {
    if (a == b || in(columns, name)) return;
    out.emplace(prefix.empty() ? std::string(name) : fmt::format("{}{}", prefix, name), core::to_value(a));
  });
}

std::string details_of(const ExecutionRecord& record) {
  const ExecutionRecord expected = expectation(record);
  json::object out;
  add_differences(out, record.counters, expected.counters, "", kColumns);
  add_differences(out, record.times, expected.times, "", kColumns);
  add_differences(out, record.timers, expected.timers, "", kColumns);
  add_differences(out, record.hold, expected.hold, "", kColumns);
  add_differences(out, record.progress, expected.progress, "", kColumns);
  add_differences(out, record.ending, expected.ending, "", kColumns);
  add_differences(out, record.pending, expected.pending, "", kColumns);
  add_differences(out, record.limits, expected.limits, "", kColumns);
  if (record.current_attempt_id != expected.current_attempt_id)
    out.emplace("current_attempt_id", core::to_value(record.current_attempt_id));
  if (record.lease) add_differences(out, *record.lease, *expected.lease, "", kLeaseColumns);
  if (record.attempt) add_differences(out, *record.attempt, *expected.attempt, "attempt.", kAttemptColumns);
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

template <class E>
bool to_enum(std::int64_t number, E& to) {
  auto found = core::enum_from_number<E>(number);
  if (found) to = *found;
  return found.has_value();
}

Result<StateVector> unpack_state(const PackedRow& row) {
  StateVector s;
  auto bad = [](std::string_view field, std::int64_t value) {
    return std::unexpected(core::corruption("ff_exec_core", field, std::to_string(value)));
  };
  if (!to_enum(row.lifecycle_phase, s.lifecycle_phase)) return bad("lifecycle_phase", row.lifecycle_phase);
  if (!to_enum(row.ownership_state, s.ownership_state)) return bad("ownership_state", row.ownership_state);
  if (!to_enum(row.eligibility_state, s.eligibility_state)) return bad("eligibility_state", row.eligibility_state);
  if (!to_enum(row.blocking_reason, s.blocking_reason)) return bad("blocking_reason", row.blocking_reason);
  if (!to_enum(row.terminal_outcome, s.terminal_outcome)) return bad("terminal_outcome", row.terminal_outcome);
  if (!to_enum(row.attempt_state, s.attempt_state)) return bad("attempt_state", row.attempt_state);
  if (!to_enum(row.public_state, s.public_state)) return bad("public_state", row.public_state);
  return s;
}

}  // namespace

PackedRow pack(const ExecutionRecord& record) {
  PackedRow row;
  row.id = record.id;
  row.priority = record.priority;
  row.created_at_ms = record.times.created_at_ms;
  row.candidate = core::is_candidate(record);
  row.due_at_ms = core::due_at(record);
  row.retain_until_ms = record.times.retain_until_ms;
  row.bucket = static_cast<std::int64_t>(core::bucket_of(record));
  const StateVector& s = record.state;
  row.lifecycle_phase = static_cast<std::int64_t>(s.lifecycle_phase);
  row.ownership_state = static_cast<std::int64_t>(s.ownership_state);
  row.eligibility_state = static_cast<std::int64_t>(s.eligibility_state);
  row.blocking_reason = static_cast<std::int64_t>(s.blocking_reason);
  row.terminal_outcome = static_cast<std::int64_t>(s.terminal_outcome);
  row.attempt_state = static_cast<std::int64_t>(s.attempt_state);
  row.public_state = static_cast<std::int64_t>(s.public_state);
  row.total_attempt_count = record.counters.total_attempt_count;
  row.current_lease_epoch = record.counters.current_lease_epoch;
  if (record.attempt) {
    row.attempt_id = record.attempt->attempt_id;
    row.attempt_type = static_cast<std::int64_t>(record.attempt->attempt_type);
    row.lease_id = record.attempt->lease_id;
    row.worker_id = record.attempt->worker_id;
    row.worker_instance_id = record.attempt->worker_instance_id;
  }
  if (record.lease) {
    row.lease_ttl_ms = record.lease->lease_ttl_ms;
    row.lease_acquired_at_ms = record.lease->lease_acquired_at_ms;
    row.lease_expires_at_ms = record.lease->lease_expires_at_ms;
    if (record.lease->claim_key) row.claim_key = *record.lease->claim_key;
  }
  row.started_at_ms = record.times.started_at_ms;
  row.last_mutation_at_ms = record.times.last_mutation_at_ms;
  row.version = record.version;
  row.has_tags = record.tags != nullptr;
  row.details = details_of(record);
  return row;
}

Result<ExecutionRecord> unpack(const PackedRow& row, core::QueueRef queue) {
  ExecutionRecord record;
  record.id = row.id;
  record.queue = std::move(queue);
  record.priority = row.priority;
  auto state = unpack_state(row);
  if (!state) return std::unexpected(state.error());
  record.state = *state;
  record.counters.total_attempt_count = row.total_attempt_count;
  record.counters.current_lease_epoch = row.current_lease_epoch;
  record.times.created_at_ms = row.created_at_ms;
  record.times.started_at_ms = row.started_at_ms;
  record.times.retain_until_ms = row.retain_until_ms;
  record.times.last_mutation_at_ms = row.last_mutation_at_ms;
  record.version = row.version;
  if (record.state.ownership_state != OwnershipState::unowned) {
    if (!row.lease_id || !row.lease_ttl_ms || !row.lease_acquired_at_ms || !row.lease_expires_at_ms)
      return std::unexpected(core::corruption("ff_exec_core", "lease_id", "incomplete lease"));
    core::LeaseFields& lease = record.lease.emplace();
    lease.current_lease_id = *row.lease_id;
    lease.current_worker_id = row.worker_id;
    lease.current_worker_instance_id = row.worker_instance_id;
    lease.lease_ttl_ms = *row.lease_ttl_ms;
    lease.lease_acquired_at_ms = *row.lease_acquired_at_ms;
    lease.lease_expires_at_ms = *row.lease_expires_at_ms;
    if (row.claim_key) lease.claim_key = std::string(*row.claim_key);
  }
  fill_expected(record);
  if (record.attempt) {
    if (!row.attempt_id || !row.lease_id) return std::unexpected(core::corruption("ff_exec_core", "attempt_id", "missing"));
    Attempt& attempt = *record.attempt;
    attempt.attempt_id = *row.attempt_id;
    if (!to_enum(row.attempt_type, attempt.attempt_type))
      return std::unexpected(core::corruption("ff_exec_core", "attempt_type", std::to_string(row.attempt_type)));
    attempt.lease_id = *row.lease_id;
    attempt.worker_id = row.worker_id;
    attempt.worker_instance_id = row.worker_instance_id;
    if (attempt.release_op) attempt.released_lease_id = attempt.lease_id;
    if (record.state.attempt_state != AttemptState::pending_retry_attempt &&
        record.state.attempt_state != AttemptState::pending_replay_attempt)
      record.current_attempt_id = attempt.attempt_id;
  }
  if (auto applied = apply_details(record, row.details); !applied) return std::unexpected(applied.error());
  return record;
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
