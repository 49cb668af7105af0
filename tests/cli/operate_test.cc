#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <sqlite3.h>

namespace ff::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(CliList, filters_combine) {
  Sandbox box;
  const std::string a = box.submit({"resize", "--lane", "images", "--tag", "tenant=a"});
  const std::string b = box.submit({"resize", "--lane", "images", "--tag", "tenant=b", "--delay", "1h"});
  const std::string c = box.submit({"mail", "--namespace", "acme"});
  auto ids = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "list");
    std::vector<std::string> found;
    const auto page = box.ff_json(words);
    for (const auto& item : page.at("items").as_array())
      found.emplace_back(item.at("execution_id").as_string());
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids({}), (Ids{c, b, a}));
  EXPECT_EQ(ids({"--oldest-first"}), (Ids{a, b, c}));
  box.ff({"priority", b, "10"});
  EXPECT_EQ(ids({"--by-priority"}), (Ids{b, a, c}));
  EXPECT_EQ(box.ff({"list", "--by-priority", "--oldest-first"}).code, 2);
  EXPECT_EQ(ids({"--kind", "resize"}), (Ids{b, a}));
  EXPECT_EQ(ids({"--lane", "images", "--state", "waiting"}), Ids{a});
  EXPECT_EQ(ids({"--state", "waiting,delayed", "--kind", "resize"}), (Ids{b, a}));
  EXPECT_EQ(ids({"--state", "waiting", "--state", "delayed"}), (Ids{c, b, a}));
  EXPECT_EQ(ids({"--tag", "tenant=b"}), Ids{b});
  EXPECT_EQ(ids({"--namespace", "acme"}), Ids{c});
  EXPECT_EQ(ids({"--blocking-reason", "waiting_for_delay"}), Ids{b});
  EXPECT_EQ(ids({"--created-after", "1h"}), (Ids{c, b, a}));
  EXPECT_EQ(ids({"--created-before", "1h"}), Ids{});
  EXPECT_EQ(ids({"--worker", "nobody"}), Ids{});
  EXPECT_EQ(box.ff({"list", "--state", "done"}).code, 2);
}

TEST(CliList, pages_and_streams) {
  Sandbox box;
  for (int i = 0; i < 7; ++i) box.submit({"k"});
  const auto first = box.ff_json({"list", "--limit", "3"});
  EXPECT_THAT(first.at("items").as_array(), SizeIs(3));
  const std::string cursor(first.at("next_cursor").as_string());
  const auto rest = box.ff_json({"list", "--limit", "600", "--cursor", cursor});
  EXPECT_THAT(rest.at("items").as_array(), SizeIs(4));
  EXPECT_FALSE(rest.as_object().contains("next_cursor"));
  EXPECT_THAT(box.ff_json({"list", "--limit", "0"}).at("items").as_array(), SizeIs(0));

  const Ended stream = box.ff({"--json", "list", "--all"});
  EXPECT_THAT(lines_of(stream.out), SizeIs(7));
  for (const auto& line : lines_of(stream.out)) EXPECT_EQ(boost::json::parse(line).at("execution_kind"), "k");
  EXPECT_THAT(lines_of(box.ff({"list", "--all"}).out), SizeIs(8));
  EXPECT_EQ(box.ff({"list", "--cursor", "x"}).code, 2);
  EXPECT_EQ(box.ff({"list", "--kind", "other"}).err, "Nothing matches.\n");
}

TEST(CliCancel, named_executions) {
  Sandbox box;
  const std::string a = box.submit({"k"}), b = box.submit({"k"}), done = box.submit({"k"});
  box.ff({"complete", done});
  EXPECT_EQ(box.ff({"cancel", a, b, "--reason", "wrong file"}).code, 0);
  EXPECT_EQ(box.state(a), "cancelled");
  EXPECT_EQ(box.ff_json({"get", b}).at("cancellation_reason"), "wrong file");
  EXPECT_EQ(box.ff_json({"cancel", a}).at("unchanged"), 1);
  const Ended refused = box.ff({"cancel", done, a});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("execution_not_active"));
  EXPECT_THAT(refused.out, HasSubstr("cancelled already"));
  EXPECT_EQ(box.ff({"cancel"}).code, 2);
  EXPECT_EQ(box.ff({"cancel", a, "--lane", "default"}).code, 2);
}

