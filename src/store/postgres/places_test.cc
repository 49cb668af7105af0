#include "store/postgres/places.h"

#include <gtest/gtest.h>

#include <thread>

namespace ff::store::postgres {
namespace {

using namespace std::chrono_literals;
using Found = QueuePlaces::Found;
using Who = QueuePlaces::Who;

constexpr std::int32_t kQueue = 7;
constexpr TimeMs kNow = 1'000'000;
constexpr auto kSlow = 60ms;

class Places : public ::testing::Test {
 protected:
  QueuePlaces::Search search(std::optional<Pace::Clock::duration> took, const std::optional<Found>& found) {
    auto under_way = places.begin(kQueue, Who::take);
    under_way.took = took;
    places.end(under_way, found);
    return under_way;
  }
  /// Where the next take would begin for members of that priority.
  TimeMs begins(std::int32_t priority) {
    const auto next = search(std::nullopt, std::nullopt);
    for (const auto& range : next.ranges)
      if (range.low <= priority && priority <= range.high) return range.from_ms;
    ADD_FAILURE() << "no range has priority " << priority;
    return 0;
  }

  QueuePlaces places;
  const TimeMs everything = QueuePlaces::kWhole.from_ms;
};

TEST_F(Places, a_quick_search_is_followed_by_a_whole_one) {
  search(1ms, Found{{{5, 900, true}}, false, kNow});
  EXPECT_TRUE(search(1ms, std::nullopt).whole);
  EXPECT_FALSE(places.any()) << "and nothing is remembered";
}

TEST_F(Places, after_a_slow_one_the_next_begins_at_the_first_that_stays) {
  search(kSlow,
         Found{{{5, 900, false}, {5, 910, false}, {5, 920, true}, {5, 930, false}, {3, 100, true}}, false, kNow});
  EXPECT_FALSE(search(std::nullopt, std::nullopt).whole);
  EXPECT_EQ(begins(5), 920);
  EXPECT_EQ(begins(3), 100);
  for (std::int32_t unknown : {9, 4, 1}) EXPECT_EQ(begins(unknown), everything);
}

TEST_F(Places, the_ranges_follow_each_other_and_leave_nothing_out) {
  search(kSlow, Found{{{5, 900, true}, {4, 800, true}, {1, 700, true}}, false, kNow});
  const auto ranges = search(std::nullopt, std::nullopt).ranges;
  ASSERT_EQ(ranges.size(), 6U);
  EXPECT_EQ(ranges.front().high, QueuePlaces::kWhole.high);
  EXPECT_EQ(ranges.back().low, QueuePlaces::kWhole.low);
  for (std::size_t i = 1; i < ranges.size(); ++i) EXPECT_EQ(ranges[i].high, ranges[i - 1].low - 1);
}

TEST_F(Places, where_all_have_left_it_goes_on_at_the_last_of_them) {
  search(kSlow, Found{{{5, 900, false}, {5, 910, false}}, false, kNow});
  EXPECT_EQ(begins(5), 910);
}

TEST_F(Places, a_queue_that_was_seen_empty_begins_a_moment_before_now) {
  search(kSlow, Found{{}, true, kNow});
  EXPECT_EQ(begins(5), kNow - 500) << "somebody may commit what he made a moment ago";
}

TEST_F(Places, what_this_process_puts_back_sets_the_place_back) {
  search(kSlow, Found{{{5, 900, true}}, true, kNow});
  places.appeared(kQueue, {5, 300, true});
  EXPECT_EQ(begins(5), 300);
  places.appeared(kQueue, {8, 200, true});
  EXPECT_EQ(begins(8), 200);
}

TEST_F(Places, what_comes_back_during_a_search_is_not_lost_when_it_ends) {
  search(kSlow, Found{{{5, 900, true}}, false, kNow});
  auto under_way = places.begin(kQueue, Who::take);
  places.appeared(kQueue, {5, 300, true});
  places.end(under_way, Found{{{5, 950, true}}, true, kNow});
  EXPECT_EQ(begins(5), 300);
  search(std::nullopt, Found{{{5, 960, true}}, false, kNow});
  EXPECT_EQ(begins(5), 960) << "the next search has seen it";
}

TEST_F(Places, a_search_that_was_rolled_back_teaches_nothing) {
  search(kSlow, Found{{{5, 900, true}}, false, kNow});
  search(std::nullopt, std::nullopt);
  EXPECT_EQ(begins(5), 900);
}

TEST_F(Places, what_another_search_held_and_let_go_is_not_passed_over) {
  search(kSlow, Found{{{5, 900, true}}, false, kNow});
  auto passing = places.begin(kQueue, Who::take);
  places.appeared(kQueue, {5, 910, true});  // another take has locked this one, and leaves it
  places.end(passing, Found{{{5, 920, false}}, true, kNow});
  EXPECT_EQ(begins(5), 910);
}

TEST_F(Places, a_search_heeds_what_appeared_since_it_began_however_many_overlap) {
  search(kSlow, Found{{{5, 900, true}}, false, kNow});
  auto under_way = places.begin(kQueue, Who::take);
  places.appeared(kQueue, {5, 300, true});
  for (TimeMs created_at_ms = 901; created_at_ms < 910; ++created_at_ms) {
    auto next = places.begin(kQueue, Who::take);  // sees the one from 300, and takes it
    places.end(under_way, Found{{{5, created_at_ms, true}}, false, kNow});
    under_way = next;
  }
  places.end(under_way, Found{{{5, 950, true}}, false, kNow});
  EXPECT_EQ(begins(5), 950);
}

TEST_F(Places, a_search_that_finds_many_may_take_longer) {
  Found many{{}, false, kNow};
  for (TimeMs created_at_ms = 0; created_at_ms < 400; ++created_at_ms) many.members.push_back({5, created_at_ms, false});
  search(14ms, many);
  EXPECT_TRUE(search(1ms, std::nullopt).whole);
  search(16ms, many);
  EXPECT_FALSE(search(std::nullopt, std::nullopt).whole);
}

TEST_F(Places, a_search_that_wanted_more_is_soon_followed_by_a_whole_one) {
  search(6ms, Found{{{5, 900, true}}, false, kNow});
  search(std::nullopt, Found{{{5, 900, false}}, true, kNow});
  EXPECT_FALSE(search(std::nullopt, std::nullopt).whole);
  std::this_thread::sleep_for(150ms);
  EXPECT_TRUE(search(1ms, std::nullopt).whole);
}

TEST_F(Places, whole_searches_are_made_again_after_a_while_and_sooner_when_others_put_something_back) {
  search(6ms, Found{{{5, 900, true}}, false, kNow});
  EXPECT_FALSE(search(std::nullopt, std::nullopt).whole);
  std::this_thread::sleep_for(150ms);
  places.distrust();
  EXPECT_TRUE(search(1ms, std::nullopt).whole);
  EXPECT_FALSE(places.any()) << "it was quick: the dead entries are gone";
}

TEST_F(Places, looks_and_takes_have_a_pace_of_their_own) {
  places.looked(kQueue, kSlow);
  EXPECT_TRUE(search(1ms, std::nullopt).whole);
  const auto looks = places.begin_slow(Who::look);
  ASSERT_EQ(looks.size(), 1U);
  EXPECT_FALSE(looks.front().whole);
  places.end(looks.front(), Found{{{5, 900, true}}, false, kNow});
  EXPECT_TRUE(places.any());
}

TEST_F(Places, more_priorities_than_are_remembered_are_still_found) {
  std::vector<QueueMember> many;
  for (std::int32_t priority = 40; priority > 0; --priority) many.push_back({priority, 500 + priority, true});
  search(kSlow, Found{many, true, kNow});
  for (const auto& member : many) EXPECT_LE(begins(member.priority), member.created_at_ms);
}

TEST(DuePlaces, begin_at_the_earliest_clock_that_runs_once_searching_is_slow) {
  DuePlace place;
  auto quick = place.begin();
  EXPECT_TRUE(quick.whole);
  place.end(quick, 500, kNow);
  EXPECT_TRUE(place.begin().whole) << "it was quick";

  DuePlace other;
  auto slow = other.begin();
  slow.started -= 60ms;
  other.end(slow, 500, kNow);
  EXPECT_EQ(other.begin().from_ms, 500);
}

TEST(DuePlaces, a_clock_that_this_process_sets_earlier_is_not_passed_over) {
  DuePlace place;
  auto slow = place.begin();
  slow.started -= 60ms;
  place.appeared(700);
  place.end(slow, std::nullopt, kNow);
  auto next = place.begin();
  EXPECT_FALSE(next.whole);
  EXPECT_EQ(next.from_ms, 700) << "set while the search was under way";
  place.end(next, std::nullopt, kNow);
  EXPECT_EQ(place.begin().from_ms, kNow - 500);
  place.appeared(300);
  EXPECT_EQ(place.begin().from_ms, 300);
}

}  // namespace
}  // namespace ff::store::postgres
