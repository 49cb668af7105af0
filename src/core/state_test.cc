#include "core/state.h"

#include "support/record_text.h"
#include "support/vectors.h"

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using test::all;
using test::record_with;
using L = LifecyclePhase;
using O = OwnershipState;
using E = EligibilityState;
using B = BlockingReason;
using T = TerminalOutcome;
using A = AttemptState;
using P = PublicState;

/// Table 3.2, row by row, with the pairs of 3.3.
struct LegalRow {
  L phase;
  std::set<O> ownership;
  std::set<std::pair<E, B>> eligibility;
  std::set<T> outcome;
  std::set<A> attempt;
};
std::vector<LegalRow> legal_rows(bool attempt_exists) {
  const std::set<std::pair<E, B>> waiting = {{E::eligible_now, B::waiting_for_worker},
                                             {E::not_eligible_until_time, B::waiting_for_delay},
                                             {E::not_eligible_until_time, B::waiting_for_retry_backoff},
                                             {E::not_eligible_until_time, B::waiting_for_resume_delay},
                                             {E::blocked_by_dependencies, B::waiting_for_children},
                                             {E::blocked_by_budget, B::waiting_for_budget},
                                             {E::blocked_by_quota, B::waiting_for_quota},
                                             {E::blocked_by_route, B::waiting_for_capable_worker}};
  std::set<std::pair<E, B>> suspended;
  for (B reason : {B::waiting_for_signal, B::waiting_for_approval, B::waiting_for_callback, B::waiting_for_tool_result,
                   B::paused_by_operator, B::paused_by_policy, B::waiting_for_budget})
    suspended.emplace(E::not_applicable, reason);
  return {
      {L::runnable,
       {O::unowned},
       waiting,
       {T::none},
       {A::pending_first_attempt, A::pending_retry_attempt, A::pending_replay_attempt, A::attempt_interrupted}},
      {L::active, {O::leased}, {{E::not_applicable, B::none}}, {T::none}, {A::running_attempt}},
      {L::active,
       {O::lease_expired_reclaimable, O::lease_revoked},
       {{E::not_applicable, B::waiting_for_worker}},
       {T::none},
       {A::attempt_interrupted}},
      {L::suspended, {O::unowned}, suspended, {T::none}, {A::attempt_interrupted}},
      {L::terminal,
       {O::unowned},
       {{E::not_applicable, B::none}},
       {T::success, T::failed, T::cancelled, T::expired, T::skipped},
       {attempt_exists ? A::attempt_terminal : A::none}},
  };
}

bool in_table(const StateVector& s, bool attempt_exists) {
  for (const auto& row : legal_rows(attempt_exists))
    if (s.lifecycle_phase == row.phase && row.ownership.contains(s.ownership_state) &&
        row.eligibility.contains({s.eligibility_state, s.blocking_reason}) &&
        row.outcome.contains(s.terminal_outcome) && row.attempt.contains(s.attempt_state))
      return true;
  return false;
}

TEST(Domain, T12_exactly_the_vectors_of_the_table_are_legal) {
  std::size_t legal = 0, total = 0;
  for (bool attempt_exists : {false, true})
    for (L phase : all<L>())
      for (O ownership : all<O>())
        for (E eligibility : all<E>())
          for (B reason : all<B>())
            for (T outcome : all<T>())
              for (A attempt : all<A>()) {
                const StateVector s{phase, ownership, eligibility, reason, outcome, attempt, P::waiting};
                const std::string fault = illegality(record_with(s, attempt_exists));
                ++total;
                legal += fault.empty() ? 1 : 0;
                ASSERT_EQ(fault.empty(), in_table(s, attempt_exists))
                    << test::vector_text(s) << (attempt_exists ? " with" : " without") << " an attempt: " << fault;
              }
  EXPECT_EQ(total, 2U * 4 * 4 * 7 * 15 * 6 * 7);
  // Runnable 8 pairs x 4 attempt states, active 1 + 2, suspended 7, terminal 5; with and without an attempt.
  EXPECT_EQ(legal, 2U * (32 + 3 + 7 + 5));
}

