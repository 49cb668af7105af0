#include "server/timers.h"

#include <gmock/gmock.h>

namespace ff::server {
namespace {

using ::testing::ElementsAre;

TEST(ServerTimers, what_is_due_is_done_once_and_in_order) {
  std::int64_t now = 1'000;
  Timers timers([&] { return now; });
  std::vector<int> done;
  timers.after(200, [&] { done.push_back(2); });
  timers.after(100, [&] { done.push_back(1); });
  timers.after(300, [&] { timers.after(0, [&] { done.push_back(3); }); });
  now = 1'099;
  timers.run_due();
  EXPECT_THAT(done, ElementsAre());
  now = 1'200;
  timers.run_due();
  EXPECT_THAT(done, ElementsAre(1, 2));
  now = 5'000;
  timers.run_due();
  EXPECT_THAT(done, ElementsAre(1, 2)) << "what an action asks for is not of this round";
  timers.run_due();
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  EXPECT_EQ(timers.count(), 0U);
}

TEST(ServerTimers, after_the_end_nothing_is_done) {
  Timers timers([] { return 0; });
  bool done = false;
  timers.after(0, [&] { done = true; });
  timers.close();
  timers.after(0, [&] { done = true; });
  timers.run_due();
  EXPECT_FALSE(done);
  EXPECT_EQ(timers.count(), 0U);
}

}  // namespace
}  // namespace ff::server