TEST(CliCancel, by_filter_only_after_a_yes) {
  Sandbox box;
  std::vector<std::string> ids;
  for (int i = 0; i < 12; ++i) ids.push_back(box.submit({"k", "--lane", "imports"}));
  const std::string other = box.submit({"k"});
  const Ended preview = box.ff({"cancel", "--lane", "imports", "--state", "waiting"});
  EXPECT_EQ(preview.code, 4);
  EXPECT_THAT(preview.out, HasSubstr("... and 2 more"));
  EXPECT_THAT(preview.err, HasSubstr("Nothing was changed: 12 match."));
  EXPECT_EQ(box.state(ids[0]), "waiting");

  const Ended done = box.ff({"cancel", "--lane", "imports", "--state", "waiting", "--yes"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "cancelled 12.\n");
  for (const auto& id : ids) EXPECT_EQ(box.state(id), "cancelled");
  EXPECT_EQ(box.state(other), "waiting");
  EXPECT_EQ(box.ff_json({"cancel", "--lane", "imports", "--yes"}).at("done"), 0) << "what has ended does not match";
}

TEST(CliReplay, named_and_by_filter) {
  Sandbox box;
  const std::string a = box.submit({"k", "--tag", "run=1"}), b = box.submit({"k", "--tag", "run=1"});
  EXPECT_EQ(box.ff({"replay", a}).code, 4);
  box.ff({"fail", a, "--message", "no luck"});
  box.ff({"cancel", b});
  EXPECT_EQ(box.ff({"replay", a, "--reason", "fixed"}).code, 0);
  EXPECT_EQ(box.state(a), "waiting");
  box.ff({"fail", a});
  const auto all = box.ff_json({"replay", "--tag", "run=1", "--yes"});
  EXPECT_EQ(all.at("done"), 2);
  EXPECT_EQ(box.state(b), "waiting");
}

TEST(CliChange, priority_tags_finish_and_delete) {
  Sandbox box;
  const std::string id = box.submit({"k", "--tag", "old=1"});
  EXPECT_THAT(box.ff({"priority", id, "70"}).out, HasSubstr("priority 0 -> 70"));
  EXPECT_EQ(box.ff_json({"priority", id, "9999"}).at("new_priority"), 9000);
  EXPECT_EQ(box.ff({"tag", id, "new=2", "old-"}).code, 0);
  EXPECT_EQ(box.ff_json({"get", id}).at("tags"), (boost::json::object{{"new", "2"}}));
  EXPECT_EQ(box.ff({"tag", id, "bad"}).code, 2);
  EXPECT_EQ(box.ff({"tag", id, ".x=1"}).code, 2);
  EXPECT_THAT(box.ff({"revoke", id}).out, HasSubstr("nothing to revoke: no_active_lease"));
  EXPECT_EQ(box.ff({"delete", id}).code, 4);
  EXPECT_EQ(box.ff({"fail", id, "--message", "customer left", "--category", "business"}).code, 0);
  const auto failed = box.ff_json({"get", id});
  EXPECT_EQ(failed.at("public_state"), "failed");
  EXPECT_EQ(failed.at("failure_reason"), "customer left");
  EXPECT_EQ(failed.at("failure_category"), "business");
  EXPECT_EQ(box.ff({"complete", id}).code, 4);
  EXPECT_EQ(box.ff({"delete", id}).code, 0);
  EXPECT_EQ(box.ff({"get", id}).code, 3);
  EXPECT_EQ(box.ff({"delete", id}).code, 0) << "deleting twice succeeds";
}

TEST(CliChange, history_tells_who_did_what) {
  Sandbox box;
  const std::string id = box.submit({"k"});
  box.ff({"priority", id, "5"});
  box.ff({"cancel", id, "--reason", "enough"});
  const auto events = box.ff_json({"history", id});
  std::vector<std::string> types;
  for (const auto& event : events.as_array())
    types.emplace_back(event.at("kind") == "completion" ? event.at("outcome").as_string() : event.at("event_type").as_string());
  EXPECT_THAT(types, testing::UnorderedElementsAre("priority_changed", "cancelled", "execution_cancelled"));
  const Ended table = box.ff({"history", id});
  EXPECT_THAT(table.out, HasSubstr("priority_changed"));
  EXPECT_THAT(lines_of(table.out), SizeIs(4));
}

TEST(CliLanes, list_pause_resume_drain) {
  Sandbox box;
  box.submit({"k", "--lane", "imports"});
  EXPECT_THAT(box.ff({"lanes", "pause", "imports", "--reason", "moving day"}).out, HasSubstr("imports  paused"));
  auto lane = [&](const std::string& name) {
    const auto lanes = box.ff_json({"lanes"});
    for (const auto& item : lanes.as_array())
      if (item.at("lane").at("lane_id").as_string() == std::string_view(name)) return item;
    return boost::json::value();
  };
  EXPECT_EQ(lane("imports").at("lane").at("lane_state"), "paused");
  EXPECT_EQ(lane("imports").at("lane").at("state_reason"), "moving day");
  EXPECT_EQ(lane("imports").at("depth").at("eligible").at("value"), 1);
  EXPECT_EQ(box.ff({"lanes", "drain", "imports"}).code, 0);
  EXPECT_EQ(box.ff({"submit", "k", "--lane", "imports"}).code, 4);
  EXPECT_EQ(box.ff({"lanes", "resume", "imports"}).code, 0);
  EXPECT_EQ(box.ff({"submit", "k", "--lane", "imports"}).code, 0);
  EXPECT_THAT(box.ff({"lanes"}).out, HasSubstr("imports"));
  EXPECT_EQ(box.ff({"lanes", "stop", "imports"}).code, 2);
}

TEST(CliOperate, migrate_tells_what_it_did) {
  Sandbox box;
  const auto first = box.ff_json({"migrate"});
  EXPECT_EQ(first.at("schema_version_before"), 0);
  EXPECT_FALSE(first.at("applied").as_array().empty());
  const auto second = box.ff_json({"migrate"});
  EXPECT_TRUE(second.at("applied").as_array().empty());
  EXPECT_EQ(second.at("schema_version_before"), first.at("schema_version"));
  EXPECT_EQ(second.at("data_set_id"), first.at("data_set_id"));
  EXPECT_THAT(box.ff({"migrate"}).out, HasSubstr("nothing to do"));
}

/// Runs SQL on the store behind the engine's back.
void tamper(const Sandbox& box, const char* sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(box.path("flowfabric.db").c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

TEST(CliOperate, check_finds_what_is_wrong) {
  Sandbox box;
  const std::string id = box.submit({"k"});
  const Ended good = box.ff({"check"});
  EXPECT_EQ(good.code, 0) << good.out;
  EXPECT_THAT(good.out, HasSubstr("no findings"));
  const auto report = box.ff_json({"check"});
  EXPECT_EQ(report.at("durability"), "full");
  EXPECT_EQ(report.at("store").at("settings").at("synchronous"), "FULL");
  EXPECT_EQ(report.at("data_set").at("flow_partitions"), 256);

  tamper(box, "UPDATE ff_exec_core SET candidate = NULL");
  const Ended bad = box.ff({"check"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("finding: " + id + ": candidate is not as derived"));
  const Ended json = box.ff({"--json", "check"});
  EXPECT_EQ(json.code, 1);
  EXPECT_THAT(boost::json::parse(json.out).at("findings").as_array(), SizeIs(1));
}

TEST(CliOperate, a_schema_of_another_version_is_left_alone) {
  Sandbox box;
  box.submit({"k"});
  tamper(box, "INSERT INTO ff_migration_annotation VALUES (9999, 'later', 0, 0)");
  for (const char* command : {"list", "migrate"}) {
    const Ended newer = box.ff({command});
    EXPECT_EQ(newer.code, 4);
    EXPECT_THAT(newer.err, HasSubstr("store_refused"));
  }
  tamper(box, "DELETE FROM ff_migration_annotation WHERE version = 9999");
  EXPECT_EQ(box.ff({"list"}).code, 0);
  tamper(box, "DELETE FROM ff_migration_annotation WHERE version = (SELECT max(version) FROM ff_migration_annotation)");
  const Ended older = box.ff({"list"});
  EXPECT_EQ(older.code, 4);
  EXPECT_THAT(older.err, HasSubstr("ff migrate"));
}

TEST(CliOperate, memory_is_called_what_it_is) {
  Sandbox box;
  const Ended ended = box.ff({"check", "--store", "memory:"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("finding: durability is none"));
}

TEST(CliHelp, every_command_has_an_example) {
  Sandbox box;
  const std::vector<std::vector<std::string>> commands = {
      {"submit"}, {"get"},     {"why"},    {"attempts"}, {"history"}, {"result"},        {"payload"},        {"list"},
      {"cancel"}, {"replay"},  {"revoke"}, {"priority"}, {"complete"}, {"fail"},         {"tag"},            {"delete"},
      {"lanes"},  {"leases"},  {"worker"}, {"migrate"},  {"check"},   {"version"},        {"worker", "exec"},
      {"lanes", "pause"}, {"lanes", "resume"}, {"lanes", "drain"}};
  for (auto words : commands) {
    words.push_back("--help");
    const Ended ended = box.ff(words);
    EXPECT_EQ(ended.code, 0);
    EXPECT_THAT(ended.out, HasSubstr("Example:\n  ff " + words[0])) << words[0];
  }
  EXPECT_EQ(box.ff({"--help"}).code, 0);
  EXPECT_EQ(box.ff({}).code, 2);
  EXPECT_EQ(box.ff({"no-such-command"}).code, 2);
  EXPECT_THAT(box.ff({"version"}).out, HasSubstr("ff "));
  EXPECT_EQ(box.ff_json({"version"}).at("version").is_string(), true);
  EXPECT_THAT(box.ff({"--version"}).out, HasSubstr("ff "));
}

}  // namespace
}  // namespace ff::test
