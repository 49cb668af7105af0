#include "engine/read_pool.h"

#include "store/memory/memory_store.h"
#include "support/manual_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::engine {
namespace {

using ::testing::ElementsAre;

class ReadPoolTest : public ::testing::Test {
 protected:
  ReadPool::Job job(std::string name) {
    return [this, name](Result<store::Reader*> reader) {
      done.push_back(name + ": " + (reader ? "read" : std::string(traits(reader.error().code).name)));
    };
  }

  test::ManualRuntime runtime;
  store::MemoryStore store;
  ReadPool pool{runtime, store, 2};
  std::vector<std::string> done;
};

TEST_F(ReadPoolTest, every_reader_has_a_loop_and_takes_the_oldest_job) {
  ASSERT_TRUE(pool.start(2));
  ASSERT_EQ(runtime.loops.size(), 2U);
  pool.push(job("a"));
  pool.push(job("b"));
  EXPECT_EQ(runtime.notified("ff-read"), 4) << "both are told";
  EXPECT_EQ(runtime.loops[1]->step(), 0) << "there is more";
  EXPECT_EQ(runtime.loops[0]->step(), kNever);
  EXPECT_EQ(runtime.loops[0]->step(), kNever);
  EXPECT_THAT(done, ElementsAre("a: read", "b: read"));
}

TEST_F(ReadPoolTest, a_full_queue_answers_resource_exhausted_at_once) {
  ASSERT_TRUE(pool.start(1));
  pool.push(job("a"));
  pool.push(job("b"));
  pool.push(job("c"));
  EXPECT_THAT(done, ElementsAre("c: resource_exhausted"));
  runtime.loops[0]->step();
  pool.push(job("d"));
  runtime.loops[0]->step();
  runtime.loops[0]->step();
  EXPECT_THAT(done, ElementsAre("c: resource_exhausted", "a: read", "b: read", "d: read"));
}

TEST_F(ReadPoolTest, stopping_answers_whoever_is_queued) {
  ASSERT_TRUE(pool.start(1));
  pool.push(job("a"));
  pool.stop();
  EXPECT_THAT(done, ElementsAre("a: draining"));
  EXPECT_EQ(runtime.loops[0]->step(), kNever);
}

TEST_F(ReadPoolTest, a_read_after_the_stop_is_answered_too) {
  ASSERT_TRUE(pool.start(1));
  pool.stop();
  pool.push(job("late"));
  EXPECT_THAT(done, ElementsAre("late: draining"));
}

}  // namespace
}  // namespace ff::engine
