#include "server/settings.h"

#include "server/address.h"
#include "server/setting_table.h"

#include <gmock/gmock.h>

namespace ff::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ServerSettings : public testing::Test {
 protected:
  std::expected<LoadedSettings, std::vector<std::string>> load() {
    sources.read_file = [this](const std::string& path) -> Result<std::string> {
      auto it = files.find(path);
      if (it == files.end()) return std::unexpected(Error{ErrorCode::invalid_input, "there is none.", {}});
      return it->second;
    };
    return load_settings(sources);
  }
  LoadedSettings good() {
    auto loaded = load();
    if (loaded) return *loaded;
    ADD_FAILURE() << loaded.error()[0];
    return {};
  }
  std::vector<std::string> faults() {
    auto loaded = load();
    return loaded ? std::vector<std::string>{} : loaded.error();
  }
  bool accepts(const std::string& name, const std::string& value) {
    Settings settings;
    return find_setting(name)->set(settings, value);
  }

  SettingSources sources;
  std::map<std::string, std::string> files;
};

TEST_F(ServerSettings, T1_flag_goes_before_environment_before_file_before_default) {
  EXPECT_EQ(good().settings.lease_ttl_ms, 30'000U);
  files["ff.toml"] = "lease_ttl_ms = 1_001\n";
  sources.flags = {"--config", "ff.toml"};
  EXPECT_EQ(good().settings.lease_ttl_ms, 1'001U);
  EXPECT_EQ(good().places.at("lease_ttl_ms"), "ff.toml");
  sources.environment = {{"FF_LEASE_TTL_MS", "1002"}, {"HOME", "x"}};
  EXPECT_EQ(good().settings.lease_ttl_ms, 1'002U);
  EXPECT_EQ(good().places.at("lease_ttl_ms"), "FF_LEASE_TTL_MS");
  sources.flags.push_back("--lease-ttl-ms=1003");
  EXPECT_EQ(good().settings.lease_ttl_ms, 1'003U);
  EXPECT_EQ(good().places.at("lease_ttl_ms"), "--lease-ttl-ms");
}

TEST_F(ServerSettings, T1_toml_and_json_say_the_same) {
  files["a.toml"] =
      "# remark\nstore = \"sqlite:a \\\"b\\\".db\" # more\n[limits]\nbody_max_bytes = '2MiB'\n\n[auth]\r\ninsecure = true\r\n"
      "lanes = [ \"a\", 'b', ]\nlease_ttl_ms=5000";
  files["a.json"] =
      R"({"store":"sqlite:a \"b\".db","limits":{"body_max_bytes":"2MiB"},"insecure":true,"lanes":["a","b"],"lease_ttl_ms":5000})";
  for (const char* file : {"a.toml", "a.json"}) {
    sources.environment = {{"FF_CONFIG", file}};
    const Settings settings = good().settings;
    EXPECT_EQ(settings.store, "sqlite:a \"b\".db") << file;
    EXPECT_EQ(settings.body_max_bytes, 2U * 1024 * 1024) << file;
    EXPECT_TRUE(settings.insecure) << file;
    EXPECT_EQ(settings.lanes, (std::vector<std::string>{"a", "b"})) << file;
    EXPECT_EQ(settings.lease_ttl_ms, 5'000U) << file;
  }
}

TEST_F(ServerSettings, T1_check_shows_places_and_no_secrets) {
  files["token"] = "tok-s3cret\n";
  sources.flags = {"--check", "--api-token-file", "token", "--store", "postgres://me:s3cret@db/x"};
  sources.environment = {{"FF_WAITPOINT_SECRET", std::string(64, 'a')}};
  const LoadedSettings loaded = good();
  EXPECT_TRUE(loaded.check);
  EXPECT_EQ(loaded.settings.api_token, "tok-s3cret");
  const std::string text = settings_text(loaded);
  EXPECT_THAT(text, HasSubstr("api_token = ***  (--api-token-file)"));
  EXPECT_THAT(text, HasSubstr("store = postgres://***@db/x  (--store)"));
  EXPECT_THAT(text, HasSubstr("lease_ttl_ms = 30000  (default)"));
  EXPECT_EQ(text.find("s3cret"), text.npos);
  EXPECT_EQ(text.find("aaaa"), text.npos);
}

TEST_F(ServerSettings, what_has_no_effect_says_so) {
  sources.flags = {"--dashboard", "false"};
  EXPECT_THAT(settings_text(good()), HasSubstr("dashboard = false  (--dashboard; no effect in this version)"));
  EXPECT_THAT(settings_text(good()), HasSubstr("listen = 127.0.0.1:9090  (default)"));
}

TEST_F(ServerSettings, T2_unknown_names_are_refused_with_the_nearest) {
  files["ff.json"] = R"({"leese_ttl_ms":1})";
  sources.flags = {"--config=ff.json", "--lissten", "x:1", "stray"};
  sources.environment = {{"FF_SWEEP", "1"}, {"FF_TOKEN", "fine"}, {"FF_listen", "x"}};
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("--lissten"), HasSubstr("--listen")), HasSubstr("stray"),
                                    AllOf(HasSubstr("FF_SWEEP"), HasSubstr("FF_SWEEPS")),
                                    AllOf(HasSubstr("FF_listen"), HasSubstr("FF_LISTEN")),
                                    AllOf(HasSubstr("leese_ttl_ms"), HasSubstr("'lease_ttl_ms'"))));
}

