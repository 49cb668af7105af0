#include "cli/sandbox.h"

#include <gmock/gmock.h>

namespace ff::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kNobody = "{fp:1}:550e8400-e29b-41d4-a716-446655440000";

TEST(CliSubmit, prints_the_id_and_keeps_what_was_given) {
  Sandbox box;
  const std::string id = box.submit({"resize", "--payload", R"([1, {"a": "b"}])", "--lane", "images", "--namespace", "acme",
                                     "--priority", "7", "--tag", "a=b", "--tag", "c=d=e", "--policy",
                                     R"({"retry_policy":{"max_retries":1}})", "--delay", "1h", "--deadline", "2h"});
  EXPECT_THAT(id, StartsWith("{fp:"));
  const auto execution = box.ff_json({"get", id});
  EXPECT_EQ(execution.at("execution_kind"), "resize");
  EXPECT_EQ(execution.at("lane_id"), "images");
  EXPECT_EQ(execution.at("namespace"), "acme");
  EXPECT_EQ(execution.at("priority"), 7);
  EXPECT_EQ(execution.at("tags"), (boost::json::object{{"a", "b"}, {"c", "d=e"}}));
  EXPECT_EQ(execution.at("policy").at("retry_policy").at("max_retries"), 1);
  EXPECT_EQ(execution.at("public_state"), "delayed");
  const auto created = execution.at("created_at_ms").as_int64();
  EXPECT_EQ(execution.at("delay_until_ms").as_int64(), created + 3'600'000);
  EXPECT_NEAR(static_cast<double>(execution.at("execution_deadline_at_ms").as_int64()),
              static_cast<double>(created + 7'200'000), 60'000);
  EXPECT_EQ(box.ff({"payload", id}).out, R"([1, {"a": "b"}])");
}

TEST(CliSubmit, payload_from_file_and_standard_input_byte_for_byte) {
  Sandbox box;
  const std::string bytes("\x00\xff\xfe\n\x1b", 5);
  box.write("in.bin", bytes);
  const std::string from_file = box.submit({"k", "--payload", "@in.bin", "--content-type", "application/octet-stream"});
  EXPECT_EQ(box.ff({"payload", from_file}).out, bytes);
  EXPECT_EQ(box.ff_json({"payload", from_file}).at("payload").at("base64"), "AP/+Chs=");
  const Ended piped = box.ff({"submit", "k", "--payload", "-"}, bytes);
  EXPECT_EQ(box.ff({"payload", piped.out.substr(0, piped.out.size() - 1)}).out, bytes);
  const std::string empty = box.submit({"k", "--payload", ""});
  EXPECT_EQ(box.ff_json({"get", empty}).at("payload_bytes"), 0);
  const std::string none = box.submit({"k"});
  EXPECT_EQ(box.ff({"payload", none}).code, 3);
}

TEST(CliSubmit, keys_and_ids_give_the_first_execution_again) {
  Sandbox box;
  const std::string first = box.submit({"k", "--key", "order-1"});
  const Ended again = box.ff({"submit", "k", "--key", "order-1"});
  EXPECT_EQ(again.out, first + "\n");
  EXPECT_THAT(again.err, HasSubstr("existed already"));
  const Ended other = box.ff({"submit", "other", "--key", "order-1"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("idempotency_conflict"));
  EXPECT_EQ(box.submit({"k", "--id", kNobody}), kNobody);
  EXPECT_EQ(box.ff_json({"submit", "k", "--id", kNobody}).at("duplicate"), true);
}

TEST(CliSubmit, what_is_wrong_is_refused_before_a_store_is_made) {
  Sandbox box;
  const std::vector<std::vector<std::string>> wrong = {
      {"submit"},
      {"submit", "k", "--delay", "soon"},
      {"submit", "k", "--deadline", "5"},
      {"submit", "k", "--tag", "x"},
      {"submit", "k", "--policy", "{"},
      {"submit", "k", "--policy", R"({"retires": 3})"},
      {"submit", "k", "--payload", "@missing"},
      {"submit", "k", "--id", "1"},
      {"submit", "k", "--priority", "high"},
      {"submit", "k", "--wait", "long"},
      {"submit", "k", "--no-such-option"},
      {"submit", "k", "--", "x"},
  };
  for (const auto& words : wrong) {
    const Ended ended = box.ff(words);
    EXPECT_EQ(ended.code, 2) << testing::PrintToString(words);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(lines_of(ended.err), SizeIs(1)) << ended.err;
    EXPECT_THAT(ended.err, StartsWith("ff: invalid_")) << ended.err;
  }
  EXPECT_FALSE(std::filesystem::exists(box.path("flowfabric.db")));
}

TEST(CliSubmit, waiting_is_bounded_by_its_duration) {
  Sandbox box;
  const Ended ended = box.ff({"submit", "k", "--wait", "300ms"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("It waits for a worker"));
  EXPECT_THAT(ended.err, HasSubstr("ff: timeout:"));
  EXPECT_EQ(ended.out, "");
}

TEST(CliSubmit, waiting_sees_a_deadline_although_nobody_works) {
  Sandbox box;
  const Ended ended = box.ff({"--json", "submit", "k", "--deadline", "500ms", "--wait"});
  EXPECT_EQ(ended.code, 1);
  const auto lines = lines_of(ended.out);
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(boost::json::parse(lines.front()).at("event"), "submitted");
  EXPECT_EQ(boost::json::parse(lines[1]).at("public_state"), "waiting");
  EXPECT_EQ(boost::json::parse(lines.back()).at("event"), "ended");
  EXPECT_EQ(boost::json::parse(lines.back()).at("execution").at("public_state"), "expired");
}

TEST(CliLook, nothing_is_made_by_a_command_that_reads) {
  Sandbox box;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"list"}, {"lanes"}, {"leases"}, {"check"}, {"get", kNobody}, {"why", kNobody},
        {"attempts", kNobody}, {"history", kNobody}, {"result", kNobody}, {"payload", kNobody}, {"cancel", kNobody},
        {"replay", kNobody}, {"delete", kNobody}, {"lanes", "pause", "x"}}) {
    const Ended ended = box.ff(words);
    EXPECT_EQ(ended.code, 4) << words[0];
    EXPECT_THAT(ended.err, HasSubstr("store_refused"));
  }
  EXPECT_FALSE(std::filesystem::exists(box.path("flowfabric.db")));
  EXPECT_FALSE(std::filesystem::exists(box.path("flowfabric.db-peers")));
}

