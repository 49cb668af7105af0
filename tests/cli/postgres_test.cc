// The program on a Postgres store.

#include "cli/sandbox.h"
#include "support/postgres_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CliOnPostgres, every_kind_of_command_works_by_url) {
  PostgresServer server(true);
  Sandbox box;
  box.environment = {"FF_STORE=" + server.url("flow")};

  const Ended nothing = box.ff({"list"});
  EXPECT_EQ(nothing.code, 4) << nothing.err;
  EXPECT_THAT(nothing.err, HasSubstr("holds no FlowFabric data"));

  const Ended migrated = box.ff({"migrate"});
  EXPECT_EQ(migrated.code, 0) << migrated.err;
  EXPECT_THAT(migrated.out, HasSubstr("applied 0001 foundation"));
  EXPECT_THAT(box.ff({"migrate"}).out, HasSubstr("nothing to do"));

  const std::string id = box.submit({"greet", "--payload", "{}"});
  EXPECT_EQ(box.state(id), "waiting");
  Process worker = box.start({"worker", "exec", "--kind", "greet", "--", "cat"});
  box.wait_for_state(id, "completed");
  worker.signal(SIGTERM);
  worker.wait();
  EXPECT_EQ(box.ff({"result", id}).out, "{}");

  const std::string other = box.submit({"greet"});
  EXPECT_EQ(box.ff({"cancel", other}).code, 0);
  EXPECT_EQ(box.state(other), "cancelled");

  EXPECT_EQ(box.ff({"workers"}).code, 0);
  EXPECT_THAT(box.ff({"tail", id}).out, HasSubstr("success"));
  EXPECT_THAT(box.ff({"audit"}).out, HasSubstr("execution_cancelled"));
  EXPECT_THAT(box.ff({"token", "create", "--name", "t", "--scope", "read"}).out, HasSubstr("ff_"));
  EXPECT_THAT(box.ff({"token", "list"}).out, HasSubstr("valid"));

  const Ended checked = box.ff({"check"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("postgres"));
  EXPECT_THAT(checked.out, HasSubstr("synchronous_commit"));
}

TEST(CliOnPostgres, a_password_is_never_printed) {
  Sandbox box;
  for (const char* url :
       {"postgres://app:s3cret@127.0.0.1:1/flow?connect_timeout=1", "postgres://app:s3cret@h/d?x=y"}) {
    const Ended ended = box.ff({"list", "--store", url});
    EXPECT_NE(ended.code, 0);
    EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace ff::test