TEST_F(ServerSettings, T2_all_wrong_values_are_told_at_once) {
  sources.flags = {"--lease-ttl-ms", "999", "--insecure=yes", "--store", "rediss://u:hunter2@h", "--queue-max"};
  sources.environment = {{"FF_BODY_MAX_BYTES", "65MiB"}, {"FF_API_TOKEN", "has blank"}};
  const auto all = faults();
  EXPECT_THAT(all, SizeIs(6));
  const std::string text = fmt::format("{}", fmt::join(all, "\n"));
  EXPECT_THAT(text, HasSubstr("lease_ttl_ms (--lease-ttl-ms) is '999', but has to be an integer from 1000 to 86400000."));
  EXPECT_THAT(text, HasSubstr("--queue-max needs a value"));
  EXPECT_EQ(text.find("has blank"), text.npos);
  EXPECT_EQ(text.find("hunter2"), text.npos);
}

TEST_F(ServerSettings, every_bound_holds_at_its_edge) {
  struct Edge {
    const char* name;
    std::vector<const char*> inside, outside;
  };
  const Edge edges[] = {
      {"flow_partitions", {"1", "4096"}, {"0", "4097", "-1", "1.0", "", " 1", "1x"}},
      {"budget_partitions", {"1", "4096"}, {"0", "4097"}},
      {"quota_partitions", {"1", "4096"}, {"0", "4097"}},
      {"event_shards", {"1", "256"}, {"0", "257"}},
      {"lane_spread", {"1", "256"}, {"0", "257"}},
      {"lease_ttl_ms", {"1000", "86400000"}, {"999", "86400001"}},
      {"retention_ms", {"60000"}, {"59999"}},
      {"event_retention_ms", {"60000"}, {"59999"}},
      {"audit_retention_ms", {"60000"}, {"59999"}},
      {"lease_expiry_interval_ms", {"100", "3600000"}, {"0", "99", "3600001"}},
      {"executors", {"1", "64"}, {"0", "65"}},
      {"batch_max", {"1", "5000"}, {"0", "5001"}},
      {"body_max_bytes", {"1024", "1KiB", "1 KiB", "64MiB", "67108864"}, {"1023", "67108865", "65MiB", "1GiB", "1kib", "KiB"}},
      {"default_max_retries", {"0", "4294967295"}, {"4294967296"}},
      {"rate_limit_per_token", {"0"}, {"-1"}},
      {"insecure", {"true", "false", "1", "0"}, {"yes", "TRUE", ""}},
      {"lease_loss_policy", {"reclaim", "retry"}, {"none", ""}},
      {"waitpoint_secret", {"0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789"}, {"00", ""}},
      {"lanes", {"default", "a,b"}, {"", "a,,b"}},
      {"cors_origins", {"", "*", "https://a.example", "http://localhost:3000,https://b"},
       {"a.example", "https://a.example/", "https://", "ftp://a"}},
      {"listen", {"127.0.0.1:0", "[::1]:80", "unix:/run/ff", "a.b:65535,c:1"}, {"", "x", "x:65536", ":1", "unix:x", "a b:1"}},
      {"scanner_instance_tag", {"a=b", "a="}, {"a", "=b"}},
      {"log_level", {"trace", "error"}, {"loud"}},
      {"store", {"memory:", "sqlite:x", "redis://h"}, {"rediss://h", "sqlite:", "mysql://h", ""}},
  };
  for (const Edge& edge : edges) {
    for (const char* value : edge.inside) EXPECT_TRUE(accepts(edge.name, value)) << edge.name << " " << value;
    for (const char* value : edge.outside) EXPECT_FALSE(accepts(edge.name, value)) << edge.name << " " << value;
  }
}

