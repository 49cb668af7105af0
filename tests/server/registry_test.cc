// 07, 6.6 and 6.7: the registry of workers, from both sides.

#include "server/server_world.h"

namespace ff::test {
namespace {

class ServerRegistry : public ServerTest {
 protected:
  Got enter(const std::string& instance, const std::string& more = "") {
    return post("/v1/worker/register",
                fmt::format(R"({{"worker_id":"pool","worker_instance_id":"{}","lanes":["default"]{}}})", instance, more));
  }
  /// Namespace and instance of who is listed.
  std::vector<std::string> listed(const std::string& query = "") {
    std::vector<std::string> names;
    const Got page = get("/v1/workers" + query);
    for (const auto& item : page.at("items").as_array()) {
      const json::value* namespace_ = item.as_object().if_contains("namespace");
      names.push_back(fmt::format("{}/{}", namespace_ ? namespace_->as_string().c_str() : "",
                                  item.at("worker_instance_id").as_string().c_str()));
    }
    return names;
  }
  /// Whoever calls is bound to the namespace `ours`.
  void bind_callers() {
    server::ServerOptions options;
    options.authenticate = known_at_once([](const Request&) {
      Principal principal;
      principal.namespace_ = "ours";
      return std::optional(principal);
    });
    start_server(std::move(options));
  }
};

TEST_F(ServerRegistry, T77_register_and_again) {
  const Got first = enter("w1", R"(,"capabilities":["gpu"],"kinds":["resize"],"max_concurrent_tasks":8,)"
                                R"("client_version":"1.2","boot_id":"01890000-0000-7000-8000-00000000ffff")");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.text_at("status"), "registered");
  EXPECT_EQ(first.at("next_expiry_at_ms"), now() + 60'000);
  EXPECT_EQ(first.at("heartbeat_after_ms"), 20'000);
  EXPECT_EQ(enter("w1", R"(,"liveness_ttl_ms":90000)").text_at("status"), "refreshed");
  const Got workers = get("/v1/workers");
  const json::value& one = workers.at("items").at(0);
  EXPECT_EQ(one.at("worker_id"), "pool");
  EXPECT_EQ(one.at("liveness_ttl_ms"), 90'000);
  EXPECT_EQ(one.at("last_heartbeat_at_ms"), now());
  EXPECT_EQ(one.at("leases_held"), 0);
}

TEST_F(ServerRegistry, T77_what_a_registration_may_say) {
  EXPECT_EQ(post("/v1/worker/register", "{}").problem(), "invalid_input worker_id missing");
  EXPECT_EQ(post("/v1/worker/register", R"({"worker_id":"p","worker_instance_id":"w"})").problem(),
            "invalid_input lanes missing");
  EXPECT_EQ(enter("w1", R"(,"typo":1)").problem(), "invalid_input typo unknown_field");
  EXPECT_EQ(enter("w1", R"(,"liveness_ttl_ms":999)").problem(), "invalid_input liveness_ttl_ms out_of_range");
  EXPECT_EQ(enter("w1", R"(,"boot_id":"x")").status, 400);
  EXPECT_EQ(enter("w1", R"(,"capabilities":["a,b"])").text_at("code"), "invalid_capabilities");
  EXPECT_EQ(enter("two words").status, 400);
  EXPECT_THAT(listed(), IsEmpty()) << "a refusal enters nobody";
  enter("w1");
  EXPECT_EQ(post("/v1/worker/register", R"({"worker_id":"thief","worker_instance_id":"w1","lanes":["x"]})").problem(),
            "invalid_input worker_instance_id instance_id reassigned");
}

TEST_F(ServerRegistry, T78_heartbeat) {
  const std::string body = R"({"worker_instance_id":"w1"})";
  const Got unknown = post("/v1/worker/heartbeat", body);
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.text_at("code"), "worker_not_found");
  enter("w1");
  advance(1'000);
  EXPECT_EQ(post("/v1/worker/heartbeat", body).text, fmt::format(R"({{"next_expiry_at_ms":{}}})", now() + 60'000));
  EXPECT_EQ(post("/v1/worker/heartbeat", R"({"worker_instance_id":"w1","namespace":"a"})").status, 404);
  EXPECT_EQ(post("/v1/worker/heartbeat", "{}").problem(), "invalid_input worker_instance_id missing");
  advance(60'000);
  EXPECT_EQ(post("/v1/worker/heartbeat", body).status, 404) << "a lapsed one is not revived";
}

TEST_F(ServerRegistry, T79_mark_dead) {
  const std::string dead = "/v1/workers/w1/dead";
  EXPECT_EQ(post(dead, R"({"reason":"smoke"})").text_at("code"), "worker_not_found");
  enter("w1");
  created();
  const std::string handle = claimed();
  EXPECT_EQ(post(dead, "{}").problem(), "invalid_input reason missing");
  EXPECT_EQ(post(dead, fmt::format(R"({{"reason":"{}"}})", std::string(257, 'r'))).status, 400);
  EXPECT_EQ(post(dead, R"({"reason":"a\nb"})").status, 400);
  EXPECT_EQ(post(dead, R"({"reason":"r","worker_instance_id":"w2"})").problem(),
            "invalid_input worker_instance_id unknown_field");
  EXPECT_EQ(post(dead, R"({"items":[{"reason":"r"}]})").problem(), "invalid_input items unknown_field");
  EXPECT_THAT(listed(), ElementsAre("/w1")) << "a refusal changes nothing";
  EXPECT_EQ(post(dead, R"({"reason":"smoke"})").text, R"({"leases_revoked":0})");
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(post("/v1/worker/renew", fmt::format(R"({{"handle":"{}"}})", handle)).status, 200) << "its leases are left";
  EXPECT_EQ(must(fabric.audit()).items.at(0).event_type, "worker_marked_dead");
}

TEST_F(ServerRegistry, T79_with_the_leases_of_the_dead) {
  enter("w1");
  created();
  const std::string handle = claimed();
  EXPECT_EQ(get("/v1/workers").at("items").at(0).at("leases_held"), 1);
  EXPECT_EQ(post("/v1/workers/w1/dead", R"({"reason":"fire","revoke_leases":true})").text, R"({"leases_revoked":1})");
  EXPECT_EQ(post("/v1/worker/renew", fmt::format(R"({{"handle":"{}"}})", handle)).text_at("code"), "lease_revoked");
}

TEST_F(ServerRegistry, deregister) {
  enter("w1");
  enter("w1", R"(,"namespace":"a")");
  EXPECT_EQ(post("/v1/worker/deregister", R"({"worker_instance_id":"w1"})").text, "{}");
  EXPECT_THAT(listed(), ElementsAre("a/w1"));
  EXPECT_EQ(post("/v1/worker/deregister", R"({"worker_instance_id":"w1"})").status, 200) << "who is gone is gone";
  EXPECT_EQ(post("/v1/worker/deregister", R"({"worker_instance_id":"w1","namespace":"a"})").status, 200);
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(post("/v1/worker/deregister", R"({"worker_instance_id":"a b"})").status, 400);
  EXPECT_EQ(post("/v1/worker/deregister", "{}").problem(), "invalid_input worker_instance_id missing");
  EXPECT_THAT(must(fabric.audit()).items, IsEmpty()) << "no act of an operator";
}

TEST_F(ServerRegistry, T81_lists) {
  for (const char* namespace_ : {"b", "a"}) enter("w1", fmt::format(R"(,"namespace":"{}")", namespace_));
  enter("w9");
  EXPECT_THAT(listed(), ElementsAre("/w9", "a/w1", "b/w1"));
  const Got page = get("/v1/workers?limit=2");
  EXPECT_EQ(page.at("items").as_array().size(), 2U);
  EXPECT_THAT(listed("?limit=2&cursor=" + server::percent_encoded(page.text_at("next_cursor"))), ElementsAre("b/w1"));
  EXPECT_THAT(listed("?namespace=a"), ElementsAre("a/w1"));
  EXPECT_THAT(listed("?lane=default").size(), 3U);
  EXPECT_THAT(listed("?lane=video"), IsEmpty());
  EXPECT_EQ(get("/v1/workers?limit=501").problem(), "invalid_input limit out_of_range");
  EXPECT_EQ(get("/v1/workers?cursor=nonsense").text_at("code"), "invalid_offset");
  EXPECT_EQ(get("/v1/workers?pool=x").problem(), "invalid_input pool unknown_field");
}

TEST_F(ServerRegistry, T12_a_token_with_a_namespace_knows_its_own_workers) {
  enter("w1", R"(,"namespace":"theirs")");
  enter("w2");
  bind_callers();
  EXPECT_EQ(enter("w1", R"(,"namespace":"theirs")").text_at("code"), "forbidden");
  EXPECT_EQ(enter("w3").status, 200);
  EXPECT_THAT(listed(), ElementsAre("ours/w3")) << "it works for the token's namespace";
  EXPECT_THAT(listed("?namespace=theirs"), IsEmpty());
  for (const char* foreign : {"w1", "w2"}) {
    EXPECT_EQ(post(fmt::format("/v1/workers/{}/dead", foreign), R"({"reason":"r","namespace":"theirs"})").status, 404);
    EXPECT_EQ(post("/v1/worker/heartbeat", fmt::format(R"({{"worker_instance_id":"{}"}})", foreign)).status, 404);
    EXPECT_EQ(post("/v1/worker/deregister", fmt::format(R"({{"worker_instance_id":"{}"}})", foreign)).status, 200);
  }
  EXPECT_EQ(must(fabric.workers()).items.size(), 3U) << "those of others are untouched";
  EXPECT_EQ(post("/v1/workers/w3/dead", R"({"reason":"r"})").status, 200);
}

TEST_F(ServerRegistry, many_at_once) {
  const Got entered = post("/v1/worker/register", R"({"items":[
      {"worker_id":"p","worker_instance_id":"w1","lanes":["a"]},
      {"worker_id":"p","worker_instance_id":"w2","lanes":[]},
      {"worker_id":"p","worker_instance_id":"w3","lanes":["a"]}]})");
  EXPECT_EQ(entered.at("items").at(0).at("result").at("status"), "registered");
  EXPECT_EQ(entered.at("items").at(1).at("problem").at("code"), "invalid_input");
  const std::string all = R"({"items":[{"worker_instance_id":"w1"},{"worker_instance_id":"w2"}]})";
  const Got alive = post("/v1/worker/heartbeat", all);
  EXPECT_EQ(alive.at("items").at(0).at("status"), 200);
  EXPECT_EQ(alive.at("items").at(1).at("problem").at("code"), "worker_not_found");
  EXPECT_EQ(post("/v1/worker/deregister", all).at("items").at(1).at("status"), 200);
  EXPECT_THAT(listed(), ElementsAre("/w3"));
}

TEST_F(ServerRegistry, T40_who_finishes_its_tasks_on_a_server_that_drains) {
  enter("w1");
  api->drain();
  EXPECT_EQ(post("/v1/worker/heartbeat", R"({"worker_instance_id":"w1"})").status, 200);
  EXPECT_EQ(post("/v1/worker/deregister", R"({"worker_instance_id":"w1"})").status, 200);
  EXPECT_EQ(enter("w1").text_at("code"), "draining") << "there is nothing to come for";
  EXPECT_EQ(get("/v1/workers").status, 503);
  EXPECT_THAT(must(fabric.workers()).items, IsEmpty());
}

TEST_F(ServerRegistry, a_repeat_with_its_key_gets_the_first_answer) {
  enter("w1");
  const Headers key = {{"Idempotency-Key", "k1"}};
  EXPECT_EQ(post("/v1/workers/w1/dead", R"({"reason":"smoke"})", key).status, 200);
  const Got again = post("/v1/workers/w1/dead", R"({"reason":"smoke"})", key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.header("idempotent-replay"), "true");
}

}  // namespace
}  // namespace ff::test