TEST(Domain, T12_public_state_one_case_per_row) {
  struct Row {
    L phase;
    O ownership;
    E eligibility;
    T outcome;
    A attempt;
    P expected;
  };
  const Row rows[] = {
      {L::terminal, O::unowned, E::not_applicable, T::success, A::attempt_terminal, P::completed},
      {L::terminal, O::unowned, E::not_applicable, T::failed, A::attempt_terminal, P::failed},
      {L::terminal, O::unowned, E::not_applicable, T::cancelled, A::none, P::cancelled},
      {L::terminal, O::unowned, E::not_applicable, T::expired, A::attempt_terminal, P::expired},
      {L::terminal, O::unowned, E::not_applicable, T::skipped, A::none, P::skipped},
      {L::suspended, O::unowned, E::not_applicable, T::none, A::attempt_interrupted, P::suspended},
      {L::active, O::leased, E::not_applicable, T::none, A::running_attempt, P::active},
      {L::active, O::lease_expired_reclaimable, E::not_applicable, T::none, A::attempt_interrupted, P::active},
      {L::active, O::lease_revoked, E::not_applicable, T::none, A::attempt_interrupted, P::active},
      {L::runnable, O::unowned, E::eligible_now, T::none, A::attempt_interrupted, P::resumable},
      {L::runnable, O::unowned, E::eligible_now, T::none, A::pending_first_attempt, P::waiting},
      {L::runnable, O::unowned, E::eligible_now, T::none, A::pending_retry_attempt, P::waiting},
      {L::runnable, O::unowned, E::eligible_now, T::none, A::pending_replay_attempt, P::waiting},
      {L::runnable, O::unowned, E::not_eligible_until_time, T::none, A::attempt_interrupted, P::delayed},
      {L::runnable, O::unowned, E::not_eligible_until_time, T::none, A::pending_first_attempt, P::delayed},
      {L::runnable, O::unowned, E::blocked_by_dependencies, T::none, A::pending_first_attempt, P::waiting_children},
      {L::runnable, O::unowned, E::blocked_by_budget, T::none, A::pending_first_attempt, P::rate_limited},
      {L::runnable, O::unowned, E::blocked_by_quota, T::none, A::pending_first_attempt, P::rate_limited},
      {L::runnable, O::unowned, E::blocked_by_route, T::none, A::pending_first_attempt, P::waiting},
  };
  for (const auto& row : rows) {
    StateVector s{row.phase, row.ownership, row.eligibility, B::none, row.outcome, row.attempt, P::waiting};
    const auto derived = derive_public_state(s);
    ASSERT_TRUE(derived) << test::vector_text(s);
    EXPECT_EQ(name_of(*derived), name_of(row.expected)) << test::vector_text(s);
  }
}

TEST(Domain, T12_the_two_corrupt_rows) {
  StateVector ended{L::terminal, O::unowned, E::not_applicable, B::none, T::none, A::none, P::completed};
  auto derived = derive_public_state(ended);
  ASSERT_FALSE(derived);
  EXPECT_EQ(derived.error().code, ErrorCode::corruption);
  EXPECT_EQ(derived.error().context.text("detail"), "ff_exec_core: terminal_outcome: none");
  EXPECT_EQ(illegality(record_with(ended, false)), "terminal_outcome: none");

  StateVector lost{L::runnable, O::unowned, E::not_applicable, B::none, T::none, A::pending_first_attempt, P::waiting};
  derived = derive_public_state(lost);
  ASSERT_FALSE(derived);
  EXPECT_EQ(derived.error().context.text("detail"), "ff_exec_core: eligibility_state: not_applicable");
  EXPECT_EQ(illegality(record_with(lost, false)), "eligibility_state: not_applicable");
}

