#pragma once

// A batch on the bench: operations that do what a test says, a planner that plans what it is told, and a scripted
// session over a memory store.

#include "core/ops/create.h"
#include "core/submission.h"
#include "store/batch_run.h"
#include "store/memory/memory_store.h"
#include "support/scripted_session.h"

#include <gtest/gtest.h>

namespace ff::test {

/// An operation whose reads and decision are functions of the test.
class AnyOperation final : public core::Operation {
 public:
  struct Log {
    int decided = 0;
    std::optional<Error> refused;
    bool delivered = false;
  };
  std::function<void(const core::Records&, core::Reads&)> wants = [](const auto&, auto&) {};
  std::function<void(core::WorkingSet&, TimeMs)> does = [](auto&, TimeMs) {};

  explicit AnyOperation(Log& log) : log_(log) {}
  std::string_view name() const override { return "any"; }
  void reads(const core::Records& in, core::Reads& out) const override { wants(in, out); }
  void decide(core::WorkingSet& set, TimeMs now) override {
    ++log_.decided;
    log_.refused.reset();
    does(set, now);
  }
  void refuse(Error error) override { log_.refused = std::move(error); }
  void deliver() override { log_.delivered = true; }
  const Error* error() const override { return log_.refused ? &*log_.refused : nullptr; }

 private:
  Log& log_;
};

/// Gives its plans one after the other, then none.
class ListedPlanner final : public store::Planner {
 public:
  std::deque<std::vector<Row>> plans;
  std::vector<bool> asked;  ///< per question, whether it was the last round
  std::vector<std::vector<store::Taken>> told;
  std::vector<core::OrderKey> returned;

  std::vector<Row> plan(std::span<core::ClaimOperation* const>, bool last) override {
    asked.push_back(last);
    if (plans.empty()) return {};
    auto rows = std::move(plans.front());
    plans.pop_front();
    return rows;
  }
  void took(std::span<const Row>, std::span<const store::Taken> taken) override {
    auto& copy = told.emplace_back();
    for (const auto& item : taken) copy.push_back(item);
  }
  void gave_back(const store::QueueRef&, const store::OrderKey& key) override { returned.push_back(key); }
};

class BatchBench : public ::testing::Test {
 protected:
  using Log = AnyOperation::Log;
  using Operations = store::BatchRun::Operations;

  void use(store::MemoryCharacter character) {
    store = std::make_unique<store::MemoryStore>(store::StoreOptions{.clock = clock}, character);
    session = std::make_unique<ScriptedSession>(*store->open_session(), script);
  }
  void SetUp() override { use(store::MemoryCharacter::serial); }

  // ---- operations ----
  static ExecutionId id(int number) {
    ExecutionId id;
    id.uuid.bytes[6] = 0x70;
    id.uuid.bytes[8] = 0x80;
    id.uuid.bytes[15] = static_cast<std::uint8_t>(number);
    return id;
  }
  std::unique_ptr<AnyOperation> any(Log& log) { return std::make_unique<AnyOperation>(log); }
  /// Wants that execution, and changes its progress if it is there.
  std::unique_ptr<AnyOperation> touch(Log& log, const ExecutionId& which) {
    auto operation = any(log);
    operation->wants = [which](const auto&, core::Reads& out) { out.execution(which); };
    operation->does = [which](core::WorkingSet& set, TimeMs now) {
      const core::ExecutionRecord* record = set.execution(which);
      if (!record) return;
      core::ExecutionRecord after = *record;
      after.progress.progress_pct = after.progress.progress_pct.value_or(0) + 1;
      core::Writes writes(now);
      writes.update(*record, std::move(after));
      set.apply(std::move(writes));
    };
    return operation;
  }
  std::unique_ptr<core::Operation> create(const ExecutionId& which, std::int32_t priority = 0) {
    Submission submission;
    submission.execution_kind = "job";
    submission.execution_id = which;
    submission.priority = priority;
    submission.payload = "input";
    auto checked = core::check_submission(std::move(submission), {}, {});
    EXPECT_TRUE(checked) << (checked ? "" : checked.error().to_string());
    return std::make_unique<core::TypedOperation<core::Create>>(
        std::move(checked->create), [this](Result<Submitted> reply) { submitted.push_back(std::move(reply)); });
  }
  std::unique_ptr<core::ClaimOperation> claim(std::uint32_t max, std::vector<ExecutionId>& got,
                                              std::optional<std::string> key = {}) {
    core::Claim request;
    request.worker.worker_id = "pool";
    request.worker.worker_instance_id = "w1";
    request.worker.lanes = {"default"};
    request.max = max;
    request.claim_key = std::move(key);
    request.ids = core::IdSource(++seed, 7);
    return std::make_unique<core::ClaimOperation>(std::move(request), [&got](Result<core::LeasedTasks> tasks) {
      ASSERT_TRUE(tasks) << tasks.error().to_string();
      for (const auto& task : *tasks) {
        EXPECT_TRUE(task.payload && *task.payload == "input") << "every task comes with what it is about";
        got.push_back(task.handle.execution_id);
      }
    });
  }
  template <class... Op>
  static Operations batch(std::unique_ptr<Op>... operations) {
    Operations all;
    (all.push_back(std::move(operations)), ...);
    return all;
  }
  static store::Planner::Row take(std::size_t claim, std::uint32_t count, std::int32_t floor = INT32_MIN) {
    static const core::QueueRef queue = core::make_queue("default", "default", "job", {});
    return {claim, {queue, floor, count}};
  }

  // ---- running ----
  store::BatchRun start(Operations operations) {
    script->calls.clear();
    return store::BatchRun(*session, planner, store->traits(), std::move(operations));
  }
  /// Steps to the end and delivers; every state besides `working` on the way, as one letter each: b(locked),
  /// w(aiting, after a conflict).
  std::string finish(store::BatchRun& run) {
    std::string states;
    waited_ms = 0;
    for (int i = 0; i < 10'000; ++i) {
      const auto state = run.step();
      for (auto& operation : run.take_answered()) operation->deliver();
      if (state == store::BatchRun::State::finished) return states;
      if (state == store::BatchRun::State::blocked) states += 'b';
      if (state == store::BatchRun::State::backing_off) {
        states += 'w';
        waited_ms += run.back_off_ms();
      }
    }
    ADD_FAILURE() << "it never ends";
    return states;
  }
  std::string run(Operations operations) {
    auto batch = start(std::move(operations));
    return finish(batch);
  }
  /// Progress as stored; none when the execution is not.
  std::optional<std::uint32_t> progress(const ExecutionId& which) {
    auto found = (*store->open_reader())->execution(which);
    if (!found || !*found) return std::nullopt;
    return (*found)->record.progress.progress_pct.value_or(0);
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<ScriptedSession::Script> script = std::make_shared<ScriptedSession::Script>();
  std::unique_ptr<store::MemoryStore> store;
  std::unique_ptr<ScriptedSession> session;
  ListedPlanner planner;
  std::vector<Result<Submitted>> submitted;
  std::uint64_t seed = 0;
  std::uint64_t waited_ms = 0;
};

}  // namespace ff::test
