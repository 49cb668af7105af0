// 07, sections 1 and 2: how a server starts, and how it refuses to.

#include "process/server_process.h"
#include "support/old_file.h"

#include <csignal>

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::StartsWith;

class ProcessBoot : public ::testing::Test {
 protected:
  /// The line of a setting in what `--check` prints.
  std::string checked(const std::string& setting, std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"serve", "--check"});
    const Ended ended = box.ff(flags);
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (const std::string& line : lines_of(ended.out))
      if (line.starts_with(setting + " = ")) return line;
    return "not there";
  }
  Ended refused(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), "serve");
    return box.ff(flags);
  }

  Sandbox box;
};

TEST_F(ProcessBoot, T1_a_flag_before_a_variable_before_a_file_before_the_default) {
  EXPECT_EQ(checked("lease_ttl_ms", {}), "lease_ttl_ms = 30000  (default)");
  box.write("ff.toml", "[leases]\nlease_ttl_ms = 11000\n");
  box.write("ff.json", R"({"lease_ttl_ms": 11000})");
  EXPECT_EQ(checked("lease_ttl_ms", {"--config", "ff.toml"}), "lease_ttl_ms = 11000  (ff.toml)");
  EXPECT_EQ(checked("lease_ttl_ms", {"--config", "ff.json"}), "lease_ttl_ms = 11000  (ff.json)");
  box.environment = {"FF_LEASE_TTL_MS=12000", "FF_CONFIG=ff.toml"};
  EXPECT_EQ(checked("lease_ttl_ms", {}), "lease_ttl_ms = 12000  (FF_LEASE_TTL_MS)");
  EXPECT_EQ(checked("lease_ttl_ms", {"--lease-ttl-ms", "13000"}), "lease_ttl_ms = 13000  (--lease-ttl-ms)");
}

TEST_F(ProcessBoot, T1_the_store_may_be_named_before_the_command) {
  auto store = [&](const std::vector<std::string>& words) { return lines_of(box.ff(words).out).at(0); };
  EXPECT_EQ(store({"--store", "sqlite:a.db", "serve", "--check"}), "store = sqlite:a.db  (--store)");
  EXPECT_EQ(store({"--store", "sqlite:a.db", "serve", "--check", "--store", "sqlite:b.db"}), "store = sqlite:b.db  (--store)");
  box.environment = {"FF_STORE=sqlite:c.db"};
  EXPECT_EQ(store({"serve", "--check"}), "store = sqlite:c.db  (FF_STORE)");
  EXPECT_EQ(store({"--store", "sqlite:a.db", "serve", "--check"}), "store = sqlite:a.db  (--store)");
}

TEST_F(ProcessBoot, T1_a_check_shows_no_secret_and_makes_no_store) {
  box.write("token", "s3cret-token\n");
  box.environment = {"FF_STORE_PASSWORD=s3cret-word"};
  const Ended ended = box.ff({"serve", "--check", "--store", "postgres://ff@127.0.0.1:1/ff", "--api-token-file", "token"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("api_token = ***  (--api-token-file)"));
  EXPECT_THAT(ended.out, HasSubstr("store_password = ***  (FF_STORE_PASSWORD)"));
  EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("s3cret")));
  EXPECT_FALSE(std::filesystem::exists(box.path("flowfabric.db")));
}

TEST_F(ProcessBoot, T2_what_is_unknown_is_refused_with_the_nearest_name_and_all_at_once) {
  box.write("ff.toml", "lease_tll_ms = 11000\nbatch_max = \"many\"\n");
  box.environment = {"FF_LISTN=127.0.0.1:0"};
  const Ended ended = refused({"--config", "ff.toml", "--htp-threads", "2", "--queue-max", "0", "--metrics", "maybe"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("There is no setting 'lease_tll_ms' (ff.toml). Did you mean 'lease_ttl_ms'?"));
  EXPECT_THAT(ended.err, HasSubstr("There is no setting for the variable FF_LISTN. Did you mean FF_LISTEN?"));
  EXPECT_THAT(ended.err, HasSubstr("There is no flag --htp-threads. Did you mean --http-threads?"));
  EXPECT_THAT(ended.err, HasSubstr("batch_max (ff.toml) is 'many', but has to be an integer from 1 to 5000."));
  EXPECT_THAT(ended.err, HasSubstr("queue_max (--queue-max) is '0'"));
  EXPECT_THAT(ended.err, HasSubstr("metrics (--metrics) is 'maybe', but has to be true, false, 1 or 0."));
  for (const std::string& line : lines_of(ended.err)) EXPECT_THAT(line, StartsWith("ff: "));
  EXPECT_EQ(ended.out, "");
  EXPECT_FALSE(std::filesystem::exists(box.path("flowfabric.db")));
}

TEST_F(ProcessBoot, T2_wrong_values_end_with_2) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--flow-partitions", "0"},         {"--flow-partitions", "4097"},  {"--lease-expiry-interval-ms", "0"},
      {"--listen", "nowhere"},            {"--listen", "127.0.0.1:70000"}, {"--store", "rediss://127.0.0.1"},
      {"--store", "mysql://127.0.0.1"},   {"--tls-cert", "only-one.pem"}, {"--cors-origins", "not an origin"},
      {"--config", "missing.toml"},       {"--log-level", "loud"},        {"--api-token-file", "missing"},
      {"--body-max-bytes", "64 GiB"},     {"--lanes", "a\tb"},            {"stray"}};
  for (const auto& flags : wrong) {
    const Ended ended = refused(flags);
    EXPECT_EQ(ended.code, 2) << flags.back() << ": " << ended.err;
    EXPECT_THAT(ended.err, StartsWith("ff: ")) << flags.back();
  }
  box.write("broken.toml", "listen = [");
  EXPECT_EQ(refused({"--config", "broken.toml"}).code, 2);
  box.write("broken.json", "{\"listen\":");
  EXPECT_EQ(refused({"--config", "broken.json"}).code, 2);
}

