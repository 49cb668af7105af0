// 07, section 6.7: what a claim hands out needs somebody who takes it.

#include "server/transport_world.h"

#include <thread>

namespace ff::test {
namespace {

class TransportClaims : public TransportTest {
 protected:
  HttpClient waiting_claim() {
    HttpClient http = client();
    EXPECT_TRUE(http.send(HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":60000)"))));
    EXPECT_TRUE(claims_wait(1));
    return http;
  }
  /// The task is there for the next one that asks.
  void expect_claimable(const std::string& id) {
    EXPECT_TRUE(eventually([&] {
      auto tasks = must(fabric.claim(World::request("w2")));
      return tasks.size() == 1 && tasks[0].execution.execution_id.to_string() == id;
    }));
  }
};

TEST_F(TransportClaims, a_claim_waits_and_gets_what_comes) {
  HttpClient http = waiting_claim();
  const std::string id = created();
  const WireAnswer answer = http.read_answer();
  EXPECT_THAT(answer.body, HasSubstr(id));
  EXPECT_EQ(http.call("GET", "/livez").status, 200);
}

TEST_F(TransportClaims, T35_who_leaves_while_waiting_is_handed_nothing) {
  for (int how = 0; how < 3; ++how) {
    HttpClient http = waiting_claim();
    if (how == 0) http.close();
    if (how == 1) http.reset();
    if (how == 2) http.half_close();
    EXPECT_TRUE(claims_wait(0)) << how;
    EXPECT_TRUE(connections_are(0)) << how;
    expect_claimable(created());
  }
}

TEST_F(TransportClaims, T35_who_leaves_behind_other_requests_is_noticed_as_well) {
  HttpClient http = client();
  ASSERT_TRUE(http.send(HttpClient::request_text("GET", "/livez") + HttpClient::request_text("GET", "/v1/executions") +
                        HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":60000)"))));
  EXPECT_EQ(http.read_answer().status, 200);
  EXPECT_EQ(http.read_answer().status, 200);
  EXPECT_TRUE(claims_wait(1));
  http.close();
  EXPECT_TRUE(claims_wait(0));
}

TEST_F(TransportClaims, T35_leases_of_an_answer_that_cannot_be_delivered_are_given_back) {
  server::ServerOptions options;
  options.limits.request_timeout_ms = 3'000;  // of which writing has its own; the claim itself must not run out of it
  serve({}, std::move(options));
  // More than the kernel takes for a side that does not read.
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(created(R"("payload":")" + std::string(900'000, 'x') + "\""));
  HttpClient http = client();
  http.set_receive_buffer(4096);
  ASSERT_TRUE(http.send(HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"max":8)"))));
  auto acquired = [&](const std::string& id) { return count_events(ExecutionId::parse(id).value(), "lease acquired"); };
  for (const auto& id : ids) EXPECT_TRUE(eventually([&] { return acquired(id) == 1; }));
  EXPECT_TRUE(connections_are(0));
  std::set<std::string> again;
  EXPECT_TRUE(eventually([&] {
    for (const auto& task : must(fabric.claim(World::request("w2", 8)))) again.insert(task.execution.execution_id.to_string());
    return again.size() == 8;
  }));
}

TEST_F(TransportClaims, T35_who_leaves_while_the_answer_comes_has_it_or_it_is_given_back) {
  // Many times, so that the task comes before, while and after it leaves.
  for (int round = 0; round < 50; ++round) {
    HttpClient http = waiting_claim();
    std::jthread leaving([&] { http.half_close(); });
    const std::string id = created();
    leaving.join();
    const bool has_it = http.read_to_end().find(id) != std::string::npos;
    EXPECT_TRUE(connections_are(0));
    if (has_it)
      EXPECT_EQ(get(path(id)).text_at("public_state"), "active");
    else
      expect_claimable(id);
  }
}

TEST_F(TransportClaims, T35_of_two_claims_for_one_execution_one_gets_it) {
  HttpClient first = client(), second = client();
  const std::string claim = HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":300)"));
  ASSERT_TRUE(first.send(claim) && second.send(claim));
  EXPECT_TRUE(claims_wait(2));
  const std::string id = created();
  const std::string both = first.read_answer().body + second.read_answer().body;
  EXPECT_NE(both.find(id), both.npos);
  EXPECT_EQ(both.find(id), both.rfind(id));
  EXPECT_THAT(both, HasSubstr(R"({"tasks":[]})"));
}

TEST_F(TransportClaims, who_leaves_a_waiting_read_leaves_nothing_behind) {
  const std::string id = created();
  HttpClient http = client();
  ASSERT_TRUE(http.send(HttpClient::request_text("GET", path(id, "/wait?wait_ms=60000"))));
  EXPECT_TRUE(connections_are(1));
  http.close();
  EXPECT_TRUE(connections_are(0));
}

}  // namespace
}  // namespace ff::test