TEST(CliLook, unknown_executions_are_not_found) {
  Sandbox box;
  box.submit({"k"});
  for (const char* command : {"get", "why", "attempts", "history", "result", "payload", "revoke", "complete", "fail"}) {
    const Ended ended = box.ff({command, kNobody});
    EXPECT_EQ(ended.code, 3) << command;
    EXPECT_THAT(ended.err, StartsWith("ff: execution_not_found: ")) << command;
    const Ended json = box.ff({"--json", command, kNobody});
    EXPECT_EQ(json.code, 3) << command;
    EXPECT_EQ(boost::json::parse(json.err).at("error").at("code"), "execution_not_found") << command;
  }
  EXPECT_EQ(box.ff({"get", "{fp:999}:550e8400-e29b-41d4-a716-446655440000"}).code, 2);
}

TEST(CliLook, get_has_readable_sections) {
  Sandbox box;
  const std::string id = box.submit({"k", "--payload", "123", "--tag", "who=\x1b[31mme"});
  const Ended ended = box.ff({"get", id});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, StartsWith(id + "  waiting\nIt waits for a worker: no live worker serves lane 'default'; 0 "
                                         "before it.\n"));
  for (const char* title : {"\nExecution\n", "\nState\n", "\nTimes\n", "\nCounters\n", "\nPolicy\n"})
    EXPECT_THAT(ended.out, HasSubstr(title));
  EXPECT_THAT(ended.out, HasSubstr("payload    3 B, application/json"));
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos);
}

TEST(CliLook, why_is_a_sentence) {
  Sandbox box;
  const std::string id = box.submit({"k", "--delay", "1h"});
  EXPECT_THAT(box.ff({"why", id}).out, StartsWith("Its creator delayed it until "));
  EXPECT_EQ(box.ff_json({"why", id}).at("reason"), "waiting_for_delay");
  box.ff({"lanes", "pause", "default"});
  const std::string waiting = box.submit({"k"});
  EXPECT_THAT(box.ff({"why", waiting}).out, HasSubstr("lane 'default' is paused"));
}

TEST(CliLook, a_result_that_is_not_there_is_not_found) {
  Sandbox box;
  const std::string id = box.submit({"k"});
  const Ended none = box.ff({"result", id});
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(box.ff({"complete", id, "--result", R"({"ok": true})"}).code, 0);
  EXPECT_EQ(box.ff({"result", id}).out, R"({"ok": true})");
  EXPECT_EQ(box.ff_json({"result", id}).at("result").at("ok"), true);
}

TEST(CliStore, is_chosen_by_option_or_environment) {
  Sandbox box;
  EXPECT_EQ(box.ff({"submit", "k", "--store", "sqlite:a.db"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(box.path("a.db")));
  box.environment = {"FF_STORE=sqlite:b.db"};
  EXPECT_EQ(box.ff({"submit", "k"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(box.path("b.db")));
  EXPECT_EQ(box.ff({"list", "--store", "oracle:x"}).code, 2);
  box.write("text.db", "this is no database, but a text that is long enough to be looked at as one");
  const Ended damaged = box.ff({"list", "--store", "sqlite:text.db"});
  EXPECT_EQ(damaged.code, 4);
  EXPECT_THAT(damaged.err, HasSubstr("store_refused"));
}

TEST(CliStore, the_counts_of_a_data_set_need_not_be_repeated) {
  Sandbox box;
  EXPECT_EQ(box.ff({"migrate", "--flow-partitions", "16", "--lane-spread", "2"}).code, 0);
  const std::string id = box.submit({"k"});
  EXPECT_EQ(box.state(id), "waiting");
  EXPECT_EQ(box.ff({"cancel", id}).code, 0);
  EXPECT_EQ(box.ff({"check"}).code, 0);
  EXPECT_EQ(box.ff({"migrate"}).code, 0);
  const Ended other = box.ff({"migrate", "--flow-partitions", "32"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("stored=16"));
}

}  // namespace
}  // namespace ff::test