TEST(Domain, T12_each_invariant_besides_the_vector_is_checked) {
  const StateVector waiting;
  const StateVector leased{L::active, O::leased, E::not_applicable, B::none, T::none, A::running_attempt, P::active};
  const StateVector delayed{L::runnable, O::unowned, E::not_eligible_until_time,  B::waiting_for_delay,
                            T::none,     A::pending_first_attempt, P::delayed};
  const StateVector ended{L::terminal, O::unowned, E::not_applicable, B::none, T::failed, A::attempt_terminal, P::failed};
  auto broken = [](const StateVector& s, bool attempt_exists, auto breaking) {
    ExecutionRecord record = record_with(s, attempt_exists);
    EXPECT_EQ(illegality(record), "") << test::vector_text(s);
    breaking(record);
    return illegality(record);
  };
  using R = ExecutionRecord;
  EXPECT_EQ(broken(leased, true, [](R& r) { r.lease.reset(); }), "current_lease_id: unset");
  EXPECT_EQ(broken(waiting, false, [](R& r) { r.lease.emplace(); }), "current_lease_id: set");
  EXPECT_EQ(broken(leased, true, [](R& r) { r.hold.interrupt_kind = InterruptKind::suspension; }),
            "interrupt_kind: suspension");
  EXPECT_EQ(broken(delayed, false, [](R& r) { r.timers.delay_until_ms.reset(); }), "delay_until_ms: unset");
  EXPECT_EQ(broken(waiting, false, [](R& r) { r.timers.delay_until_ms = 1; }), "delay_until_ms: set");
  EXPECT_EQ(broken(ended, true, [](R& r) { r.times.completed_at_ms.reset(); }), "completed_at_ms: unset");
  EXPECT_EQ(broken(ended, true, [](R& r) { r.times.retain_until_ms.reset(); }), "retain_until_ms: unset");
  EXPECT_EQ(broken(waiting, false, [](R& r) { r.times.completed_at_ms = 1; }), "completed_at_ms: set");
  EXPECT_EQ(broken(waiting, false, [](R& r) { r.state.public_state = P::delayed; }), "public_state: delayed");
  EXPECT_EQ(broken(leased, true, [](R& r) { r.attempt.reset(); }), "total_attempt_count: 1");
  EXPECT_EQ(broken(leased, true, [](R& r) { r.attempt->attempt_index = 1; }), "total_attempt_count: 1");
  EXPECT_EQ(broken(leased, true, [](R& r) { r.attempt->attempt_state = AttemptRecordState::ended_success; }),
            "attempt.attempt_state: ended_success");
  EXPECT_EQ(broken(ended, true, [](R& r) { r.attempt->attempt_state = AttemptRecordState::suspended; }),
            "attempt.attempt_state: suspended");

  const StateVector held{L::runnable, O::unowned, E::blocked_by_dependencies,  B::waiting_for_children,
                         T::none,     A::pending_first_attempt, P::waiting_children};
  EXPECT_EQ(broken(held, false, [](R& r) { r.timers.delay_until_ms = 1; }), "") << "kept beneath for the unblock";
}

TEST(Domain, T13_reasons_that_block_name_their_eligibility) {
  for (B reason : all<B>()) {
    const auto eligibility = eligibility_for(reason);
    switch (reason) {
      case B::waiting_for_children: EXPECT_EQ(eligibility, E::blocked_by_dependencies); break;
      case B::waiting_for_budget: EXPECT_EQ(eligibility, E::blocked_by_budget); break;
      case B::waiting_for_quota: EXPECT_EQ(eligibility, E::blocked_by_quota); break;
      case B::waiting_for_capable_worker: EXPECT_EQ(eligibility, E::blocked_by_route); break;
      default: EXPECT_EQ(eligibility, std::nullopt) << name_of(reason);
    }
  }
}

