#pragma once

// Every state that an execution can stand in, by name, and how it gets there.

#include "support/rules.h"

namespace ff::test {

struct Situation {
  std::string name;
  std::function<ExecutionId(Rules&, Submission)> reach;
};

/// Puts a waiting execution under a block, as admission and dependencies will.
inline void block(Rules& rules, const ExecutionId& id, EligibilityState eligibility, BlockingReason reason,
                  std::string detail) {
  rules.forge(id, [&](core::ExecutionRecord& r) {
    r.state.eligibility_state = eligibility;
    r.state.blocking_reason = reason;
    r.hold.blocking_detail = std::move(detail);
    r.hold.blocked_at_ms = rules.now;
    r.hold.blocked_on = "it";
    r.hold.blocked_until_ms = rules.now + 1000;
  });
}

/// Puts a running execution into a suspension, as suspend will.
inline void suspend(Rules& rules, const ExecutionId& id, BlockingReason reason = BlockingReason::waiting_for_signal) {
  rules.forge(id, [&](core::ExecutionRecord& r) {
    r.lease.reset();
    r.state.lifecycle_phase = LifecyclePhase::suspended;
    r.state.ownership_state = OwnershipState::unowned;
    r.state.blocking_reason = reason;
    r.state.attempt_state = AttemptState::attempt_interrupted;
    r.hold.interrupt_kind = InterruptKind::suspension;
    r.attempt->attempt_state = AttemptRecordState::suspended;
    r.attempt->suspended_at_ms = rules.now;
    r.attempt->released_lease_id = r.attempt->lease_id;
    r.attempt->released_lease_epoch = r.attempt->lease_epoch;
    r.attempt->release_op = ReleaseOp::suspend;
  });
}

inline std::vector<Situation> open_situations() {
  using R = Rules;
  using S = Submission;
  auto blocked = [](EligibilityState eligibility, BlockingReason reason) {
    return [=](R& r, S s) {
      const ExecutionId id = r.submit(std::move(s));
      block(r, id, eligibility, reason, "because");
      return id;
    };
  };
  return {
      {"waiting", [](R& r, S s) { return r.submit(std::move(s)); }},
      {"delayed",
       [](R& r, S s) {
         s.delay_ms = 1'000'000;
         return r.submit(std::move(s));
       }},
      {"active",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.claim(id);
         return id;
       }},
      {"lost",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.claim(id);
         r.lose(id);
         return id;
       }},
      {"revoked",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.claim(id);
         r.must(core::Revoke{{}, {.execution_id = id}});
         return id;
       }},
      {"retry_backoff",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         EXPECT_TRUE(r.fail(r.claim(id)));
         return id;
       }},
      {"retry_waiting",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         EXPECT_TRUE(r.fail(r.claim(id)));
         r.now = *r.record(id).timers.delay_until_ms;
         EXPECT_TRUE(r.ring(id, core::TimerKind::delay));
         return id;
       }},
      {"worker_delayed",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.must(core::Delay{r.claim(id), std::nullopt, 1'000'000});
         return id;
       }},
      {"resumable",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.must(core::Delay{r.claim(id), std::nullopt, 0});
         return id;
       }},
      {"children_done",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.must(core::WaitForChildren{r.claim(id), false});
         return id;
       }},
      {"replay_waiting",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         EXPECT_TRUE(r.complete(r.claim(id)));
         r.must(core::Replay{{}, id, "again", "me"});
         return id;
       }},
      {"waiting_children", blocked(EligibilityState::blocked_by_dependencies, BlockingReason::waiting_for_children)},
      {"blocked_budget", blocked(EligibilityState::blocked_by_budget, BlockingReason::waiting_for_budget)},
      {"blocked_quota", blocked(EligibilityState::blocked_by_quota, BlockingReason::waiting_for_quota)},
      {"blocked_route", blocked(EligibilityState::blocked_by_route, BlockingReason::waiting_for_capable_worker)},
      {"suspended",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.claim(id);
         suspend(r, id);
         return id;
       }},
  };
}

inline std::vector<Situation> ended_situations() {
  using R = Rules;
  using S = Submission;
  return {
      {"completed",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.must(core::Complete{r.claim(id), bytes("done"), "text/plain"});
         return id;
       }},
      {"failed",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         EXPECT_TRUE(r.fail(r.claim(id), "no good", FailureClass::permanent));
         return id;
       }},
      {"cancelled",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         r.claim(id);
         EXPECT_TRUE(r.cancel(id));
         return id;
       }},
      {"cancelled_unclaimed",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         EXPECT_TRUE(r.cancel(id));
         return id;
       }},
      {"expired",
       [](R& r, S s) {
         s.execution_deadline_at_ms = r.now;
         const ExecutionId id = r.submit(std::move(s));
         r.claim(id);
         r.now += 1;
         EXPECT_TRUE(r.ring(id, core::TimerKind::deadline));
         return id;
       }},
      {"skipped",
       [](R& r, S s) {
         const ExecutionId id = r.submit(std::move(s));
         EXPECT_TRUE(r.cancel(id));
         r.forge(id, [](core::ExecutionRecord& e) {
           e.state.terminal_outcome = TerminalOutcome::skipped;
           e.ending = Ending{};
         });
         return id;
       }},
  };
}

}  // namespace ff::test