TEST_F(ServerSettings, every_default_satisfies_its_own_rule) {
  const Settings defaults;
  for (const Setting& setting : setting_table()) {
    const std::string shown = setting.show(defaults);
    if (shown == "-" || setting.name == "executors" || setting.name == "http_threads") continue;
    Settings settings;
    EXPECT_TRUE(setting.set(settings, shown)) << setting.name << " " << shown;
    EXPECT_EQ(setting.show(settings), shown);
  }
}

TEST_F(ServerSettings, settings_that_belong_together) {
  sources.flags = {"--tls-cert", "c.pem"};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("tls_key")));
  sources.flags = {"--executors", "8"};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("store_connections")));
  sources.flags = {"--executors", "7"};
  EXPECT_THAT(faults(), SizeIs(0));
  files["p"] = "x";
  sources.flags = {"--store-password-file", "p", "--store-password", "y"};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("both")));
  sources.flags = {"--store-password", "y", "--store", "redis://u:p@h"};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("store URL")));
  sources.flags = {"--store-password", "y", "--store", "redis://u@h:1"};
  EXPECT_THAT(faults(), SizeIs(0));
  sources.flags = {"--store-password-file", "absent"};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("cannot be read")));
  sources.flags = {"--insecure", "--insecure"};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("twice")));
}

TEST_F(ServerSettings, files_that_cannot_be_read) {
  for (const char* bad : {"a", "a =", "= 1", "store = sqlite:x", "store = \"x", "[a", "[a] b", "lanes = [\"a\"", "x = 1.5",
                          "lanes = [\"a\" \"b\"]", "store = 'a' 'b'"}) {
    files["ff.toml"] = bad;
    sources.flags = {"--config", "ff.toml"};
    EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("ff.toml"), HasSubstr("Line 1")))) << bad;
  }
  for (const char* bad : {"", "[]", "{", R"({"lanes":[["a"]]})", R"({"a":{"b":{"store":"memory:"}}})"}) {
    files["ff.json"] = bad;
    sources.flags = {"--config", "ff.json"};
    EXPECT_THAT(faults(), ElementsAre(HasSubstr("ff.json"))) << bad;
  }
  sources.flags = {"--config", "ff.yaml"};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("ff.yaml")));
}

TEST_F(ServerSettings, T4_who_can_reach_it) {
  auto others = [](std::vector<std::string> listen) {
    Settings settings;
    settings.listen = std::move(listen);
    return listens_to_others(settings);
  };
  EXPECT_FALSE(others({"127.0.0.1:1", "[::1]:1", "localhost:1", "unix:/x", "127.9.9.9:1"}));
  for (const char* address : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.com:1", "127.0.0.1.example.com:1", "127.evil:1"})
    EXPECT_TRUE(others({"127.0.0.1:1", address})) << address;
  Settings admin;
  admin.admin_listen = "0.0.0.0:1";
  EXPECT_TRUE(listens_to_others(admin));
}

TEST_F(ServerSettings, the_engine_gets_what_was_set) {
  sources.flags = {"--flow-partitions", "16", "--lease-expiry-interval-ms", "200", "--scanner-instance-tag", "a=b=c",
                   "--waiters-max", "5"};
  const OpenOptions options = open_options(good().settings);
  EXPECT_EQ(options.flow_partitions, 16);
  EXPECT_EQ(options.sweep_interval_ms.at("lease_expiry"), 200U);
  EXPECT_EQ(options.scanner_instance_tag, std::pair(std::string("a"), std::string("b=c")));
  EXPECT_EQ(options.waiters_max, 5U);
}

}  // namespace
}  // namespace ff::server
