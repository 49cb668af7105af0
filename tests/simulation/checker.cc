#include "checker.h"

#include "core/state.h"

namespace ff::sim {

using core::ExecutionRecord;

void Checker::look(std::uint64_t step, std::int64_t now_us, TimeMs latest) {
  step_ = step;
  now_us_ = now_us;
  latest_ = latest;
  if (store_.deadlocks() > 0) verdict_.fail("two sessions wait for each other's locks");
  if (verdict_.failed() || !changed()) return;
  ++looks_;
  touched_.clear();
  compare_records();
  read_events();
  for (auto& [id, touched] : touched_) {
    auto& [life, now] = touched;
    if (!now) {
      check_gone(*life);
      continue;
    }
    check_against_events(*life, now->record);
    check_change(*life, *now);
    look_for_effects(*life, *now);
    check_attempts(*life, *now);
    life->row = *now;
    life->moments.push_back({step_, now->record.version, now->record.state.public_state,
                             now->record.counters.current_lease_epoch});
  }
  check_keys();
  check_lanes();
  check_indexes();
  if (looks_ % 64 == 0) look_at_everything();
}

/// A number that moves with every commit; cheap, because most steps commit nothing.
bool Checker::changed() {
  std::uint64_t sum = static_cast<std::uint64_t>(data_.last_event_id) * 31 + data_.executions.size() * 7 +
                      data_.keys.size() * 5 + data_.events.size() * 3;
  for (const auto& [id, row] : data_.executions) sum = sum * 33 + row.record.version;
  for (const auto& [id, key] : data_.keys) sum = sum * 33 + key.version + static_cast<std::uint64_t>(key.created_at_ms);
  for (const auto& [id, lane] : data_.lanes) sum = sum * 33 + lane.version;
  if (sum == fingerprint_) return false;
  fingerprint_ = sum;
  trace_.mark(sum);
  return true;
}

void Checker::compare_records() {
  for (auto it = alive_.begin(); it != alive_.end();) {
    auto stored = data_.executions.find(it->first);
    Life& life = *it->second;
    if (stored != data_.executions.end()) {
      const bool same = core::same_record(stored->second.record, life.row.record);
      if (stored->second.info.creator_identity != life.row.info.creator_identity)
        fail(it->first, "removed and created again in one commit");
      if (!same || stored->second.result.has_value() != life.row.result.has_value())
        touched_[it->first] = {&life, &stored->second};
      ++it;
      continue;
    }
    life.gone_step = step_;
    touched_[it->first] = {&life, nullptr};
    it = alive_.erase(it);
  }
  for (const auto& [id, row] : data_.executions)
    if (!alive_.contains(id)) born(id, row);
}

void Checker::born(const ExecutionId& id, const Row& row) {
  const auto creator = Book::call_in(row.info.creator_identity.value_or(""));
  Intent* intent = creator ? book_.find(*creator) : nullptr;
  if (!intent || !intent->submission) return fail(id, "nobody submitted it");
  if (intent->outcome == Intent::Outcome::refused) fail(id, "call {} was refused, yet created it", *creator);
  if (history_.created_by(*creator)) fail(id, "call {} has created two executions", *creator);
  Life& life = history_.born(id, *creator, step_);
  life.first_event_id = last_event_id_ + 1;
  alive_[id] = &life;
  touched_[id] = {&life, &row};
  ++intent->effects;
  check_submission(life, row);
  check_key_is_new(life, row);
  trace_.note("        + {} by #{} {}", id.to_string(), *creator, core::name_of(row.record.state.public_state));
}

/// The stored execution is the one that was submitted, bytes and all.
void Checker::check_submission(const Life& life, const Row& row) {
  const Submission& given = *book_.find(life.creator)->submission;
  const core::Queue& queue = *row.record.queue;
  if (queue.lane_id != given.lane_id || queue.execution_kind != given.execution_kind ||
      queue.namespace_ != given.namespace_.value_or("default"))
    fail(life.id, "stored in another queue than submitted");
  if (given.execution_id && *given.execution_id != life.id) fail(life.id, "submitted under another id");
  const bool same_payload = given.payload ? row.payload && *row.payload == *given.payload : !row.payload;
  if (!same_payload) fail(life.id, "its payload is not what call {} submitted", life.creator);
  if (row.result && !(row.record.is_terminal())) fail(life.id, "it was created with a result");
  if (!data_.lanes.contains(given.lane_id)) fail(life.id, "its lane '{}' is not registered", given.lane_id);
  if (row.record.counters.replay_count == 0 && row.record.version == 1 &&
      (row.record.tags ? *row.record.tags : Tags{}) != given.tags)
    fail(life.id, "its tags are not those of call {}", life.creator);
}

/// One key, one execution, as long as the key's window lasts.
void Checker::check_key_is_new(const Life& life, const Row& row) {
  if (!row.info.idempotency_key) return;
  const std::uint64_t window_ms = row.info.policy->dedup_window_ms.value_or(0);
  const core::IdempotencyId key = create_key(row);
  KeyUse& used = key_uses_[key];
  // A create without a window leaves no record for later ones, and within one commit it may have come first.
  const bool came_first = used.step == step_ && window_ms == 0;
  if (used.until_ms > latest_ && !came_first)
    fail(life.id, "key '{}' already made {} and lasts until {}", key.idempotency_key, used.id.to_string(),
         used.until_ms);
  if (window_ms > 0) used = {life.id, step_, row.record.times.created_at_ms + static_cast<TimeMs>(window_ms)};
}

void Checker::check_gone(const Life& life) {
  const ExecutionRecord& record = life.row.record;
  trace_.note("        - {}{}", life.id.to_string(), life.deleted ? " deleted" : " retired");
  trace_.saw("gone {}", life.deleted ? "deleted" : "retired");
  if (!life.ended()) fail(life.id, "removed before it had ended");
  if (life.deleted) return;
  const TimeMs until = record.times.retain_until_ms.value_or(record.limits.retention_ttl_ms == 0 ? 0 : INT64_MAX);
  if (until > latest_) fail(life.id, "removed before its retention was over ({})", until);
  if (!data_.executions.contains(life.id) && data_.attempts.lower_bound({life.id, 0}) != data_.attempts.end() &&
      data_.attempts.lower_bound({life.id, 0})->first.execution_id == life.id)
    fail(life.id, "its attempts outlive it");
}

void Checker::check_change(const Life& life, const Row& row) {
  const ExecutionRecord &before = life.row.record, &after = row.record;
  trace_.note("        * {} v{} {} epoch {} attempts {}", life.id.to_string(), after.version,
              core::name_of(after.state.public_state), after.counters.current_lease_epoch,
              after.counters.total_attempt_count);
  if (auto bad = core::illegality(after); !bad.empty()) fail(life.id, "illegal record: {}", bad);
  if (after.counters.retry_count > after.limits.max_retries) fail(life.id, "more retries than its policy allows");
  if (after.counters.lease_reclaim_count > after.limits.max_reclaim_count)
    fail(life.id, "more lost leases than its policy allows");
  if (after.counters.replay_count > after.limits.max_replay_count) fail(life.id, "more replays than allowed");
  if (after.lease &&
      after.lease->lease_expires_at_ms != after.lease->lease_last_renewed_at_ms + after.lease->lease_ttl_ms)
    fail(life.id, "the lease does not end when its time is over");
  if (life.moments.empty()) return;  // just born: there is nothing to compare with

  if (after.version <= before.version)
    fail(life.id, "changed, but its version went from {} to {}", before.version, after.version);
  if (after.times.last_mutation_at_ms < before.times.last_mutation_at_ms) fail(life.id, "its time ran backwards");
  if (after.counters.current_lease_epoch < before.counters.current_lease_epoch) fail(life.id, "its epoch fell");
  if (after.counters.total_attempt_count < before.counters.total_attempt_count) fail(life.id, "it lost attempts");
  if (before.times.started_at_ms && after.times.started_at_ms != before.times.started_at_ms)
    fail(life.id, "it was started twice");
  if (*after.queue != *before.queue || after.times.created_at_ms != before.times.created_at_ms ||
      after.limits != before.limits || !core::same_info(row.info, life.row.info) || row.payload != life.row.payload)
    fail(life.id, "something that is written once has changed");
  check_frozen(life, row);
  check_clocks(life, row);
}

/// What has ended stays as it is: only its tags may change, until a replay.
void Checker::check_frozen(const Life& life, const Row& row) {
  const ExecutionRecord& before = life.row.record;
  const bool same_end = before.is_terminal() && row.record.is_terminal() && life.ends.back().step < step_;
  if (!same_end) return;
  ExecutionRecord allowed = before;
  allowed.tags = row.record.tags;
  allowed.version = row.record.version;
  allowed.times.last_mutation_at_ms = row.record.times.last_mutation_at_ms;
  const bool same_result = row.result.has_value() == life.row.result.has_value() &&
                           (!row.result || *row.result->result == *life.row.result->result);
  if (!core::same_record(allowed, row.record) || !same_result) fail(life.id, "changed after it had ended");
}

/// No clock rings early: whoever selected it must have looked again.
void Checker::check_clocks(const Life& life, const Row& row) {
  const ExecutionRecord &before = life.row.record, &after = row.record;
  const bool ended_now = after.is_terminal() && (!before.is_terminal() || life.ends.back().step == step_);
  const bool replayed_now = after.counters.replay_count != before.counters.replay_count;
  if (ended_now && after.ending.failure_reason == "execution_deadline" &&
      !(after.timers.execution_deadline_at_ms && *after.times.completed_at_ms > *after.timers.execution_deadline_at_ms))
    fail(life.id, "expired before its deadline");
  if (replayed_now || ended_now) return;
  using E = EligibilityState;
  if (before.state.eligibility_state == E::not_eligible_until_time &&
      after.state.eligibility_state != E::not_eligible_until_time &&
      after.times.last_transition_at_ms < *before.timers.delay_until_ms)
    fail(life.id, "eligible before its delay was over");
  const bool same_attempt =
      before.attempt && after.attempt && before.attempt->attempt_index == after.attempt->attempt_index;
  const bool ended = same_attempt && !before.attempt->ended_at_ms && after.attempt->ended_at_ms;
  if (ended && before.timers.attempt_timeout_at_ms && after.attempt->failure_reason == "attempt_timeout" &&
      *after.attempt->ended_at_ms <= *before.timers.attempt_timeout_at_ms)
    fail(life.id, "an attempt timed out before its time");
}

/// Older attempts are all there, closed, and never change again.
void Checker::check_attempts(Life& life, const Row& row) {
  const std::uint32_t total = row.record.counters.total_attempt_count;
  std::uint32_t next = 0;
  for (auto it = data_.attempts.lower_bound({life.id, 0});
       it != data_.attempts.end() && it->first.execution_id == life.id; ++it, ++next) {
    const Attempt& attempt = it->second;
    if (it->first.attempt_index != next || attempt.attempt_index != next)
      return fail(life.id, "attempt {} is missing", next);
    if (attempt.attempt_state == AttemptRecordState::started || attempt.attempt_state == AttemptRecordState::suspended)
      fail(life.id, "attempt {} is still open although a newer one exists", next);
    auto [known, added] = life.past_attempts.try_emplace(next, attempt);
    if (!added && known->second != attempt) fail(life.id, "attempt {} changed after it was filed", next);
  }
  if (next != (total == 0 ? 0 : total - 1)) fail(life.id, "{} attempts are filed of {}", next, total);
}

}  // namespace ff::sim
