#include "api/middleware/circuit.h"

#include <gtest/gtest.h>

namespace ff::api {
namespace {

using namespace std::chrono_literals;
using Pass = Circuit::Pass;
using Verdict = Circuit::Verdict;

class CircuitTest : public ::testing::Test {
 protected:
  /// One goes through, as expected, and ends so.
  void one(Pass expected, Verdict verdict) {
    const Pass pass = circuit.ask(now);
    EXPECT_EQ(pass, expected);
    if (pass != Pass::no) circuit.ended(now, pass, verdict);
  }

  Circuit circuit{3, 30s};
  Circuit::TimePoint now = Circuit::TimePoint() + 1h;
};

TEST_F(CircuitTest, opens_after_failures_in_a_row) {
  one(Pass::free, Verdict::failure);
  one(Pass::free, Verdict::failure);
  one(Pass::free, Verdict::success);
  one(Pass::free, Verdict::failure);
  one(Pass::free, Verdict::neither);
  one(Pass::free, Verdict::failure);
  EXPECT_EQ(circuit.left(now), 0ms);
  one(Pass::free, Verdict::failure);
  EXPECT_EQ(circuit.left(now), 30s);
  one(Pass::no, Verdict::success);
  now += 29'999ms;
  one(Pass::no, Verdict::success);
  EXPECT_EQ(circuit.left(now), 1ms);
}

TEST_F(CircuitTest, a_trial_decides) {
  for (int i = 0; i < 3; ++i) one(Pass::free, Verdict::failure);
  now += 30s;
  one(Pass::trial, Verdict::failure);
  EXPECT_EQ(circuit.left(now), 30s) << "open again";
  now += 30s;
  one(Pass::trial, Verdict::neither);
  one(Pass::free, Verdict::failure);
  one(Pass::free, Verdict::failure);
  EXPECT_EQ(circuit.left(now), 0ms) << "the count began anew";
}

TEST_F(CircuitTest, T93_who_is_refused_during_the_trial_changes_nothing) {
  for (int i = 0; i < 3; ++i) one(Pass::free, Verdict::failure);
  now += 30s;
  EXPECT_EQ(circuit.ask(now), Pass::trial);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(circuit.ask(now), Pass::no);
  circuit.ended(now, Pass::trial, Verdict::success);
  one(Pass::free, Verdict::success);
}

TEST_F(CircuitTest, stragglers_do_not_move_it) {
  for (int i = 0; i < 3; ++i) one(Pass::free, Verdict::failure);
  circuit.ended(now, Pass::free, Verdict::success);
  EXPECT_EQ(circuit.ask(now), Pass::no) << "it began before";
  now += 10s;
  circuit.ended(now, Pass::free, Verdict::failure);
  EXPECT_EQ(circuit.left(now), 20s) << "not put off";
}

}  // namespace
}  // namespace ff::api
