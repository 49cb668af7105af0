// The program on a server: `--store http://...`.

#include "cli/sandbox.h"

#include <gmock/gmock.h>

#include <csignal>

namespace ff::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// `ff serve` in a sandbox whose commands use it.
class CliOnServer : public testing::Test {
 protected:
  void serve(std::vector<std::string> flags = {}) {
    std::vector<std::string> words{"serve", "--store", "sqlite:flow.db", "--listen", "127.0.0.1:0"};
    words.insert(words.end(), flags.begin(), flags.end());
    server_.emplace(box.start(words));
    ASSERT_TRUE(eventually([&] { return server_->out().find('\n') != std::string::npos; })) << server_->err();
    const std::string line = server_->out();
    const std::size_t from = line.find("http://127.0.0.1:");
    ASSERT_NE(from, line.npos) << line;
    url = line.substr(from, line.find_first_of(";, ", from) - from);
    box.environment = {"FF_STORE=" + url};
  }
  void expect_done(const std::vector<std::string>& words, const std::string& says) {
    const Ended ended = box.ff(words);
    EXPECT_EQ(ended.code, 0) << words.front() << ": " << ended.err;
    EXPECT_THAT(ended.out + ended.err, HasSubstr(says)) << words.front();
  }

  Sandbox box;
  std::string url;

 private:
  std::optional<Process> server_;
};

TEST_F(CliOnServer, submit_look_and_change) {
  serve();
  const std::string id = box.submit({"k", "--payload", R"({"a":  1})", "--tag", "t=v"});
  EXPECT_EQ(box.ff({"payload", id}).out, "{\"a\":  1}");
  EXPECT_EQ(box.ff_json({"get", id}).at("tags").at("t"), "v");
  expect_done({"why", id}, "worker");
  expect_done({"list", "--tag", "t=v"}, id);
  expect_done({"history", id}, "");
  expect_done({"lanes"}, "default");
  expect_done({"lanes", "pause", "default", "--reason", "tea"}, "paused");
  EXPECT_EQ(box.ff_json({"lanes"}).at(0).at("lane").at("state_reason"), "tea");
  expect_done({"lanes", "resume", "default"}, "active");
  expect_done({"priority", id, "7"}, "7");
  expect_done({"cancel", id}, "cancelled");
  EXPECT_EQ(box.state(id), "cancelled");
  expect_done({"replay", id}, "");
  EXPECT_EQ(box.state(id), "waiting");
  expect_done({"leases"}, "");
  const Ended none = box.ff({"get", "{fp:0}:018f0000-0000-7000-8000-000000000001"});
  EXPECT_EQ(none.code, 3) << none.err;
}

TEST_F(CliOnServer, a_program_as_a_worker) {
  serve();
  Process worker = box.start({"worker", "exec", "--kind", "k", "--result-type", "application/json", "--", "sh", "-c",
                              R"(read x; echo "{\"got\": $x, \"store\": \"$FF_STORE\"}")"});
  const Ended ended = box.ff({"submit", "k", "--payload", "42", "--wait", "60s"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "{\"got\": 42, \"store\": \"" + url + "\"}\n");
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait().code, 0) << worker.err();
}

TEST_F(CliOnServer, a_token_is_given_by_flag_variable_or_file) {
  serve({"--api-token", "s3cret-token-of-some-length"});
  const Ended without = box.ff({"lanes"});
  EXPECT_EQ(without.code, 4) << without.err;
  EXPECT_THAT(without.err, HasSubstr("--token"));
  EXPECT_EQ(box.ff({"lanes", "--token", "s3cret-token-of-some-length"}).code, 0);
  box.write("token", "s3cret-token-of-some-length\n");
  EXPECT_EQ(box.ff({"lanes", "--token-file", "token"}).code, 0);
  const Ended unreadable = box.ff({"lanes", "--token-file", "none"});
  EXPECT_EQ(unreadable.code, 2);
  box.environment.emplace_back("FF_TOKEN=s3cret-token-of-some-length");
  EXPECT_EQ(box.ff({"lanes"}).code, 0);
  const Ended wrong = box.ff({"lanes", "--token", "another-s3cret"});
  EXPECT_NE(wrong.code, 0);
  EXPECT_THAT(wrong.err, Not(HasSubstr("s3cret")));
}

TEST_F(CliOnServer, what_needs_the_store_itself_says_so) {
  serve();
  box.write("in.jsonl", "");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"migrate"}, {"check"}, {"export", "--out", "x.jsonl"}, {"import", "--in", "in.jsonl"},
        {"bench", "cycle"}, {"bench", "http"}}) {
    const Ended ended = box.ff(words);
    EXPECT_EQ(ended.code, 2) << words.front();
    EXPECT_THAT(ended.err, HasSubstr("works on a store itself")) << words.front();
    EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
  }
  EXPECT_FALSE(std::filesystem::exists(box.path("x.jsonl")));
  const Ended served = box.ff({"serve", "--store", url, "--listen", "127.0.0.1:0"});
  EXPECT_NE(served.code, 0);
  EXPECT_THAT(served.err, HasSubstr("store"));
}

TEST_F(CliOnServer, nobody_there) {
  const Ended ended = box.ff({"lanes", "--store", "http://127.0.0.1:9"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("http://127.0.0.1:9 could not be reached"));
}

TEST(CliBenchHttp, the_same_load_over_http_and_without) {
  Sandbox box;
  const auto figures =
      box.ff_json({"bench", "http", "--store", "sqlite:bench.db", "--executions", "400", "--workers", "3", "--claim-max", "20"});
  EXPECT_EQ(figures.at("store"), "sqlite");
  for (const char* name : {"submit_per_s", "drain_per_s", "cycles_per_s", "cycle_cycles_per_s", "ratio", "claim_p50_us", "claim_p99_us"})
    EXPECT_GT(figures.at(name).to_number<double>(), 0) << name;
  EXPECT_TRUE(figures.at("requests_per_s").is_null());
  const auto done = box.ff_json({"list", "--store", "sqlite:bench.db", "--kind", "bench", "--state", "completed", "--limit", "1000"});
  EXPECT_EQ(done.at("items").as_array().size(), 800U);
  const auto one_by_one =
      box.ff_json({"bench", "http", "--store", "sqlite:bench.db", "--executions", "50", "--workers", "3", "--claim-max", "1"});
  EXPECT_GT(one_by_one.at("requests_per_s").to_number<double>(), 0);
}

}  // namespace
}  // namespace ff::test
