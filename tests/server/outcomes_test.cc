// 08, section 1: bare outcomes for callers that prefer them, and calls that are repeated under a key.

#include "server/metrics_text.h"
#include "server/server_world.h"

namespace ff::test {
namespace {

class ServerOutcomes : public ServerTest {
 protected:
  Got minimal(const std::string& target, const std::string& body) {
    return post(target, body, {{"Prefer", "respond-async, return=minimal; x"}});
  }
  Got keyed(const std::string& target, const std::string& body, const std::string& key) {
    return post(target, body, {{"Idempotency-Key", key}});
  }
  std::string by_handle(const std::string& handle, const std::string& members = "") {
    return fmt::format(R"({{"handle":"{}"{}}})", handle, members);
  }
};

TEST_F(ServerOutcomes, a_caller_may_prefer_the_bare_outcome) {
  const Got made = minimal("/v1/executions", R"({"execution_kind":"job","payload":[1]})");
  EXPECT_EQ(made.status, 201);
  const std::string id = made.text_at("execution_id");
  EXPECT_EQ(made.text, fmt::format(R"({{"execution_id":"{}","public_state":"waiting","duplicate":false}})", id));
  EXPECT_EQ(minimal(path(id, "/priority"), R"({"priority":7})").text, R"({"old_priority":0,"new_priority":7})");

  const std::string handle = claimed();
  EXPECT_EQ(minimal("/v1/worker/renew", by_handle(handle)).at("lease_epoch"), 1);
  EXPECT_EQ(minimal("/v1/worker/complete", by_handle(handle)).at("unchanged"), false);
  const Got again = minimal("/v1/worker/complete", by_handle(handle));
  EXPECT_EQ(again.text, fmt::format(R"({{"execution_id":"{}","public_state":"completed","unchanged":true}})", id));
  EXPECT_EQ(minimal(path(id, "/replay"), "{}").text_at("public_state"), "waiting");
  EXPECT_EQ(minimal(path(id, "/cancel"), "{}").text_at("execution_id"), id);

  const Got whole = get(path(id));
  EXPECT_TRUE(whole.body.as_object().contains("payload"));
  const Got bare = call("GET", path(id), "", {{"Prefer", "return=minimal"}});
  EXPECT_FALSE(bare.body.as_object().contains("payload"));
  EXPECT_FALSE(bare.body.as_object().contains("links"));
  EXPECT_EQ(bare.text_at("execution_id"), id);
  EXPECT_TRUE(call("GET", path(id), "", {{"Prefer", "return=representation"}}).body.as_object().contains("links"));
}

TEST_F(ServerOutcomes, also_of_each_of_many) {
  const Got made = minimal("/v1/executions", R"({"items":[{"execution_kind":"a"},{"execution_kind":""}]})");
  EXPECT_EQ(made.at("items").at(0).at("result").as_object().size(), 3U);
  EXPECT_EQ(made.at("items").at(1).at("status"), 400);
}

TEST_F(ServerOutcomes, T20_every_post_can_be_repeated_under_its_key) {
  const std::string id = created();
  EXPECT_EQ(keyed(path(id, "/cancel"), "{}", "k1").header("idempotent-replay"), "");
  EXPECT_EQ(post(path(id, "/replay"), "").text_at("public_state"), "waiting");
  const Got repeat = keyed(path(id, "/cancel"), "{}", "k1");
  EXPECT_EQ(repeat.status, 200);
  EXPECT_EQ(repeat.header("idempotent-replay"), "true");
  EXPECT_EQ(repeat.text_at("public_state"), "waiting") << "it is not cancelled a second time";
  EXPECT_EQ(keyed(path(id, "/cancel"), R"({"reason":"other"})", "k1").text_at("code"), "idempotency_conflict");
  EXPECT_EQ(keyed(path(id, "/cancel"), "{}", "k2").text_at("public_state"), "cancelled");
}

TEST_F(ServerOutcomes, T20_a_key_is_the_same_in_whatever_form_the_call_comes) {
  const std::string id = created();
  const std::string alone = R"({"priority":5})";
  const std::string among_many =
      fmt::format(R"({{"items":[{{"priority":5,"idempotency_key":"k","execution_id":"{}"}}]}})", id);
  EXPECT_EQ(keyed(path(id, "/priority"), alone, "k").at("priority"), 5);
  EXPECT_EQ(post(path(id, "/priority"), R"({"priority":6})").at("priority"), 6);
  EXPECT_EQ(post("/v1/executions/priority", among_many).at("items").at(0).at("status"), 200);
  EXPECT_EQ(post(path(id, "/priority"), R"({"priority":5,"idempotency_key":"k"})").header("idempotent-replay"), "true");
  EXPECT_EQ(get(path(id)).at("priority"), 6);
}

TEST_F(ServerOutcomes, T20_worker_calls_too) {
  created();
  const std::string handle = claimed();
  const Got failed = keyed("/v1/worker/fail", by_handle(handle, R"(,"message":"broken")"), "k");
  EXPECT_EQ(failed.text_at("status"), "retry_scheduled");
  const Got again = keyed("/v1/worker/fail", by_handle(handle, R"(,"message":"broken")"), "k");
  EXPECT_EQ(again.text, failed.text);
  EXPECT_EQ(again.header("idempotent-replay"), "true");
  const std::string many = fmt::format(R"({{"items":[{}]}})", by_handle(handle, R"(,"message":"broken","idempotency_key":"k")"));
  EXPECT_EQ(post("/v1/worker/fail", many).at("items").at(0).at("result"), failed.body);
}

TEST_F(ServerOutcomes, T20_refusals_are_not_remembered) {
  const std::string id = created();
  EXPECT_EQ(keyed(path(id, "/replay"), "{}", "k").text_at("code"), "execution_not_terminal");
  post(path(id, "/cancel"), "");
  EXPECT_EQ(keyed(path(id, "/replay"), "{}", "k").text_at("public_state"), "waiting");
}

TEST_F(ServerOutcomes, what_cannot_be_a_key) {
  const std::string id = created();
  EXPECT_EQ(keyed(path(id, "/cancel"), "{}", "").problem(), "invalid_input Idempotency-Key out_of_range");
  EXPECT_EQ(keyed(path(id, "/cancel"), "{}", std::string(513, 'k')).problem(), "invalid_input Idempotency-Key out_of_range");
  EXPECT_EQ(post(path(id, "/cancel"), R"({"idempotency_key":7})").problem(), "invalid_input idempotency_key out_of_range");
  EXPECT_EQ(keyed(path(id, "/cancel"), R"({"idempotency_key":"a"})", "b").problem(), "invalid_input idempotency_key conflict");
  EXPECT_EQ(keyed("/v1/executions/cancel", R"({"items":[]})", "b").problem(), "invalid_input Idempotency-Key with_items");
  EXPECT_EQ(get(path(id)).text_at("public_state"), "waiting");
  EXPECT_EQ(keyed(path(id, "/cancel"), "{}", std::string(512, 'k')).status, 200);
}

TEST_F(ServerOutcomes, T42_what_operators_did_is_listed) {
  const std::string id = created();
  Request request = json_request("POST", path(id, "/cancel"), R"({"reason":"wrong"})");
  request.headers.emplace_back("X-Request-Id", "r-77");
  request.remote = "10.1.2.3";
  EXPECT_EQ(send(request).status, 200);
  EXPECT_EQ(post(path(id, "/cancel"), "").header("idempotent-replay"), "true");
  const Got audit = get("/v1/admin/audit");
  ASSERT_EQ(audit.at("items").as_array().size(), 1U) << audit.text;
  const std::string text = json::serialize(audit.at("items").at(0));
  EXPECT_THAT(text, HasSubstr("r-77"));
  EXPECT_THAT(text, HasSubstr("10.1.2.3"));
  EXPECT_THAT(text, HasSubstr("anonymous"));
  EXPECT_EQ(get("/v1/admin/audit?event_type=nothing").at("items").as_array().size(), 0U);
  EXPECT_EQ(get("/v1/admin/audit?actor=anonymous&limit=1").at("items").as_array().size(), 1U);
  EXPECT_EQ(get("/v1/admin/audit?execution_id=x").problem(), "invalid_input execution_id unknown_value");
}

TEST_F(ServerOutcomes, a_history_can_be_waited_for) {
  const std::string id = created();
  EXPECT_EQ(get(path(id, "/history?wait_ms=60001")).problem(), "invalid_input wait_ms out_of_range");
  auto [pending, future] = start(json_request("GET", path(id, "/history?wait_ms=60000"), ""));
  EXPECT_EQ(pending.deadline_ms(), server::Limits().request_timeout_ms + 60'000);
  post(path(id, "/cancel"), "");
  EXPECT_GE(future.get().at("items").as_array().size(), 1U);

  const std::string other = created();
  auto [waiting, answer] = start(json_request("GET", path(other, "/history?wait_ms=60000"), ""));
  api->drain();
  EXPECT_EQ(answer.get().at("items").as_array().size(), 0U) << "a shutdown ends the waiting";
}

TEST_F(ServerOutcomes, metrics_tell_of_requests_by_route) {
  EXPECT_EQ(get("/metrics").text_at("code"), "route_not_found") << "nobody has turned them on";
  server::ServerOptions options;
  options.metrics = [](server::MetricsText& text) {
    text.family("ff_more", "gauge", "More.");
    text.value({}, std::uint64_t{1});
  };
  start_server(std::move(options));
  const std::string id = created();
  get(path(id));
  get(path(id));
  get("/v1/nothing");
  call("BREW", "/v1/executions");
  const Got metrics = get("/metrics");
  EXPECT_EQ(metrics.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line : {R"(ff_http_requests_total{method="GET",path="/v1/executions/{execution_id}",status="200"} 2)",
                           R"(ff_http_requests_total{method="POST",path="/v1/executions",status="201"} 1)",
                           R"(ff_http_requests_total{method="GET",path="unknown",status="404"} 1)",
                           R"(ff_http_requests_total{method="OTHER",path="unknown",status="405"} 1)",
                           R"(ff_http_request_duration_seconds_count{method="POST",path="/v1/executions",status="201"} 1)",
                           "ff_http_waiters 0", "ff_more 1"})
    EXPECT_THAT(metrics.text, HasSubstr(std::string(line) + "\n"));
  EXPECT_EQ(metrics.text.find(id), metrics.text.npos) << "ids are no labels";
}

}  // namespace
}  // namespace ff::test
