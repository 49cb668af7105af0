// 07, 6.2 and 6.6: what operators do, and lanes.

#include "server/server_world.h"

namespace ff::test {
namespace {

class ServerOperator : public ServerTest {};

TEST_F(ServerOperator, T27_cancel_and_replay) {
  const std::string id = created();
  EXPECT_EQ(post(path(id, "/replay"), "").text_at("code"), "execution_not_terminal");
  const Got cancelled = post(path(id, "/cancel"), R"({"reason":"wrong order"})");
  EXPECT_EQ(cancelled.text_at("public_state"), "cancelled");
  EXPECT_EQ(cancelled.text_at("cancellation_reason"), "wrong order");
  EXPECT_EQ(cancelled.header("idempotent-replay"), "");
  EXPECT_EQ(post(path(id, "/cancel"), "{}").header("idempotent-replay"), "true");
  const Got replayed = post(path(id, "/replay"), R"({"reason":"again"})");
  EXPECT_EQ(replayed.status, 200);
  EXPECT_EQ(replayed.text_at("public_state"), "waiting");
}

TEST_F(ServerOperator, T27_priority) {
  const std::string id = created();
  EXPECT_EQ(post(path(id, "/priority"), R"({"priority":9})").at("priority"), 9);
  EXPECT_EQ(post(path(id, "/priority"), R"({"priority":9})").header("idempotent-replay"), "true");
  EXPECT_EQ(post(path(id, "/priority"), "{}").problem(), "invalid_input priority missing");
  post(path(id, "/cancel"), "");
  EXPECT_EQ(post(path(id, "/priority"), R"({"priority":1})").text_at("code"), "execution_not_active");
}

TEST_F(ServerOperator, T27_revoke) {
  const std::string id = created();
  EXPECT_EQ(post(path(id, "/revoke"), "").header("idempotent-replay"), "true");
  const std::string handle = claimed();
  const Got revoked = post(path(id, "/revoke"), R"({"reason":"stuck","worker_instance_id":"w1"})");
  EXPECT_EQ(revoked.text_at("ownership_state"), "lease_revoked");
  EXPECT_EQ(post("/v1/worker/renew", fmt::format(R"({{"handle":"{}"}})", handle)).text_at("code"), "lease_revoked");
}

TEST_F(ServerOperator, T27_complete_and_fail_without_the_worker) {
  const std::string first = created(), second = created();
  const Got done = post(path(first, "/complete"), R"({"result":{"base64":"AAE="},"reason":"by hand"})");
  EXPECT_EQ(done.text_at("public_state"), "completed");
  EXPECT_EQ(get(path(first, "/result")).text, std::string("\0\1", 2));
  EXPECT_EQ(post(path(first, "/fail"), R"({"message":"no"})").text_at("code"), "execution_not_active");
  const Got failed = post(path(second, "/fail"), R"({"message":"no good"})");
  EXPECT_EQ(failed.text_at("public_state"), "failed");
  EXPECT_EQ(failed.text_at("failure_reason"), "no good");
  EXPECT_EQ(post(path(second, "/fail"), "{}").problem(), "invalid_input message missing");
}

TEST_F(ServerOperator, T27_tags_are_merged_all_or_nothing) {
  const std::string id = created(R"("tags":{"a":"1","b":"2"})");
  const Got got = call("PATCH", path(id, "/tags"), R"({"a":null,"c":"3"})");
  EXPECT_EQ(json::serialize(got.at("tags")), R"({"b":"2","c":"3"})");
  EXPECT_EQ(call("PATCH", path(id, "/tags"), R"({"b":"9","not good":"x"})").text_at("code"), "invalid_tag_key");
  EXPECT_EQ(call("PATCH", path(id, "/tags"), R"({"b":9})").problem(), "invalid_input tags.b wrong_type");
  EXPECT_EQ(call("PATCH", path(id, "/tags"), "[]").problem(), "invalid_input tags wrong_type");
  EXPECT_EQ(json::serialize(get(path(id)).at("tags")), R"({"b":"2","c":"3"})");
}

TEST_F(ServerOperator, T27_delete) {
  const std::string id = created();
  EXPECT_EQ(call("DELETE", path(id)).text_at("code"), "execution_not_terminal");
  post(path(id, "/cancel"), "");
  const Got gone = call("DELETE", path(id));
  EXPECT_EQ(gone.status, 204);
  EXPECT_EQ(gone.text, "");
  EXPECT_EQ(call("DELETE", path(id)).status, 204);
  EXPECT_EQ(get(path(id)).status, 404);
}

TEST_F(ServerOperator, T32_lanes) {
  const Got paused = post("/v1/lanes/slow/pause", R"({"reason":"night"})");
  EXPECT_EQ(paused.text_at("lane_state"), "paused");
  EXPECT_EQ(paused.text_at("state_reason"), "night");
  created(R"("lane_id":"slow")");
  const Got one = get("/v1/lanes/slow");
  EXPECT_EQ(one.at("lane").at("lane_state"), "paused");
  EXPECT_EQ(one.at("depth").at("eligible").at("value"), 1);
  EXPECT_EQ(post("/v1/lanes/slow/resume", "").text_at("lane_state"), "active");
  EXPECT_EQ(post("/v1/lanes/slow/drain", "").text_at("lane_state"), "draining");
  EXPECT_EQ(post("/v1/executions", R"({"execution_kind":"a","lane_id":"slow"})").text_at("code"), "lane_not_accepting");
  const Got set = call("PATCH", "/v1/lanes/slow", R"({"lane_state":"active","namespace_weights":{"a":3}})");
  EXPECT_EQ(set.at("namespace_weights").at("a"), 3);
  EXPECT_EQ(call("PATCH", "/v1/lanes/slow", R"({"namespace_weights":{"a":0}})").problem(),
            "invalid_input namespace_weights out_of_range");
  EXPECT_EQ(call("PATCH", "/v1/lanes/slow", R"({"lane_id":"fast"})").problem(), "invalid_input lane_id unknown_field");
  EXPECT_EQ(get("/v1/lanes?limit=1").at("items").as_array().size(), 1U);
  EXPECT_EQ(get("/v1/lanes").at("items").as_array().size(), 2U);
}

TEST_F(ServerOperator, one_lane_is_found_whatever_its_neighbours_are_called) {
  const std::string names[] = {"a", "a ", "a!", "aa", "b", std::string(64, '~'), std::string(63, '~'), " "};
  for (const auto& name : names) must(fabric.configure_lane({.lane_id = name}));
  for (const auto& name : names)
    EXPECT_EQ(get("/v1/lanes/" + server::percent_encoded(name)).at("lane").at("lane_id"), name.c_str()) << name;
  for (const char* absent : {"A", "ab", "a~", "~"})
    EXPECT_EQ(get(std::string("/v1/lanes/") + absent).text_at("code"), "lane_not_found") << absent;
  EXPECT_EQ(get("/v1/lanes/" + std::string(65, 'x')).status, 400);
}

TEST_F(ServerOperator, leases_are_listed) {
  const std::string id = created();
  EXPECT_EQ(get("/v1/leases").at("items").as_array().size(), 0U);
  claimed();
  const Got got = get("/v1/leases?worker=w1&namespace=default");
  EXPECT_EQ(got.at("items").at(0).at("execution_id"), id.c_str());
  EXPECT_EQ(get("/v1/leases?worker=w2").at("items").as_array().size(), 0U);
  EXPECT_EQ(get("/v1/leases?limit=501").problem(), "invalid_input limit out_of_range");
}

}  // namespace
}  // namespace ff::test
