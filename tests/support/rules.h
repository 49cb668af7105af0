#pragma once

// Runs decisions on a working set the way a batch does, without a store. After every operation it checks what must
// hold whatever the operation was; tests say only what is special.

#include "core/ops/cancel.h"
#include "core/ops/change.h"
#include "core/ops/claim.h"
#include "core/ops/complete.h"
#include "core/ops/create.h"
#include "core/ops/deletion.h"
#include "core/ops/expiry.h"
#include "core/ops/fail.h"
#include "core/ops/hold_lease.h"
#include "core/ops/lanes.h"
#include "core/ops/operator_finish.h"
#include "core/ops/pause.h"
#include "core/ops/revoke.h"
#include "core/policy.h"
#include "core/state.h"
#include "core/submission.h"
#include "support/record_text.h"

#include <gtest/gtest.h>

namespace ff::test {

inline constexpr TimeMs kStart = 1'700'000'000'000;

inline core::SharedBytes bytes(std::string text) { return std::make_shared<const Bytes>(std::move(text)); }

/// A submission with a policy in JSON; the shortest way to say what kind of execution a test needs.
inline Submission job(std::string_view policy_json = "", std::string kind = "job") {
  Submission submission;
  submission.execution_kind = std::move(kind);
  if (!policy_json.empty()) {
    auto policy = parse_policy(policy_json);
    EXPECT_TRUE(policy) << policy_json << ": " << (policy ? "" : policy.error().to_string());
    if (policy) submission.policy = *policy;
  }
  return submission;
}

class Rules {
 public:
  Rules() = default;
  /// A world of its own that starts where the other one stands: for asking "and what if?".
  Rules(const Rules& other) : now(other.now), settings(other.settings), partitioning(other.partitioning) {
    auto& from = const_cast<core::WorkingSet&>(other.set);
    auto copy = [](auto& source, auto& target) {
      for (const auto& slot : source.slots()) {
        using Value = std::remove_cvref_t<decltype(*slot.value)>;
        target.loaded(slot.key, slot.value ? std::make_unique<Value>(*slot.value) : nullptr);
      }
    };
    copy(from.executions(), set.executions());
    copy(from.infos(), set.infos());
    copy(from.payloads(), set.payloads());
    copy(from.results(), set.results());
    copy(from.attempts(), set.attempts());
    copy(from.lanes(), set.lanes());
    copy(from.keys(), set.keys());
    copy(from.documents(), set.documents());
    set.events() = from.events();
    ids_ = other.ids_;
    seed_ = other.seed_;
  }

  TimeMs now = kStart;
  core::RuleSettings settings;
  core::Partitioning partitioning;
  core::WorkingSet set;

  // ---- running ----------------------------------------------------------------------------------------------------

  /// One operation: reads until it wants nothing new, decides, applies.
  template <class Op>
  Result<typename Op::Reply> run(const Op& op) {
    for (int round = 0; round < 3; ++round) {
      core::Reads wanted(set);
      core::detail::ask(op, set, wanted);
      if (wanted.empty()) break;
      load_as_absent(wanted);
    }
    core::Reads wanted(set);
    core::detail::ask(op, set, wanted);
    EXPECT_TRUE(wanted.empty()) << Op::kName << " wants more than three rounds of reads bring";
    auto decision = core::detail::judge(op, set, now);
    apply(std::move(decision.writes), Op::kName);
    return std::move(decision.reply);
  }

  /// The same for an operation that must succeed.
  template <class Op>
  typename Op::Reply must(const Op& op) {
    auto reply = run(op);
    EXPECT_TRUE(reply) << Op::kName << ": " << (reply ? "" : reply.error().to_string());
    return reply ? *reply : typename Op::Reply{};
  }

  /// The code of a refusal; `invariant_violation` when it was none.
  template <class Op>
  Error refused(const Op& op) {
    auto reply = run(op);
    EXPECT_FALSE(reply) << Op::kName << " was expected to be refused";
    return reply ? Error{} : reply.error();
  }

