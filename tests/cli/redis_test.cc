// The program on a Redis store: every command, on one server and on a cluster.

#include "cli/sandbox.h"
#include "support/redis_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace ff::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_done(const Sandbox& box, const std::vector<std::string>& words, std::string_view said = "") {
  const Ended ended = box.ff(words);
  EXPECT_EQ(ended.code, 0) << words.front() << ": " << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(said)) << words.front();
}

/// `check` tells what is weak with 1.
void use_every_command(const std::string& url, int check_code) {
  Sandbox box;
  box.environment = {"FF_STORE=" + url};

  const Ended nothing = box.ff({"list"});
  EXPECT_EQ(nothing.code, 4) << nothing.err;
  EXPECT_THAT(nothing.err, HasSubstr("holds no FlowFabric data"));
  expect_done(box, {"migrate"}, "foundation");
  expect_done(box, {"migrate"}, "nothing to do");

  const std::string id = box.submit({"greet", "--payload", "{}", "--tag", "team=red"});
  EXPECT_EQ(box.state(id), "waiting");
  expect_done(box, {"why", id});
  expect_done(box, {"priority", id, "7"});
  expect_done(box, {"tag", id, "size=big"});
  Process worker = box.start({"worker", "exec", "--kind", "greet", "--", "cat"});
  box.wait_for_state(id, "completed");
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait().code, 0);
  expect_done(box, {"result", id}, "{}");
  expect_done(box, {"payload", id}, "{}");
  expect_done(box, {"attempts", id}, "ended_success");
  expect_done(box, {"history", id}, "acquired");
  expect_done(box, {"list", "--tag", "size=big"}, id);
  expect_done(box, {"replay", id});
  EXPECT_EQ(box.state(id), "waiting");
  expect_done(box, {"complete", id});

  const std::string other = box.submit({"greet"}), third = box.submit({"greet"});
  expect_done(box, {"fail", other, "--reason", "no good"});
  EXPECT_EQ(box.state(other), "failed");
  expect_done(box, {"cancel", third});
  EXPECT_EQ(box.state(third), "cancelled");
  expect_done(box, {"delete", third});
  EXPECT_EQ(box.ff({"get", third}).code, 3);
  expect_done(box, {"lanes"}, "default");
  expect_done(box, {"leases"});
  expect_done(box, {"workers"});
  expect_done(box, {"tail", id}, "success");
  expect_done(box, {"audit"}, "execution_cancelled");
  expect_done(box, {"token", "create", "--name", "t", "--scope", "read"}, "ff_");
  expect_done(box, {"token", "list"}, "valid");

  const Ended checked = box.ff({"check"});
  EXPECT_EQ(checked.code, check_code) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("appendfsync"));
  EXPECT_THAT(checked.out, HasSubstr("function library"));

  expect_done(box, {"export", "--out", "all.jsonl"}, "Exported 2 executions");
  expect_done(box, {"import", "--store", "sqlite:copy.db", "--in", "all.jsonl"}, "Imported 2 executions");
  expect_done(box, {"get", id, "--store", "sqlite:copy.db"}, "completed");
  expect_done(box, {"bench", "cycle", "--executions", "200"}, "ratio");
}

TEST(CliOnRedis, every_command_works_on_a_server) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  use_every_command(server.url(), 0);
}

TEST(CliOnRedis, every_command_works_on_a_cluster) {
  RedisCluster cluster;
  use_every_command(cluster.url(), 1);
}

TEST(CliOnRedis, a_data_set_comes_from_a_file) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  Sandbox box;
  const std::string waits = box.submit({"k", "--payload", "{\"n\":1}", "--tag", "a=b"});
  expect_done(box, {"export", "--out", "all.jsonl"}, "Exported 1 execution");
  expect_done(box, {"import", "--store", server.url(), "--in", "all.jsonl"}, "Imported 1 execution");
  expect_done(box, {"payload", waits, "--store", server.url()}, "{\"n\":1}");
  expect_done(box, {"check", "--store", server.url()});
}

TEST(CliOnRedis, a_password_is_never_printed) {
  Sandbox box;
  for (const char* url : {"redis://app:s3cret@127.0.0.1:1", "valkey://app:s3cret@h/d?x=y"}) {
    const Ended ended = box.ff({"list", "--store", url});
    EXPECT_NE(ended.code, 0);
    EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace ff::test