TEST_F(ProcessBoot, T3_it_works_with_no_configuration_but_a_port) {
  ServerProcess server(box);
  const std::string line = server.out();
  EXPECT_THAT(line, AllOf(StartsWith("ff "), HasSubstr(" serves sqlite:flowfabric.db at http://127.0.0.1:"),
                          HasSubstr(server.url() + "/docs"), HasSubstr("no token is asked for")));
  EXPECT_EQ(lines_of(line).size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(box.path("flowfabric.db")));
  const Told created = server.post("/v1/executions", R"({"execution_kind":"job","payload":{"n": 1}})");
  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(server.get(path_of(created.text_at("execution_id"), "/payload")).text, R"({"n": 1})");
  // Without a terminal the log is for programs.
  for (const std::string& entry : lines_of(server.log())) {
    json::error_code failed;
    EXPECT_TRUE(json::parse(entry, failed).is_object()) << entry;
  }
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

TEST_F(ProcessBoot, what_a_server_says_of_itself) {
  ServerProcess server(box, {"--namespace", "mine"});
  EXPECT_EQ(server.get("/livez").at("live"), true);
  EXPECT_EQ(server.get("/readyz").at("ready"), true);
  EXPECT_EQ(server.get("/healthz").status, 200);
  const Told info = server.get("/v1/info");
  EXPECT_EQ(info.at("store"), "sqlite");
  EXPECT_EQ(info.at("durability"), "full");
  EXPECT_EQ(info.at("draining"), false);
  EXPECT_EQ(info.at("limits").at("body_max_bytes"), 1024 * 1024);
  const Told document = server.get("/openapi.json");
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  const Told page = server.get("/docs");
  EXPECT_THAT(page.header("content-type"), StartsWith("text/html"));
  EXPECT_THAT(page.text, HasSubstr("/v1/worker/claim"));
  const Told figures = server.get("/metrics");
  EXPECT_EQ(figures.status, 200);
  EXPECT_THAT(figures.text, HasSubstr("ff_store_up{store=\"sqlite\"} 1"));
  EXPECT_THAT(figures.text, HasSubstr("ff_http_requests_total{method=\"GET\",path=\"/v1/info\",status=\"200\"} 1"));
  EXPECT_EQ(server.post("/v1/executions", R"({"execution_kind":"job"})").at("namespace"), "mine");
}

TEST_F(ProcessBoot, T43_metrics_are_closed_or_moved) {
  ServerProcess closed(box, {"--metrics", "false"});
  EXPECT_EQ(closed.get("/metrics").status, 404);
  ServerProcess moved(box, {"--admin-listen", "127.0.0.1:0"});
  ASSERT_EQ(moved.urls().size(), 2U) << moved.out();
  EXPECT_EQ(moved.get("/metrics").status, 404);
  EXPECT_EQ(moved.get("/v1/admin/audit").status, 404);
  HttpClient admin(moved.urls()[1]);
  EXPECT_EQ(admin.call("GET", "/metrics").status, 200);
  EXPECT_EQ(admin.call("GET", "/v1/admin/audit").status, 200);
}

TEST_F(ProcessBoot, it_serves_at_a_socket_too) {
  const std::string socket = "unix:" + box.path("ff.sock").string();
  ServerProcess server(box, {"--listen", "127.0.0.1:0," + socket});
  ASSERT_EQ(server.urls().size(), 2U) << server.out();
  HttpClient http(socket);
  EXPECT_EQ(http.call("GET", "/livez").status, 200);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
  EXPECT_FALSE(std::filesystem::exists(box.path("ff.sock"))) << "it cleans up";
}

TEST_F(ProcessBoot, T4_an_address_for_everybody_needs_a_token_or_a_word) {
  const Ended ended = refused({"--listen", "0.0.0.0:0"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("listen"), HasSubstr("ff token create"), HasSubstr("insecure")));
  EXPECT_EQ(refused({"--admin-listen", "0.0.0.0:0", "--listen", "127.0.0.1:0"}).code, 4);

  ServerProcess insecure(box, {"--listen", "0.0.0.0:0", "--insecure"});
  EXPECT_EQ(insecure.get("/v1/executions").status, 200);
  EXPECT_TRUE(insecure.logs("there is no token"));

  ServerProcess guarded(box, {"--listen", "0.0.0.0:0", "--api-token", "bootstrap-token"});
  EXPECT_THAT(guarded.out(), HasSubstr("tokens are asked for"));
  EXPECT_EQ(guarded.get("/v1/executions").status, 401);
  EXPECT_EQ(guarded.get("/v1/executions", "bootstrap-token").status, 200);
  EXPECT_EQ(guarded.get("/livez").status, 200);
}

TEST_F(ProcessBoot, T5_another_number_of_partitions_is_refused_with_both_values) {
  {
    ServerProcess first(box, {"--flow-partitions", "64"});
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait().code, 0);
  }
  const Ended ended = refused({"--flow-partitions", "32", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("flow_partitions"), HasSubstr("64"), HasSubstr("32")));
}

