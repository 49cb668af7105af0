#include "cli/worker_exec.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ff::cli {
namespace {

ChildEnd exited(int code, std::string error_line = {}) {
  ChildEnd end;
  end.code = code;
  end.output = "out";
  end.last_error_line = std::move(error_line);
  return end;
}

Outcome outcome(const ChildEnd& end, StopReason reason = StopReason::none) {
  ExecWords words;
  words.command = {"prog", "arg"};
  words.result_type = "image/png";
  return outcome_of(end, reason, words, 1'000);
}

TEST(CliWorkerExec, exit_code_0_completes_with_the_output) {
  const Outcome done = outcome(exited(0));
  const auto& complete = std::get<Outcome::Complete>(done.value());
  EXPECT_EQ(complete.result, "out");
  EXPECT_EQ(complete.content_type, "image/png");
}

TEST(CliWorkerExec, other_exit_codes_fail_and_65_for_good) {
  for (int code : {1, 2, 75, 127, 255}) {
    const auto failure = std::get<Outcome::Fail>(outcome(exited(code, "no luck")).value());
    EXPECT_EQ(failure.failure_class, FailureClass::transient) << code;
    EXPECT_EQ(failure.message, "no luck");
  }
  const auto failure = std::get<Outcome::Fail>(outcome(exited(65)).value());
  EXPECT_EQ(failure.failure_class, FailureClass::permanent);
  EXPECT_EQ(failure.message, "'prog' ended with exit code 65.");
}

TEST(CliWorkerExec, signals_starts_and_long_outputs) {
  ChildEnd end;
  end.how = ChildEnd::How::signalled;
  end.code = SIGSEGV;
  EXPECT_EQ(std::get<Outcome::Fail>(outcome(end).value()).message,
            "'prog' was ended by signal 11 (Segmentation fault).");
  end.how = ChildEnd::How::not_started;
  end.code = ENOENT;
  const auto not_started = std::get<Outcome::Fail>(outcome(end).value());
  EXPECT_EQ(not_started.message, "'prog' could not be started: No such file or directory.");
  EXPECT_EQ(not_started.failure_class, FailureClass::transient);
  end.how = ChildEnd::How::output_too_long;
  const auto too_long = std::get<Outcome::Fail>(outcome(end).value());
  EXPECT_EQ(too_long.failure_class, FailureClass::permanent);
  EXPECT_EQ(too_long.message, "The output is longer than 1000 bytes.");
}

TEST(CliWorkerExec, a_drained_child_hands_its_task_back_unless_it_finished) {
  ChildEnd end;
  end.how = ChildEnd::How::signalled;
  end.code = SIGTERM;
  end.stopped = true;
  EXPECT_TRUE(std::holds_alternative<Outcome::Delay>(outcome(end, StopReason::draining).value()));
  EXPECT_TRUE(std::holds_alternative<Outcome::Fail>(outcome(end, StopReason::cancelled).value()));
  end = exited(0);
  end.stopped = true;
  EXPECT_TRUE(std::holds_alternative<Outcome::Complete>(outcome(end, StopReason::draining).value()));
}

}  // namespace
}  // namespace ff::cli
