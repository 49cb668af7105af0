// Executions T67, Domain T44: many threads at once, with a clock that jumps under them.

#include "model/arguments.h"
#include "support/world.h"

#include <mutex>
#include <thread>

namespace ff::test {
namespace {

constexpr int kThreads = 4;
constexpr int kCallsPerThread = 2'500;
/// Few enough that the threads are in each other's way.
constexpr std::size_t kExecutionsMax = 150;

OpenOptions threads_options() {
  OpenOptions options;
  options.lane_spread = 1;
  return options;
}

/// What all threads share.
class Crowd {
 public:
  explicit Crowd(World& world) : world_(world) {}

  void run(std::uint64_t seed) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([this, seed, i] {
        Random random(seed + static_cast<std::uint64_t>(i));
        Arguments arguments(random);
        for (int call = 0; call < kCallsPerThread; ++call) act(random, arguments);
      });
  }

  std::vector<ExecutionId> executions() const { return executions_; }

 private:
  void act(Random& random, Arguments& arguments) {
    const Fabric& fabric = world_.fabric;
    switch (random.below(16)) {
      case 0:
      case 1: return submit(random, arguments);
      case 2:
      case 3:
      case 4: return claimed(fabric.claim(arguments.claim()));
      case 5: return claimed(fabric.claim(arguments.claim_named(some_execution(random))));
      case 6: return (void)fabric.renew({.handle = some_handle(random)});
      case 7: return (void)fabric.complete({.handle = some_handle(random), .result = arguments.bytes()});
      case 8: return (void)fabric.fail({.handle = some_handle(random), .message = "broken"});
      case 9: return (void)fabric.delay({.handle = some_handle(random), .delay_ms = random.below(3'000)});
      case 10: return (void)fabric.cancel(some_execution(random));
      case 11: return (void)fabric.replay(some_execution(random));
      case 12: return (void)fabric.revoke_lease({.execution_id = some_execution(random)});
      case 13: return (void)fabric.change_priority(some_execution(random), static_cast<std::int32_t>(random.below(9)));
      case 14: return (void)fabric.set_tags(some_execution(random), arguments.tag_changes());
      default: return world_.clock->advance(random.between(0, 2'000));
    }
  }

  void submit(Random& random, Arguments& arguments) {
    if (std::lock_guard guard(mutex_); executions_.size() >= kExecutionsMax && random.chance(0.9)) return;
    Submission submission = arguments.submission(world_.clock->now_ms());
    if (!submission.policy) submission.policy.emplace();
    submission.policy->retention_ttl_ms.reset();  // all of them are there to be looked at in the end
    auto answer = world_.fabric.submit(submission);
    std::lock_guard guard(mutex_);
    if (answer && !answer->duplicate) executions_.push_back(answer->execution_id);
  }

  void claimed(const Result<std::vector<ClaimedTask>>& tasks) {
    std::lock_guard guard(mutex_);
    if (!tasks) return;
    for (const auto& task : *tasks) handles_.push_back(task.handle);
  }

  ExecutionId some_execution(Random& random) {
    std::lock_guard guard(mutex_);
    return executions_.empty() ? ExecutionId{} : random.pick(executions_);
  }

  std::string some_handle(Random& random) {
    std::lock_guard guard(mutex_);
    if (handles_.empty()) return "none yet";
    const std::size_t among = std::min<std::size_t>(handles_.size(), 20);
    return handles_[handles_.size() - 1 - random.below(among)];
  }

  World& world_;
  std::mutex mutex_;
  std::vector<ExecutionId> executions_;
  std::vector<std::string> handles_;
};

class Threads : public ::testing::TestWithParam<StoreUnderTest> {};

/// What the events of one execution say: leases one after the other, one end between two replays.
void check_story(World& world, const ExecutionId& id) {
  SCOPED_TRACE(id.to_string());
  const Execution execution = world.get(id);
  std::uint64_t epoch = 0;
  std::size_t replays = 0;
  bool ended = false;
  for (const auto& event : world.history(id)) {
    if (event.kind == EventKind::lease && (event.event_type == "acquired" || event.event_type == "reclaimed")) {
      EXPECT_EQ(event.lease_epoch, ++epoch);
      EXPECT_FALSE(ended) << "leased after its end";
    }
    if (event.kind == EventKind::completion) {
      EXPECT_FALSE(ended) << "ended twice";
      ended = true;
    }
    if (event.event_type == "replayed") {
      EXPECT_TRUE(ended) << "replayed before its end";
      ended = false;
      ++replays;
    }
  }
  EXPECT_EQ(execution.counters.current_lease_epoch, epoch);
  EXPECT_EQ(execution.counters.replay_count, replays);
  EXPECT_EQ(execution.state.lifecycle_phase == LifecyclePhase::terminal, ended);

  const auto attempts = world.attempts(id);
  EXPECT_EQ(attempts.size(), execution.counters.total_attempt_count);
  std::size_t open = 0;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    EXPECT_EQ(attempts[i].attempt_index, i);
    open += attempts[i].attempt_state == AttemptRecordState::started ||
            attempts[i].attempt_state == AttemptRecordState::suspended;
  }
  EXPECT_LE(open, 1U);
}

/// The counts of a lane, from a look at every execution.
LaneCounts recount(World& world, const std::string& lane) {
  LaneCounts counts;
  for (const auto& item : world.list_all({.lane = lane})) {
    const Execution execution = world.get(item.execution_id);
    switch (execution.state.public_state) {
      case PublicState::waiting:
      case PublicState::resumable: ++counts.eligible.value; break;
      case PublicState::delayed: ++counts.delayed.value; break;
      case PublicState::active: ++(execution.lease ? counts.active : counts.reclaimable).value; break;
      case PublicState::waiting_children: ++counts.blocked_dependencies.value; break;
      default: ++counts.terminal.value;
    }
  }
  return counts;
}

}  // namespace

TEST_P(Threads, T44_T67_calls_from_many_threads_keep_every_promise) {
  World world(GetParam(), threads_options());
  Crowd crowd(world);
  crowd.run(7);
  world.settle();
  EXPECT_THAT(world.faults(), ::testing::IsEmpty()) << "what is derived is as it should be";
  const auto executions = crowd.executions();
  ASSERT_GE(executions.size(), kExecutionsMax);
  for (const auto& id : executions) check_story(world, id);
  for (const auto& status : must(world.fabric.lanes()).items)
    EXPECT_EQ(status.depth, recount(world, status.lane.lane_id)) << status.lane.lane_id;
}

INSTANTIATE_TEST_SUITE_P(Stores, Threads, ::testing::ValuesIn(stores_under_test()),
                         [](const auto& which) { return which.param.name; });

}  // namespace ff::test
