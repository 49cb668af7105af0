// What the shells themselves make of the completion scripts.

#include "cli/sandbox.h"

#include <gtest/gtest.h>

namespace ff::test {
namespace {

std::string words_after(const std::string& shell, const std::string& ask) {
  Sandbox sandbox;
  const Ended printed = sandbox.ff({"completion", shell});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const Ended asked = sandbox.start_program({shell, "-c", printed.out + ask}).wait();
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_EQ(asked.err, "");
  return "\n" + asked.out;
}

std::string in_bash(const std::string& typed, int at) {
  return words_after("bash", "COMP_WORDS=(" + typed + "); COMP_CWORD=" + std::to_string(at) +
                                 "; _ff; printf '%s\\n' \"${COMPREPLY[@]}\"\n");
}

/// Outside of its line editor zsh has no `compadd`; this one prints what it is given.
std::string in_zsh(const std::string& typed, int at) {
  return words_after("zsh", "compadd() { shift; print -l -- \"$@\" }; words=(" + typed + "); CURRENT=" +
                                std::to_string(at + 1) + "; _ff\n");
}

TEST(Completion, bash_offers_commands_and_then_theirs) {
  EXPECT_NE(in_bash("ff ''", 1).find("\nsubmit\n"), std::string::npos);
  EXPECT_EQ(in_bash("ff subm", 1), "\nsubmit\n");
  const std::string lanes = in_bash("ff --store sqlite:x.db lanes ''", 4);
  EXPECT_NE(lanes.find("\npause\n"), std::string::npos) << lanes;
  EXPECT_EQ(lanes.find("\nsubmit\n"), std::string::npos) << lanes;
  EXPECT_EQ(in_bash("ff submit --prio", 2), "\n--priority\n");
  EXPECT_EQ(in_bash("ff lanes pause --stor", 3), "\n--store\n");
}

TEST(Completion, bash_leaves_the_words_of_a_worker_alone) {
  EXPECT_EQ(in_bash("ff worker exec --kind k -- l", 6), "\n\n");
}

TEST(Completion, zsh_offers_the_same) {
  EXPECT_NE(in_zsh("ff ''", 1).find("\nsubmit\n"), std::string::npos);
  const std::string lanes = in_zsh("ff lanes ''", 2);
  EXPECT_NE(lanes.find("\npause\n"), std::string::npos) << lanes;
  EXPECT_EQ(lanes.find("\nsubmit\n"), std::string::npos) << lanes;
}

TEST(Completion, an_unknown_shell_is_refused) {
  Sandbox sandbox;
  const Ended refused = sandbox.ff({"completion", "fish"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("bash"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace ff::test