  // ---- shortcuts --------------------------------------------------------------------------------------------------

  Result<Submitted> try_submit(Submission submission) {
    auto checked = core::check_submission(std::move(submission), settings, partitioning);
    if (!checked) return std::unexpected(checked.error());
    core::place_submission(*checked, ids_.next(now), partitioning);
    // A real digest is the engine's affair; rules only compare it.
    checked->create.content_digest = checked->content;
    return run(checked->create);
  }
  ExecutionId submit(Submission submission = job()) {
    auto reply = try_submit(std::move(submission));
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().to_string());
    return reply ? reply->execution_id : ExecutionId{};
  }

  core::Claim claim_of(std::string worker = "w1", std::uint32_t ttl_ms = 30'000) {
    core::Claim claim;
    claim.worker.worker_id = "pool";
    claim.worker.worker_instance_id = std::move(worker);
    claim.worker.lanes = {"default"};
    claim.lease_ttl_ms = ttl_ms;
    ++seed_;
    claim.ids = core::IdSource(seed_, seed_ * 7919);
    return claim;
  }
  /// What a claim by lane does with one candidate.
  std::optional<core::LeasedTask> offer(const ExecutionId& id, const core::Claim& claim) {
    core::Writes writes(now);
    core::IdSource ids = claim.ids;
    auto task = core::lease_candidate(record(id), set, claim, ids, writes);
    apply(std::move(writes), "lease");
    return task;
  }
  core::TaskHandle claim(const ExecutionId& id, std::string worker = "w1", std::uint32_t ttl_ms = 30'000) {
    auto task = offer(id, claim_of(std::move(worker), ttl_ms));
    EXPECT_TRUE(task) << "no candidate: " << vector_text(record(id).state);
    return task ? task->handle : core::TaskHandle{};
  }
  Result<bool> ring(const ExecutionId& id, core::TimerKind kind) { return run(core::RingTimer{id, kind}); }
  Result<TaskFailed> fail(const core::TaskHandle& handle, std::string message = "boom",
                          FailureClass failure_class = FailureClass::transient, double draw = 0) {
    std::string category(core::name_of(failure_class));
    return run(core::Fail{handle, std::move(message), failure_class, std::move(category), draw});
  }
  Result<Changed> complete(const core::TaskHandle& handle) { return run(core::Complete{handle, nullptr, ""}); }
  Result<Changed> cancel(const ExecutionId& id, std::string reason = "enough") {
    return run(core::CancelByOperator{{}, id, std::move(reason)});
  }
  /// The lease runs out and the sweep notices.
  void lose(const ExecutionId& id) {
    now = record(id).lease->lease_expires_at_ms + 1;
    auto rung = ring(id, core::TimerKind::lease);
    EXPECT_TRUE(rung && *rung);
  }
  /// Puts a record into a state that only later operations will reach. It must be legal.
  void forge(const ExecutionId& id, const std::function<void(core::ExecutionRecord&)>& change) {
    core::ExecutionRecord after = record(id);
    change(after);
    core::Writes writes(now);
    writes.update(record(id), std::move(after));
    apply(std::move(writes), "forge");
  }

  // ---- looking ----------------------------------------------------------------------------------------------------

  const core::ExecutionRecord& record(const ExecutionId& id) const {
    const core::ExecutionRecord* found = set.execution(id);
    static const core::ExecutionRecord none;
    EXPECT_TRUE(found) << "no execution " << id.to_string();
    return found ? *found : none;
  }
  const Attempt& attempt(const ExecutionId& id, std::uint32_t index) const {
    const Attempt* found = set.attempt(id, index);
    static const Attempt none;
    EXPECT_TRUE(found) << "no attempt " << index;
    return found ? *found : none;
  }
  std::string vector(const ExecutionId& id) const { return vector_text(record(id).state); }

