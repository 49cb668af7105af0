// 07, section 7: how a server ends. Whoever waits is answered, whoever works may finish.

#include "process/server_process.h"

#include <csignal>
#include <cstdlib>

namespace ff::test {
namespace {

class ProcessShutdown : public ::testing::Test {
 protected:
  /// Submits and claims on this connection: the task's handle and execution.
  static json::value claimed(HttpClient& http) {
    EXPECT_EQ(http.call("POST", "/v1/executions", R"({"execution_kind":"job"})").status, 201);
    return json::parse(http.call("POST", "/v1/worker/claim", claim_body()).body).at("tasks").at(0);
  }
  static std::string text(const json::value& value) { return std::string(value.as_string()); }
  static std::string completion(const json::value& task) {
    return handle_body(text(task.at("handle")), R"(,"result":"done")");
  }

  Sandbox box;
};

TEST_F(ProcessShutdown, T40_waiting_claims_are_answered_and_a_running_task_finishes) {
  ServerProcess server(box);
  HttpClient worker = server.client(), idle = server.client();
  const json::value task = claimed(worker);
  EXPECT_EQ(idle.call("GET", "/readyz").status, 200);
  std::vector<HttpClient> parked;
  for (int i = 0; i < 20; ++i) {
    parked.push_back(server.client());
    const std::string body = claim_body("p" + std::to_string(i), R"(,"wait_ms":60000)");
    ASSERT_TRUE(parked.back().send(HttpClient::request_text("POST", "/v1/worker/claim", body)));
  }
  EXPECT_TRUE(server.claims_wait(20));
  server.signal(SIGTERM);
  for (HttpClient& http : parked) {
    const WireAnswer answer = http.read_answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, R"({"tasks":[]})");
  }
  EXPECT_EQ(worker.call("GET", "/readyz").status, 503);
  const Told refused = told(idle.call("POST", "/v1/executions", R"({"execution_kind":"late"})"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "draining");
  EXPECT_FALSE(server.client().is_open()) << "nobody new is let in";
  EXPECT_EQ(worker.call("POST", "/v1/worker/renew", handle_body(text(task.at("handle")))).status, 200);
  EXPECT_EQ(worker.call("POST", "/v1/worker/complete", completion(task)).status, 200);
  worker.close();
  const Ended ended = server.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("shutting down"));
  EXPECT_EQ(box.state(text(task.at("execution").at("execution_id"))), "completed");
}

TEST_F(ProcessShutdown, T40_a_second_signal_ends_it_at_once_and_loses_nothing) {
  std::string running, waiting;
  {
    ServerProcess server(box, {"--shutdown-grace-ms", "3600000"});
    HttpClient worker = server.client();
    running = text(claimed(worker).at("execution").at("execution_id"));
    waiting = server.post("/v1/executions", R"({"execution_kind":"job"})").text_at("execution_id");
    server.signal(SIGTERM);
    EXPECT_TRUE(server.logs("shutting down"));
    server.signal(SIGINT);
    EXPECT_EQ(server.wait().code, 1);
  }
  EXPECT_EQ(box.state(running), "active");
  EXPECT_EQ(box.state(waiting), "waiting");
  EXPECT_EQ(box.ff({"check"}).code, 0);
}

TEST_F(ProcessShutdown, without_work_it_ends_soon_whatever_the_grace) {
  ServerProcess server(box, {"--shutdown-grace-ms", "3600000"});
  HttpClient idle = server.client();
  EXPECT_EQ(idle.call("GET", "/livez").status, 200);
  server.signal(SIGINT);
  EXPECT_EQ(server.wait().code, 0);
  EXPECT_TRUE(idle.is_at_end());
}

TEST_F(ProcessShutdown, T40_a_task_that_outlasts_the_grace_is_left_to_its_lease) {
  ServerProcess server(box, {"--shutdown-grace-ms", "200"});
  HttpClient worker = server.client();
  const std::string id = text(claimed(worker).at("execution").at("execution_id"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
  EXPECT_EQ(box.state(id), "active");
}

TEST_F(ProcessShutdown, T41_it_is_drained_by_a_call) {
  ServerProcess server(box);
  HttpClient http = server.client();
  EXPECT_EQ(http.call("POST", "/v1/admin/drain", R"({"exit":false})").status, 202);
  EXPECT_TRUE(eventually([&] { return http.call("GET", "/readyz").status == 503; }));
  EXPECT_EQ(http.call("GET", "/livez").status, 200) << "it stays";
  EXPECT_EQ(http.call("POST", "/v1/admin/drain", "{}").status, 202);
  http.close();
  EXPECT_EQ(server.wait().code, 0);
}

TEST_F(ProcessShutdown, T15_a_hangup_makes_it_read_its_certificates_again) {
  auto openssl = [&](const std::string& arguments) {
    const std::string command = "cd '" + box.path(".").string() + "' && openssl " + arguments + " >openssl.log 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << arguments;
  };
  auto make = [&](const std::string& name) {
    openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + name + ".key -out " + name +
            ".pem -days 2 -subj /CN=" + name);
  };
  auto use = [&](const std::string& name) {
    for (const char* ending : {".pem", ".key"})
      std::filesystem::copy_file(box.path(name + ending), box.path(std::string("server") + ending),
                                 std::filesystem::copy_options::overwrite_existing);
  };
  make("one");
  make("two");
  use("one");
  ServerProcess server(box, {"--tls-cert", "server.pem", "--tls-key", "server.key"});
  ASSERT_TRUE(server.url().starts_with("https://"));
  auto is_signed_by = [&](const std::string& name) {
    HttpClient http(server.url(), {box.path(name + ".pem").string(), {}, {}});
    return http.is_open() && http.call("GET", "/livez").status == 200;
  };
  EXPECT_TRUE(is_signed_by("one"));
  HttpClient kept(server.url(), {box.path("one.pem").string(), {}, {}});
  use("two");
  server.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return is_signed_by("two"); })) << server.log();
  EXPECT_FALSE(is_signed_by("one"));
  EXPECT_EQ(kept.call("GET", "/livez").status, 200) << "connections that are open stay so";
  // A file that cannot be used changes nothing.
  box.write("server.pem", "nonsense");
  server.signal(SIGHUP);
  EXPECT_TRUE(server.logs("the old ones stay"));
  EXPECT_TRUE(is_signed_by("two"));
}

}  // namespace
}  // namespace ff::test
