#pragma once

// All state vectors there are, and records to go with them.

#include "core/state.h"

namespace ff::test {

template <class E_>
std::vector<E_> all() {
  std::vector<E_> values;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E_>>([&](auto d) { values.push_back(d.value); });
  return values;
}

/// A record that fits its vector in everything besides.
inline core::ExecutionRecord record_with(const StateVector& s, bool attempt_exists) {
  static const core::QueueRef queue = core::make_queue("default", "default", "job", {});
  core::ExecutionRecord record;
  record.queue = queue;
  record.state = s;
  if (auto derived = core::derive_public_state(s)) record.state.public_state = *derived;
  if (attempt_exists) {
    record.counters.total_attempt_count = 1;
    record.attempt.emplace();
    const bool open =
        s.attempt_state == AttemptState::running_attempt || s.attempt_state == AttemptState::attempt_interrupted;
    record.attempt->attempt_state = open ? AttemptRecordState::started : AttemptRecordState::ended_failure;
  }
  if (s.ownership_state != OwnershipState::unowned) record.lease.emplace();
  if (s.attempt_state == AttemptState::attempt_interrupted) record.hold.interrupt_kind = InterruptKind::lease_lost;
  if (s.eligibility_state == EligibilityState::not_eligible_until_time) record.timers.delay_until_ms = 5;
  if (s.lifecycle_phase == LifecyclePhase::terminal) record.times.completed_at_ms = record.times.retain_until_ms = 5;
  return record;
}

/// Calls `visit` with a record for every legal vector, with and without an attempt.
template <class Visit>
void for_each_legal_record(Visit visit) {
  for (bool attempt_exists : {false, true})
    for (auto phase : all<LifecyclePhase>())
      for (auto ownership : all<OwnershipState>())
        for (auto eligibility : all<EligibilityState>())
          for (auto reason : all<BlockingReason>())
            for (auto outcome : all<TerminalOutcome>())
              for (auto attempt : all<AttemptState>()) {
                const core::ExecutionRecord record = record_with(
                    {phase, ownership, eligibility, reason, outcome, attempt, PublicState::waiting}, attempt_exists);
                if (core::illegality(record).empty()) visit(record);
              }
}

}  // namespace ff::test
