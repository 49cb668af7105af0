#pragma once

#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "support/manual_runtime.h"

#include <gtest/gtest.h>

namespace ff::engine {

/// An engine with three executors on a store that locks rows; nothing happens until it is stepped.
class SteppedEngineTest : public ::testing::Test {
 protected:
  SteppedEngineTest() {
    OpenOptions options;
    options.executors = 3;
    auto memory = std::make_unique<store::MemoryStore>(store::StoreOptions{}, store::MemoryCharacter::locking);
    store = memory.get();
    auto opened = Engine::open(std::move(memory), std::move(options), runtime);
    if (opened) engine = std::move(*opened);
    EXPECT_TRUE(engine) << opened.error().to_string();
    settle();
  }
  /// Calls that still wait are answered while all that their answers go to is there.
  void TearDown() override { engine->abandon(); }

  void settle() {
    constexpr int kRounds = 50;
    for (int round = 0; round < kRounds; ++round)
      for (Loop* loop : std::vector<Loop*>(runtime.loops)) loop->step();
  }

  std::vector<Submission> submissions(std::size_t count) {
    Submission one;
    one.execution_kind = "work";
    return std::vector<Submission>(count, one);
  }
  void submit(std::vector<Submission> requests) {
    engine->start(std::move(requests), Call{}, [&](std::size_t, const Result<Submitted>& submitted) {
      ASSERT_TRUE(submitted) << submitted.error().to_string();
      ++submitted_count;
    });
  }
  ClaimRequest claim_request(std::uint32_t max) {
    ClaimRequest request;
    request.worker_id = "pool";
    request.worker_instance_id = "one";
    request.lanes = {"default"};
    request.max = max;
    return request;
  }
  std::vector<ClaimedTask> claim(std::uint32_t max) {
    std::vector<ClaimedTask> got;
    engine->start(claim_request(max), Call{}, [&](Result<std::vector<ClaimedTask>> tasks) {
      ASSERT_TRUE(tasks) << tasks.error().to_string();
      got = std::move(*tasks);
    });
    settle();
    return got;
  }

  test::ManualRuntime runtime;
  store::MemoryStore* store = nullptr;
  std::unique_ptr<Engine> engine;
  std::size_t submitted_count = 0;
};

}  // namespace ff::engine