  /// What the last operation did: whether it wrote anything, which fields of the execution changed, which events it
  /// wrote.
  bool wrote() const { return wrote_; }
  std::string changed(const ExecutionId& id) const {
    auto before = before_.find(id);
    if (before == before_.end()) return "(new)";
    return changed_fields(before->second, record(id));
  }
  const core::ExecutionRecord& before(const ExecutionId& id) const { return before_.at(id); }
  const std::vector<core::EventRecord>& events() const { return last_events_; }
  std::vector<std::string> said() const { return event_texts(last_events_); }
  std::vector<std::string> history() { return event_texts(set.events()); }

 private:
  void load_as_absent(const core::Reads& wanted) {
    for (const auto& id : wanted.executions) set.executions().loaded(id, std::nullopt);
    for (const auto& id : wanted.infos) set.infos().loaded(id, std::nullopt);
    for (const auto& id : wanted.payloads) set.payloads().loaded(id, std::nullopt);
    for (const auto& key : wanted.attempts) set.attempts().loaded(key, std::nullopt);
    for (const auto& id : wanted.lanes) set.lanes().loaded(id, std::nullopt);
    for (const auto& id : wanted.keys) set.keys().loaded(id, std::nullopt);
    for (const auto& id : wanted.documents) set.documents().loaded(id, std::nullopt);
  }

  void apply(core::Writes writes, std::string_view name) {
    EXPECT_EQ(writes.broken(), "") << name;
    wrote_ = !(writes.executions.empty() && writes.erased.empty() && writes.infos.empty() && writes.payloads.empty() &&
               writes.results.empty() && writes.attempts.empty() && writes.lanes.empty() && writes.keys.empty() && writes.documents.empty() &&
               writes.events.empty());
    before_.clear();
    for (const auto& slot : set.executions().slots())
      if (slot.value) before_.emplace(slot.key, *slot.value);
    EXPECT_LE(writes.executions.size(), 1U) << name << " saves an execution once";
    last_events_ = writes.events;
    set.apply(std::move(writes));
    for (const auto& slot : set.executions().slots()) {
      auto before = before_.find(slot.key);
      if (!slot.value || before == before_.end()) continue;
      EXPECT_EQ(core::illegality(*slot.value), "") << name;
      EXPECT_GE(slot.value->counters.current_lease_epoch, before->second.counters.current_lease_epoch) << name;
      if (core::same_record(before->second, *slot.value)) continue;
      EXPECT_EQ(slot.value->version, before->second.version + 1) << name;
      EXPECT_EQ(slot.value->times.last_mutation_at_ms, now) << name;
      // A lapsed lease and its takeover are one step from leased to leased, and still a transition.
      const bool moved = slot.value->state != before->second.state ||
                         slot.value->counters.current_lease_epoch != before->second.counters.current_lease_epoch;
      EXPECT_EQ(slot.value->times.last_transition_at_ms, moved ? now : before->second.times.last_transition_at_ms)
          << name;
      check_attempt(before->second, *slot.value, name);
    }
  }

  void check_attempt(const core::ExecutionRecord& before, const core::ExecutionRecord& after, std::string_view name) {
    if (!after.attempt) return;
    if (!before.attempt || before.attempt->attempt_index != after.attempt->attempt_index) {
      EXPECT_EQ(after.attempt->version, 1U) << name;
      EXPECT_TRUE(!before.attempt || set.attempt(after.id, before.attempt->attempt_index)) << name << " files it";
    } else {
      EXPECT_EQ(after.attempt->version, before.attempt->version + (*after.attempt == *before.attempt ? 0 : 1)) << name;
    }
  }

  core::IdSource ids_{11, 13};
  std::uint64_t seed_ = 100;
  bool wrote_ = false;
  std::map<ExecutionId, core::ExecutionRecord> before_;
  std::vector<core::EventRecord> last_events_;
};

}  // namespace ff::test
