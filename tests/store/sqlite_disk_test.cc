// A disk that is full, and one that fails: nothing that was acknowledged is lost, nothing is half there, and the engine
// goes on when the disk does.

#include "store/failing_disk.h"
#include "store/store_file.h"

namespace ff::test {
namespace {

class Disk : public StoreFile {
 protected:
  FailingDisk disk_;
};

}  // namespace

TEST_F(Disk, a_full_disk_is_told_and_survived) {
  const Opened opened = open();
  const Fabric& fabric = opened.fabric;
  submit(fabric);
  const ClaimedTask task = claim(fabric);
  const ExecutionId waiting = submit(fabric);

  disk_.full = true;
  auto refused = fabric.submit({.execution_kind = "job"});
  ASSERT_THAT(refused, RefusedWith(ErrorCode::store_unavailable, "reason", "disk_full"));
  EXPECT_TRUE(refused.error().retryable());
  EXPECT_THAT(fabric.complete({.handle = task.handle}),
              RefusedWith(ErrorCode::store_unavailable, "reason", "disk_full"));
  EXPECT_EQ(must(fabric.get(waiting)).state.public_state, PublicState::waiting) << "reads go on";
  EXPECT_EQ(must(fabric.list()).items.size(), 2U);

  disk_.full = false;
  EXPECT_THAT(fabric.complete({.handle = task.handle, .result = "done"}), Succeeds()) << "by itself";
  EXPECT_EQ(must(fabric.result(task.execution.execution_id))->bytes, "done");
  submit(fabric);
  EXPECT_EQ(must(fabric.list()).items.size(), 3U) << "what was refused was not done";
  EXPECT_THAT(faults(opened), IsEmpty());
}

TEST_F(Disk, a_start_on_a_full_disk) {
  disk_.full = true;
  EXPECT_THAT(try_open(), RefusedWith(ErrorCode::store_unavailable, "reason", "disk_full"));
  disk_.full = false;
  expect_sound();
}

/// A day's work in which one write or sync after the other fails. Whatever was answered with success is there, before
/// and after a restart; whatever was refused may be repeated.
TEST_F(Disk, every_write_fails_in_turn) {
  int survived = 0;
  for (int nth = 1;; ++nth) {
    Opened opened = open();
    disk_.fail_at = nth;
    const auto submitted = opened.fabric.submit({.execution_kind = "job", .lane_id = "lane" + std::to_string(nth)});
    std::optional<ClaimedTask> task;
    Result<Changed> completed = std::unexpected(Error{});
    if (submitted) {
      auto tasks = opened.fabric.claim(
          {.worker_id = "pool", .worker_instance_id = "w1", .lanes = {"lane" + std::to_string(nth)}});
      if (tasks && !tasks->empty()) task = tasks->front();
      if (task) completed = opened.fabric.complete({.handle = task->handle, .result = "done"});
    }
    const bool reached = disk_.fail_at.exchange(0) == 0;
    for (const bool reopened : {false, true}) {
      if (reopened) {
        opened.fabric.close();
        opened = open();
      }
      SCOPED_TRACE(nth);
      EXPECT_THAT(faults(opened), IsEmpty());
      if (!submitted) continue;
      const Execution execution = must(opened.fabric.get(submitted->execution_id));
      if (task) {
        EXPECT_GE(execution.counters.current_lease_epoch, 1U);
      }
      if (completed) {
        EXPECT_EQ(must(opened.fabric.result(submitted->execution_id))->bytes, "done");
      } else if (task && reopened) {
        EXPECT_THAT(opened.fabric.complete({.handle = task->handle, .result = "done"}), Succeeds()) << "repeated";
      }
    }
    opened.fabric.close();
    survived += reached;
    if (!reached || ::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(survived, 5) << "the disk was never asked";
}

}  // namespace ff::test