TEST_F(ProcessBoot, T6_two_servers_on_an_empty_store_agree_on_one_data_set) {
  // Both are started before either is waited for.
  Process one = box.start({"serve", "--listen", "127.0.0.1:0"});
  ServerProcess two(box);
  EXPECT_TRUE(eventually([&] { return one.out().find("http://") != std::string::npos; })) << one.err();
  const std::string out = one.out();
  const std::size_t from = out.find("http://");
  HttpClient http(out.substr(from, out.find(';', from) - from));
  EXPECT_EQ(json::parse(http.call("GET", "/v1/info").body).at("data_set_id"), two.get("/v1/info").at("data_set_id"));
}

TEST_F(ProcessBoot, T7_of_two_servers_on_an_older_file_one_migrates) {
  const std::string file = box.path("old.db").string();
  make_old_file(file, 1);
  const Ended by_hand = refused({"--store", "sqlite:old.db", "--listen", "127.0.0.1:0", "--auto-migrate", "false"});
  EXPECT_EQ(by_hand.code, 4);
  EXPECT_THAT(by_hand.err, HasSubstr("ff migrate"));
  {
    Process one = box.start({"serve", "--store", "sqlite:old.db", "--listen", "127.0.0.1:0"});
    ServerProcess two(box, {"--store", "sqlite:old.db"});
    EXPECT_TRUE(eventually([&] { return one.out().find("http://") != std::string::npos; })) << one.err();
    EXPECT_EQ(two.post("/v1/executions", R"({"execution_kind":"job"})").status, 201);
  }
  execute_on_file(file, "INSERT INTO ff_migration_annotation SELECT max(version) + 1, 'later', 5, 0 FROM ff_migration_annotation");
  const Ended newer = refused({"--store", "sqlite:old.db", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(newer.code, 4);
  EXPECT_THAT(newer.err, HasSubstr("Use a newer program"));
}

TEST_F(ProcessBoot, T8_a_store_that_cannot_be_used_is_refused_in_a_sentence) {
  const Ended nowhere = refused({"--store", "sqlite:no/such/folder/flow.db", "--listen", "127.0.0.1:0"});
  EXPECT_TRUE(nowhere.code == 1 || nowhere.code == 4) << nowhere.code;
  EXPECT_THAT(nowhere.err, HasSubstr("no/such/folder"));
  box.write("text.db", std::string(5000, 'x'));
  const Ended no_database = refused({"--store", "sqlite:text.db", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(no_database.code, 4) << no_database.err;
  EXPECT_EQ(box.read("text.db"), std::string(5000, 'x'));
}

TEST_F(ProcessBoot, T8_a_store_that_is_not_there_yet_is_waited_for) {
  for (const char* store : {"redis://127.0.0.1:1", "postgres://ff@127.0.0.1:1/ff"}) {
    Process waiting = box.start({"serve", "--store", store, "--listen", "127.0.0.1:0"});
    EXPECT_TRUE(eventually([&] { return waiting.err().find("tried again") != std::string::npos; })) << waiting.err();
    EXPECT_EQ(waiting.out(), "") << "the address opens last";
    waiting.signal(SIGTERM);
    EXPECT_EQ(waiting.wait().code, 0) << "it can be stopped while it waits";
  }
}

TEST_F(ProcessBoot, T9_a_taken_address_ends_with_1_and_leaves_the_store_whole) {
  ServerProcess first(box);
  const std::string address = first.url().substr(std::string("http://").size());
  const Ended ended = refused({"--listen", address, "--store", "sqlite:other.db"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(lines_of(ended.err).back(), AllOf(StartsWith("ff: "), HasSubstr(address)));
  EXPECT_EQ(box.ff({"check", "--store", "sqlite:other.db"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(box.path("other.db-wal"))) << "it was closed properly";
}

TEST_F(ProcessBoot, settings_without_effect_are_told) {
  ServerProcess server(box, {"--event-shards", "4"});
  EXPECT_TRUE(server.logs("a setting has no effect in this version"));
}

}  // namespace
}  // namespace ff::test
