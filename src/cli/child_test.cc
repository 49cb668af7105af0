#include "cli/child.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace ff::cli {
namespace {

class CliChild : public testing::Test {
 protected:
  CliChild() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~CliChild() override { std::signal(SIGPIPE, before_); }

 private:
  void (*before_)(int);
};

ChildCall shell(std::string script) {
  ChildCall call;
  call.command = {"sh", "-c", std::move(script)};
  return call;
}

TEST_F(CliChild, bytes_go_in_and_come_out_unchanged) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes.push_back(static_cast<char>(i * 7));
  ChildCall call;
  call.command = {"cat"};
  call.input = bytes;
  const ChildEnd end = run_child(call, {});
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.output, bytes);
}

TEST_F(CliChild, a_program_that_does_not_read_its_input_is_fine) {
  const std::string bytes(1 << 20, 'x');
  ChildCall call = shell("exec <&-; echo done");
  call.input = bytes;
  const ChildEnd end = run_child(call, {});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.output, "done\n");
}

TEST_F(CliChild, exit_codes_signals_and_the_last_line_of_errors) {
  ChildEnd end = run_child(shell("echo one >&2; echo two >&2; echo >&2; exit 7"), {});
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.last_error_line, "two");
  end = run_child(shell("printf unended >&2; kill -9 $$"), {});
  EXPECT_EQ(end.how, ChildEnd::How::signalled);
  EXPECT_EQ(end.code, SIGKILL);
  EXPECT_EQ(end.last_error_line, "unended");
}

TEST_F(CliChild, environment_is_added_to_ours) {
  setenv("FF_CHILD_TEST_OURS", "ours", 1);
  setenv("FF_CHILD_TEST_BOTH", "ours", 1);
  ChildCall call = shell("echo $FF_CHILD_TEST_OURS $FF_CHILD_TEST_BOTH $FF_CHILD_TEST_NEW");
  call.environment = {{"FF_CHILD_TEST_BOTH", "theirs"}, {"FF_CHILD_TEST_NEW", "new"}};
  EXPECT_EQ(run_child(call, {}).output, "ours theirs new\n");
}

TEST_F(CliChild, a_missing_program_is_told) {
  ChildCall call;
  call.command = {"/does/not/exist"};
  const ChildEnd end = run_child(call, {});
  EXPECT_EQ(end.how, ChildEnd::How::not_started);
  EXPECT_EQ(end.code, ENOENT);
  EXPECT_FALSE(can_run("/does/not/exist"));
  EXPECT_FALSE(can_run("ff-no-such-program"));
  EXPECT_TRUE(can_run("sh"));
}

TEST_F(CliChild, output_is_bounded) {
  ChildCall call = shell("trap '' TERM; yes");
  call.output_bytes_max = 1'000;
  call.kill_grace_ms = 50;
  const ChildEnd end = run_child(call, {});
  EXPECT_EQ(end.how, ChildEnd::How::output_too_long);
  EXPECT_EQ(end.output, "");
  ChildCall exact = shell("printf 12345");
  exact.output_bytes_max = 5;
  EXPECT_EQ(run_child(exact, {}).output, "12345");
}

TEST_F(CliChild, a_stop_ends_it_with_sigterm) {
  std::stop_source stop;
  ChildCall call = shell("trap 'echo bye; exit 9' TERM; echo ready >&2; while :; do sleep 0.05; done");
  call.on_error_line = [&](std::string_view line) {
    if (line == "ready") stop.request_stop();
  };
  const ChildEnd end = run_child(call, stop.get_token());
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.code, 9);
  EXPECT_EQ(end.output, "bye\n");
}

TEST_F(CliChild, what_ignores_sigterm_is_killed_with_its_children) {
  std::stop_source stop;
  ChildCall call = shell("trap '' TERM; sleep 1000 & echo $! >&2; wait; sleep 1000");
  call.kill_grace_ms = 100;
  pid_t grandchild = 0;
  call.on_error_line = [&](std::string_view line) {
    grandchild = std::stoi(std::string(line));
    stop.request_stop();
  };
  const ChildEnd end = run_child(call, stop.get_token());
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.how, ChildEnd::How::signalled);
  EXPECT_EQ(end.code, SIGKILL);
  ASSERT_GT(grandchild, 0);
  for (int i = 0; i < 1'000 && kill(grandchild, 0) == 0; ++i) {
    // A killed orphan stays visible until init collects it; its state says that it is dead.
    std::FILE* file = std::fopen(("/proc/" + std::to_string(grandchild) + "/stat").c_str(), "r");
    char state = 'Z';
    if (file && std::fscanf(file, "%*d %*s %c", &state) != 1) state = '?';
    if (file) std::fclose(file);
    if (state == 'Z') return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(kill(grandchild, 0), 0);
}

TEST_F(CliChild, a_process_left_in_the_background_does_not_hold_up_the_end) {
  const auto start = std::chrono::steady_clock::now();
  const ChildEnd end = run_child(shell("sleep 60 & echo $!; exit 0"), {});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(end.code, 0);
  kill(std::stoi(end.output), SIGKILL);
}

}  // namespace
}  // namespace ff::cli
