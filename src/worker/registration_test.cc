#include "worker/registration.h"

#include <gtest/gtest.h>

namespace ff::worker {
namespace {

using namespace std::chrono_literals;
using Sign = Registration::Sign;
using News = Registration::News;

class RegistrationTest : public ::testing::Test {
 protected:
  /// Sends what is due and answers it so.
  News answer(Sign expected, std::optional<ErrorCode> refusal = std::nullopt) {
    EXPECT_EQ(registration.due(now), expected);
    std::optional<Error> error;
    if (refusal) error = Error{*refusal, "as told", {}};
    return registration.answered(now, expected, error);
  }
  Registration::Millis until_next() const {
    return std::chrono::duration_cast<Registration::Millis>(registration.next() - now);
  }

  Registration registration{60'000, 50ms, 1'000ms, 7};
  Registration::TimePoint now = Registration::TimePoint() + 24h;
};

TEST_F(RegistrationTest, enters_at_once_and_then_gives_signs) {
  EXPECT_EQ(answer(Sign::enter), News::none);
  EXPECT_EQ(registration.due(now), Sign::none) << "not before its time";
  for (int i = 0; i < 50; ++i) {
    EXPECT_LE(until_next(), 20s) << "a third of the time to live";
    EXPECT_GE(until_next(), 16s);
    now = registration.next();
    EXPECT_EQ(answer(Sign::alive), News::none);
  }
}

TEST_F(RegistrationTest, workers_that_start_together_do_not_speak_together) {
  Registration other(60'000, 50ms, 1'000ms, 8);
  answer(Sign::enter);
  EXPECT_EQ(other.due(now), Sign::enter);
  other.answered(now, Sign::enter, std::nullopt);
  EXPECT_NE(other.next(), registration.next());
}

TEST_F(RegistrationTest, one_call_at_a_time) {
  EXPECT_EQ(registration.due(now), Sign::enter);
  EXPECT_EQ(registration.due(now), Sign::none);
  EXPECT_EQ(registration.next(), Registration::TimePoint::max());
}

TEST_F(RegistrationTest, T92_who_is_not_known_enters_again_at_once) {
  answer(Sign::enter);
  now = registration.next();
  EXPECT_EQ(answer(Sign::alive, ErrorCode::worker_not_found), News::none);
  EXPECT_EQ(answer(Sign::enter), News::none);
  EXPECT_GT(until_next(), 10s);
}

TEST_F(RegistrationTest, trouble_is_news_once_and_its_end_too) {
  EXPECT_EQ(answer(Sign::enter, ErrorCode::store_unavailable), News::trouble);
  for (const auto wait : {50ms, 100ms, 200ms, 400ms, 800ms, 1'000ms, 1'000ms}) {
    EXPECT_EQ(until_next(), wait);
    now = registration.next();
    EXPECT_EQ(answer(Sign::enter, ErrorCode::store_unavailable), News::none);
  }
  now = registration.next();
  EXPECT_EQ(answer(Sign::enter), News::well_again);
  now = registration.next();
  EXPECT_EQ(answer(Sign::alive, ErrorCode::timeout), News::trouble);
}

TEST_F(RegistrationTest, a_refusal_that_stays_is_asked_for_slowly) {
  EXPECT_EQ(answer(Sign::enter, ErrorCode::forbidden), News::trouble);
  EXPECT_EQ(until_next(), 20s);
}

TEST_F(RegistrationTest, the_farewell_is_the_last_word) {
  answer(Sign::enter);
  EXPECT_FALSE(registration.has_left(now));
  registration.leave(now, 2s);
  EXPECT_EQ(answer(Sign::leave, ErrorCode::store_unavailable), News::none);
  EXPECT_TRUE(registration.has_left(now)) << "whatever the answer";
  EXPECT_EQ(registration.due(now + 1h), Sign::none);
}

TEST_F(RegistrationTest, the_farewell_waits_for_what_is_under_way_but_not_for_ever) {
  EXPECT_EQ(registration.due(now), Sign::enter);
  registration.leave(now, 2s);
  EXPECT_EQ(registration.due(now), Sign::none) << "it would be overtaken by the entry";
  EXPECT_FALSE(registration.has_left(now + 1'999ms));
  EXPECT_TRUE(registration.has_left(now + 2s)) << "no answer ever came";
  registration.answered(now, Sign::enter, std::nullopt);
  EXPECT_EQ(registration.due(now), Sign::leave);
}

}  // namespace
}  // namespace ff::worker
