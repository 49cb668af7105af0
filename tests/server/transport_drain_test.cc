// 07, section 7: shutting down. Whoever waits is answered, whoever works may finish, nobody waits for ever.

#include "server/failing_backend.h"
#include "server/transport_world.h"

#include <thread>

namespace ff::test {
namespace {

class TransportDrain : public TransportTest {
 protected:
  void start_drain(std::chrono::milliseconds grace, std::function<bool()> tasks_run = [] { return true; }) {
    draining_ = std::jthread([this, grace, tasks_run] { transport->drain(grace, tasks_run); });
    EXPECT_TRUE(eventually([&] { return api->health().draining(); }));
  }
  /// A worker with a task, on a connection of its own.
  std::pair<HttpClient, std::string> worker() {
    created();
    HttpClient http = client();
    const json::value answer = json::parse(http.call("POST", "/v1/worker/claim", claim_body()).body);
    return {std::move(http), std::string(answer.at("tasks").at(0).at("handle").as_string())};
  }
  static std::string by_handle(const std::string& handle) { return R"({"handle":")" + handle + "\"}"; }

  std::jthread draining_;
};

TEST_F(TransportDrain, T40_parked_polls_are_answered_and_running_tasks_finish) {
  server::ServerOptions options;
  options.metrics = [](server::MetricsText&) {};
  serve({}, std::move(options));
  std::vector<std::pair<HttpClient, std::string>> workers;
  for (int i = 0; i < 20; ++i) workers.push_back(worker());
  const std::string id = created(R"("lane_id":"other")");
  std::vector<HttpClient> parked;
  for (int i = 0; i < 200; ++i) {
    parked.push_back(client());
    const bool claims = i % 2 == 0;
    ASSERT_TRUE(parked.back().send(
        claims ? HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":60000)"))
               : HttpClient::request_text("GET", path(id, "/wait?wait_ms=60000"))));
  }
  EXPECT_TRUE(claims_wait(100));
  EXPECT_TRUE(eventually([&] { return get("/metrics").text.find("ff_http_waiters 200\n") != std::string::npos; }));
  start_drain(std::chrono::seconds(60));
  for (std::size_t i = 0; i < parked.size(); ++i) {
    const WireAnswer answer = parked[i].read_answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr(i % 2 == 0 ? R"({"tasks":[]})" : R"("public_state":"waiting")"));
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_TRUE(parked[i].is_at_end());
  }
  for (auto& [http, handle] : workers) {
    EXPECT_EQ(http.call("POST", "/v1/worker/renew", by_handle(handle)).status, 200);
    const WireAnswer refused = http.call("POST", "/v1/worker/claim", claim_body());
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.header("retry-after"), "1");
    const WireAnswer done = http.call("POST", "/v1/worker/complete", by_handle(handle));
    EXPECT_EQ(done.status, 200) << done.body;
    http.close();
  }
  draining_.join();
  EXPECT_EQ(transport->counts().connections, 0U);
  EXPECT_EQ(transport->counts().shutdown_timeouts, 0U);
  EXPECT_EQ(list_all({.state = {PublicState::completed}}).size(), 20U);
}

TEST_F(TransportDrain, nobody_new_is_let_in_and_open_connections_are_told) {
  auto [http, handle] = worker();
  HttpClient idle = client();
  EXPECT_EQ(idle.call("GET", "/livez").status, 200);
  start_drain(std::chrono::seconds(60));
  EXPECT_FALSE(client().is_open());
  const WireAnswer refused = idle.call("POST", "/v1/executions", R"({"execution_kind":"a"})");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(json::parse(refused.body).at("code"), "draining");
  EXPECT_EQ(refused.header("connection"), "close");
  EXPECT_TRUE(idle.is_at_end());
  EXPECT_EQ(http.call("GET", "/readyz").status, 503);
  http.close();
  draining_.join();
}

TEST_F(TransportDrain, without_tasks_it_does_not_wait_for_workers) {
  auto [http, handle] = worker();
  start_drain(std::chrono::hours(1), [] { return false; });
  draining_.join();
  EXPECT_TRUE(http.is_at_end());
}

TEST_F(TransportDrain, the_call_that_ends_the_last_task_is_answered) {
  server::ServerOptions options;
  auto slow = std::make_shared<FailingBackend>();
  slow->error = {ErrorCode::lease_revoked, "It was taken away.", {}};
  slow->keeps_silent = true;
  std::atomic<bool> is_slow = false;
  options.acting_for = [&](const core::Caller&) -> std::shared_ptr<api::Backend> {
    if (is_slow) return slow;
    return fabric.backend();
  };
  serve({}, std::move(options));
  auto [http, handle] = worker();
  is_slow = true;
  bool is_sent = false;
  start_drain(std::chrono::seconds(60), [&] {
    if (std::exchange(is_sent, true)) return false;
    // The task ends right after the connections were looked at.
    EXPECT_TRUE(http.send(HttpClient::request_text("POST", "/v1/worker/complete", by_handle(handle))));
    EXPECT_TRUE(eventually([&] { return slow->held() == 1; }));
    return false;
  });
  EXPECT_TRUE(eventually([&] { return slow->held() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(150));  // for who would not wait
  slow->answer_held();
  EXPECT_THAT(http.read_answer().body, HasSubstr("It was taken away."));
  draining_.join();
  EXPECT_EQ(transport->counts().shutdown_timeouts, 0U);
}

TEST_F(TransportDrain, T40_too_short_a_grace_is_counted) {
  server::ServerOptions options;
  auto stuck = std::make_shared<FailingBackend>();
  stuck->keeps_silent = true;
  options.acting_for = [stuck](const core::Caller&) { return stuck; };
  serve({}, std::move(options));
  HttpClient http = client();
  ASSERT_TRUE(http.send(HttpClient::request_text("GET", "/v1/executions")));
  HttpClient other = client();
  EXPECT_EQ(other.call("GET", "/livez").status, 200);
  EXPECT_TRUE(connections_are(2));
  start_drain(std::chrono::milliseconds(200));
  draining_.join();
  EXPECT_TRUE(http.is_at_end());
  stuck->answer_held();  // to nobody
  EXPECT_EQ(transport->counts().shutdown_timeouts, 1U);
  EXPECT_TRUE(was_logged("outlasted the grace"));
}

TEST_F(TransportDrain, a_transport_that_goes_takes_everything_with_it) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 30; ++i) {
    clients.push_back(client());
    ASSERT_TRUE(clients.back().send(HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":60000)"))));
  }
  EXPECT_TRUE(claims_wait(30));
  transport.reset();
  for (HttpClient& http : clients) EXPECT_TRUE(http.is_at_end());
  EXPECT_TRUE(claims_wait(0));
}

}  // namespace
}  // namespace ff::test