template <class E_>
void round_trips() {
  for (E_ value : all<E_>()) {
    EXPECT_EQ(enum_from<E_>(name_of(value)), value);
    EXPECT_EQ(enum_from_number<E_>(static_cast<std::int64_t>(value)), value);
    EXPECT_FALSE(name_of(value).ends_with('_')) << name_of(value);
  }
  EXPECT_EQ(enum_from<E_>("unknown_spelling"), std::nullopt);
  EXPECT_EQ(enum_from<E_>(""), std::nullopt);
  EXPECT_EQ(enum_from_number<E_>(200), std::nullopt);
  EXPECT_EQ(enum_from_number<E_>(-1), std::nullopt);
}

TEST(Domain, T14_every_enum_value_round_trips) {
  round_trips<LifecyclePhase>();
  round_trips<OwnershipState>();
  round_trips<EligibilityState>();
  round_trips<BlockingReason>();
  round_trips<TerminalOutcome>();
  round_trips<AttemptState>();
  round_trips<PublicState>();
  round_trips<InterruptKind>();
  round_trips<AttemptRecordState>();
  round_trips<AttemptType>();
  round_trips<AttemptOutcome>();
  round_trips<FailureClass>();
  round_trips<ReleaseOp>();
  round_trips<HandleKind>();
  round_trips<CancelSource>();
  round_trips<CancelOwed>();
  round_trips<LaneState>();
  round_trips<LaneFairness>();
  round_trips<LeaseLossPolicy>();
  round_trips<BackoffType>();
  round_trips<SuspensionTimeoutBehavior>();
  round_trips<EventKind>();
  round_trips<LeaseEventType>();
  round_trips<Bucket>();
  EXPECT_EQ(name_of(ReleaseOp::operator_), "operator") << "the underscore only avoids a keyword";
  EXPECT_EQ(name_of(EventKind::operator_), "operator");
}

TEST(Domain, T14_spellings_are_those_of_the_specification) {
  auto spelled = []<class E_>(E_) {
    std::string words;
    for (E_ value : all<E_>()) words += fmt::format("{}{}", words.empty() ? "" : " ", name_of(value));
    return words;
  };
  EXPECT_EQ(spelled(L{}), "runnable active suspended terminal");
  EXPECT_EQ(spelled(O{}), "unowned leased lease_expired_reclaimable lease_revoked");
  EXPECT_EQ(spelled(E{}),
            "eligible_now not_eligible_until_time blocked_by_dependencies blocked_by_budget blocked_by_quota "
            "blocked_by_route not_applicable");
  EXPECT_EQ(spelled(T{}), "none success failed cancelled expired skipped");
  EXPECT_EQ(spelled(A{}),
            "none pending_first_attempt running_attempt attempt_interrupted pending_retry_attempt "
            "pending_replay_attempt attempt_terminal");
  EXPECT_EQ(spelled(P{}),
            "waiting delayed rate_limited waiting_children active suspended resumable completed failed cancelled "
            "expired skipped");
  EXPECT_EQ(spelled(InterruptKind{}), "none suspension worker_delay waiting_children lease_lost");
  EXPECT_EQ(spelled(AttemptRecordState{}),
            "started suspended ended_success ended_failure ended_cancelled interrupted_reclaimed");
  EXPECT_EQ(spelled(AttemptOutcome{}),
            "success retry failed interrupted lease_expired_reclaimable interrupted_reclaimed cancelled expired");
  EXPECT_EQ(spelled(ReleaseOp{}),
            "complete fail_retry fail_terminal cancel delay wait_children suspend expire lease_lost revoke reclaim "
            "operator engine");
  EXPECT_EQ(spelled(CancelSource{}), "operator_override lease_holder cancel_flow engine system_timeout");
  EXPECT_EQ(spelled(LeaseEventType{}), "acquired reclaimed renewed expired revoked released");
  EXPECT_EQ(spelled(FailureClass{}), "transient permanent infra_crash timeout cancelled");
  EXPECT_EQ(spelled(Bucket{}),
            "eligible delayed blocked_dependencies blocked_budget blocked_quota blocked_route active reclaimable "
            "suspended terminal");
}

}  // namespace
}  // namespace ff::core
