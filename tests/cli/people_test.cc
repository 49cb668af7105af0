// Commands about who works, who may call, and who did what; and what happens as it happens.

#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <csignal>

namespace ff::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::string text(const boost::json::value& value) { return std::string(value.as_string()); }

/// A worker that runs this shell command on each task.
std::vector<std::string> worker(const std::string& command, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"worker", "exec", "--kind", "k", "--quiet"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", "sh", "-c", command});
  return words;
}

TEST(CliToken, is_shown_once_and_never_again) {
  Sandbox box;
  const Ended made = box.ff({"token", "create", "--name", "ci", "--scope", "read,submit"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, StartsWith("ff_"));
  EXPECT_THAT(lines_of(made.out), SizeIs(1)) << "nothing but the token, so that a script can take it";
  EXPECT_THAT(made.err, HasSubstr("shown this once"));
  const std::string token = lines_of(made.out)[0];
  const std::string secret = token.substr(token.find('_', 3) + 1);

  const Ended listed = box.ff({"token", "list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("ci"), HasSubstr("read,submit"), HasSubstr("valid"), Not(HasSubstr(secret))));
  const auto documents = box.ff_json({"token", "list"});
  ASSERT_THAT(documents.as_array(), SizeIs(1));
  EXPECT_FALSE(documents.at(0).as_object().contains("token_hash"));
  EXPECT_FALSE(documents.at(0).as_object().contains("token"));
  EXPECT_THAT(box.read("flowfabric.db"), Not(HasSubstr(secret))) << "the store keeps its hash";
}

TEST(CliToken, as_a_document) {
  Sandbox box;
  const auto made =
      box.ff_json({"token", "create", "--name", "w", "--scope", "worker", "--namespace", "shop", "--expires", "90d"});
  EXPECT_THAT(text(made.at("token")), StartsWith("ff_"));
  EXPECT_EQ(made.at("namespace"), "shop");
  EXPECT_EQ(made.at("expires_at_ms").as_int64() - made.at("created_at_ms").as_int64() > 89LL * 86'400'000, true);
  EXPECT_FALSE(made.as_object().contains("token_hash"));
}

TEST(CliToken, is_revoked_by_its_id) {
  Sandbox box;
  const auto made = box.ff_json({"token", "create", "--name", "a", "--scope", "admin"});
  const std::string id = text(made.at("token_id"));
  EXPECT_THAT(box.ff({"token", "revoke", id}).out, HasSubstr(id + "  revoked"));
  EXPECT_EQ(box.ff({"token", "revoke", id}).code, 0) << "once more is no harm";
  EXPECT_THAT(box.ff({"token", "list"}).out, HasSubstr("revoked"));
  EXPECT_EQ(box.ff({"token", "revoke", "01890000-0000-7000-8000-00000000ffff"}).code, 3);
  const Ended wrong = box.ff({"token", "revoke", text(made.at("token"))});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, Not(HasSubstr(text(made.at("token"))))) << "what opens something is not repeated";
}

TEST(CliToken, wrong_words) {
  Sandbox box;
  EXPECT_EQ(box.ff({"token"}).code, 2);
  EXPECT_EQ(box.ff({"token", "create", "--name", "a"}).code, 2);
  EXPECT_EQ(box.ff({"token", "create", "--scope", "read"}).code, 2);
  const Ended scope = box.ff({"token", "create", "--name", "a", "--scope", "root"});
  EXPECT_EQ(scope.code, 2);
  EXPECT_THAT(scope.err, HasSubstr("read, submit, signal, worker, operator, admin"));
  EXPECT_EQ(box.ff({"token", "create", "--name", "a", "--scope", "read", "--expires", "2020-01-01"}).code, 2);
  EXPECT_EQ(box.ff({"token", "create", "--name", "a", "--scope", "read", "--expires", "soon"}).code, 2);
  EXPECT_THAT(box.ff_json({"token", "list"}).as_array(), IsEmpty());
}

TEST(CliWorkers, are_listed_while_they_work) {
  Sandbox box;
  box.submit({"other"});
  EXPECT_EQ(box.ff({"workers"}).err, "No live workers.\n");
  Process working = box.start(worker("cat", {"--lane", "default", "--concurrency", "3"}));
  boost::json::value listed;
  ASSERT_TRUE(eventually([&] {
    listed = box.ff_json({"workers"});
    return listed.as_array().size() == 1 && listed.at(0).as_object().contains("max_concurrent_tasks");
  }));
  EXPECT_EQ(listed.at(0).at("max_concurrent_tasks"), 3);
  EXPECT_EQ(listed.at(0).at("kinds").at(0), "k");
  const std::string instance = text(listed.at(0).at("worker_instance_id"));
  EXPECT_THAT(box.ff({"workers"}).out, AllOf(HasSubstr(instance), HasSubstr("0/3"), HasSubstr("default")));
  EXPECT_THAT(box.ff_json({"workers", "--lane", "video"}).as_array(), IsEmpty());
  EXPECT_THAT(box.ff_json({"workers", "--namespace", "shop"}).as_array(), IsEmpty());
  working.signal(SIGTERM);
  EXPECT_EQ(working.wait().code, 0);
  EXPECT_THAT(box.ff_json({"workers"}).as_array(), IsEmpty()) << "it took itself off";
}

TEST(CliWorkers, the_dead_are_struck_off) {
  Sandbox box;
  Process doomed = box.start(worker("echo > started; exec sleep 1000"));
  const std::string id = box.submit({"k"});
  ASSERT_TRUE(eventually([&] { return !box.read("started").empty(); }));
  const std::string instance = text(box.ff_json({"workers"}).at(0).at("worker_instance_id"));
  doomed.signal(SIGKILL);
  doomed.wait();
  EXPECT_EQ(box.ff({"workers", "dead", instance}).code, 2) << "a reason is wanted";
  const Ended dead = box.ff({"workers", "dead", instance, "--reason", "it burns", "--revoke-leases"});
  EXPECT_EQ(dead.out, instance + "  struck off, 1 lease revoked\n");
  EXPECT_EQ(box.ff({"workers", "dead", instance, "--reason", "again"}).code, 3);
  EXPECT_THAT(box.ff_json({"workers"}).as_array(), IsEmpty());
  EXPECT_THAT(box.ff({"why", id}).out, HasSubstr("was revoked"));
  const auto acts = box.ff_json({"audit", "--act", "worker_marked_dead"}).at("items");
  ASSERT_THAT(acts.as_array(), SizeIs(1));
  EXPECT_THAT(text(acts.at(0).at("details")), HasSubstr("it burns"));
  EXPECT_THAT(text(acts.at(0).at("actor")), HasSubstr("@")) << "who did it, and where";
}

TEST(CliTail, follows_to_the_end) {
  Sandbox box;
  const std::string id = box.submit({"k"});
  Process tail = box.start({"tail", id});
  Process json = box.start({"--json", "tail", id});
  Process working = box.start(worker("cat"));
  const Ended ended = tail.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("lease"), HasSubstr("acquired"), HasSubstr("completion"), HasSubstr("success")));
  EXPECT_THAT(ended.err, Not(IsEmpty())) << "how it ended, in a sentence";
  const auto lines = lines_of(json.wait().out);
  ASSERT_GE(lines.size(), 2U);
  for (const auto& line : lines) EXPECT_EQ(text(boost::json::parse(line).at("execution_id")), id);
  EXPECT_EQ(lines_of(ended.out).size(), lines.size());
}

