#include "store/sqlite/peers.h"

#include "support/temp_folder.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace ff::store::sqlite {
namespace {

class PeersTest : public ::testing::Test {
 protected:
  test::TempFolder folder;
  std::string database = folder.file("flow.db");
};

}  // namespace

TEST_F(PeersTest, others_are_seen_and_oneself_is_not) {
  Peers one;
  ASSERT_TRUE(one.join(database));
  EXPECT_FALSE(one.others_present());
  {
    Peers other;
    ASSERT_TRUE(other.join(database));
    EXPECT_TRUE(one.others_present());
    EXPECT_TRUE(other.others_present());
  }
  EXPECT_FALSE(one.others_present());
}

TEST_F(PeersTest, a_writer_in_the_queue_is_not_seen_as_a_process) {
  Peers one;
  Turnstile writer;
  ASSERT_TRUE(one.join(database));
  ASSERT_TRUE(writer.open(database));
  writer.enter();
  EXPECT_FALSE(one.others_present());
}

TEST_F(PeersTest, the_one_that_waits_is_next) {
  Turnstile busy, waiting;
  ASSERT_TRUE(busy.open(database));
  ASSERT_TRUE(waiting.open(database));
  std::atomic<int> inside = 0, turns = 0;
  auto write = [&](Turnstile& turnstile) {
    for (int i = 0; i < 50; ++i) {
      turnstile.enter();
      EXPECT_EQ(++inside, 1);
      ++turns;
      --inside;
      turnstile.leave();
    }
  };
  std::thread other([&] { write(waiting); });
  write(busy);
  other.join();
  EXPECT_EQ(turns, 100);
}

TEST_F(PeersTest, a_process_that_was_stopped_in_the_queue_does_not_stop_the_others) {
  Turnstile stopped, other;
  ASSERT_TRUE(stopped.open(database));
  ASSERT_TRUE(other.open(database));
  stopped.enter();
  other.enter();  // returns, without the lock
  other.leave();
  Turnstile third;
  ASSERT_TRUE(third.open(database));
  stopped.leave();
  third.enter();
  third.leave();
}

}  // namespace ff::store::sqlite