TEST(CliTail, what_has_ended_is_told_at_once) {
  Sandbox box;
  const std::string id = box.submit({"k"});
  box.ff({"cancel", id});
  const Ended ended = box.ff({"tail", id});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("cancelled"));
  EXPECT_EQ(box.ff({"tail", "{fp:0}:01890000-0000-7000-8000-00000000ffff"}).code, 3);
  EXPECT_EQ(box.ff({"tail", "nonsense"}).code, 2);
}

TEST(CliAudit, lists_what_operators_did) {
  Sandbox box;
  const std::string id = box.submit({"k"});
  EXPECT_EQ(box.ff({"audit"}).err, "Nothing was done by operators.\n");
  box.ff({"priority", id, "7"});
  box.ff({"cancel", id, "--reason", "not needed"});
  box.ff({"lanes", "pause", "default", "--reason", "night"});
  const Ended listed = box.ff({"audit"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("lane_configured"), HasSubstr("execution_cancelled"), HasSubstr("not needed")));
  EXPECT_LT(listed.out.find("lane_configured"), listed.out.find("priority_changed")) << "newest first";
  auto acts = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "audit");
    return box.ff_json(std::move(words)).at("items").as_array().size();
  };
  EXPECT_EQ(acts({}), 3U);
  EXPECT_EQ(acts({"--execution", id}), 2U);
  EXPECT_EQ(acts({"--act", "priority_changed"}), 1U);
  EXPECT_EQ(acts({"--since", "1h"}), 3U);
  EXPECT_EQ(acts({"--actor", "nobody"}), 0U);
  const auto first = box.ff_json({"audit", "--limit", "2"});
  EXPECT_EQ(acts({"--cursor", text(first.at("next_cursor"))}), 1U);
  EXPECT_EQ(box.ff({"audit", "--limit", "501"}).code, 2);
  EXPECT_EQ(box.ff({"audit", "--execution", "x"}).code, 2);
}

}  // namespace
}  // namespace ff::test
