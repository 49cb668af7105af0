#include "client/wire_call.h"

#include <gtest/gtest.h>

namespace ff::client {
namespace {

const ExecutionId kId = *ExecutionId::parse("{fp:7}:018f0000-0000-7000-8000-000000000001");
constexpr const char* kPath = "/v1/executions/%7Bfp%3A7%7D%3A018f0000-0000-7000-8000-000000000001";

template <class Request>
std::string shown(const Request& request, const std::string& key = "") {
  const WireCall call = wire_call(request, key);
  const std::string target = call.route == BatchRoute::none ? call.target : std::string(path_of(call.route));
  return std::string(call.method) + " " + target + (call.body.empty() ? "" : " " + call.body) +
         (call.key.empty() ? "" : " key " + call.key);
}

TEST(ClientWireCall, submissions) {
  EXPECT_EQ(shown(Submission{.execution_kind = "k"}), R"(POST /v1/executions {"execution_kind":"k","lane_id":"default"})");
  Submission whole;
  whole.execution_kind = "k\"\n\x01";
  whole.namespace_ = "n";
  whole.payload = R"({"b": 1,  "a":[2.50]})";
  whole.execution_id = kId;
  whole.tags = {{"t", "v"}};
  whole.policy.emplace().priority = 3;
  EXPECT_EQ(shown(whole),
            R"(POST /v1/executions {"execution_kind":"k\"\n\u0001","lane_id":"default","namespace":"n",)"
            R"("execution_id":"{fp:7}:018f0000-0000-7000-8000-000000000001","tags":{"t":"v"},"policy":{"priority":3},)"
            R"("payload":{"b": 1,  "a":[2.50]}})");
}

std::string payload_member(Bytes bytes, std::optional<std::string> content_type = std::nullopt) {
  Submission submission{.execution_kind = "k", .payload = std::move(bytes), .content_type = std::move(content_type)};
  const std::string body = wire_call(submission, "").body;
  return body.substr(body.find("\"payload\":") + 10);
}

TEST(ClientWireCall, payloads_travel_byte_for_byte) {
  EXPECT_EQ(payload_member("1.50"), "1.50}");
  EXPECT_EQ(payload_member("1", "application/json"), R"(1,"content_type":"application/json"})");
  EXPECT_EQ(payload_member("1", "text/plain"), R"({"base64":"MQ=="},"content_type":"text/plain"})");
  // Whatever would not come out as it was is encoded, and keeps the label it would have had.
  for (const char* bytes : {"", " 1", "1\n", "{", "no json", "{\"a\":1,\"a\":2}", "{\"base64\":\"MQ==\"}", "\"\xff\""})
    EXPECT_TRUE(payload_member(bytes).ends_with(R"("},"content_type":"application/json"})")) << bytes;
  EXPECT_TRUE(payload_member(std::string(60, '[') + std::string(60, ']')).starts_with(R"({"base64":)"));
}

TEST(ClientWireCall, tasks) {
  EXPECT_EQ(shown(CompleteTask{"h", std::nullopt, std::nullopt}), R"(POST /v1/worker/complete {"handle":"h"})");
  EXPECT_EQ(shown(CompleteTask{"h", Bytes("{}"), std::nullopt}), R"(POST /v1/worker/complete {"handle":"h","result":{}})");
  EXPECT_EQ(shown(FailTask{"h", "m", FailureClass::permanent, std::nullopt}),
            R"(POST /v1/worker/fail {"handle":"h","message":"m","class":"permanent"})");
  EXPECT_EQ(shown(RenewLease{"h", 5'000}), R"(POST /v1/worker/renew {"handle":"h","lease_ttl_ms":5000})");
  ClaimRequest claim{.worker_id = "w", .worker_instance_id = "i", .lanes = {"a"}, .wait_ms = 7};
  EXPECT_EQ(shown(claim),
            R"(POST /v1/worker/claim {"worker_id":"w","worker_instance_id":"i","lanes":["a"],"max":1,"wait_ms":7})");
  EXPECT_EQ(wire_call(claim, "").wait_ms, 7U);
}

TEST(ClientWireCall, what_operators_do_carries_a_key) {
  EXPECT_EQ(shown(CancelExecution{kId, "r"}, "K"),
            R"(POST /v1/executions/cancel {"execution_id":"{fp:7}:018f0000-0000-7000-8000-000000000001","reason":"r",)"
            R"("idempotency_key":"K"})");
  EXPECT_EQ(shown(RevokeLease{.execution_id = kId}, "K"), std::string("POST ") + kPath + "/revoke {} key K");
  EXPECT_EQ(shown(SetTags{kId, {{"a", "b"}, {"c", std::nullopt}}}), std::string("PATCH ") + kPath + R"(/tags {"a":"b","c":null})");
  EXPECT_EQ(shown(ConfigureLane{.lane_id = "a b", .lane_state = LaneState::paused}),
            R"(PATCH /v1/lanes/a%20b {"lane_state":"paused"})");
  EXPECT_EQ(shown(ConfigureLane{.lane_id = "l", .namespace_weights = std::map<std::string, std::uint32_t>()}),
            R"(PATCH /v1/lanes/l {"namespace_weights":{}})") << "an empty one is not none";
}

TEST(ClientWireCall, reads) {
  EXPECT_EQ(shown(GetExecution{kId, 0}), std::string("GET ") + kPath);
  EXPECT_EQ(shown(GetExecution{kId, 50}), std::string("GET ") + kPath + "/wait?wait_ms=50");
  EXPECT_EQ(shown(ListAttempts{kId, 3, 5}), std::string("GET ") + kPath + "/attempts?cursor=3&limit=5");
  ListExecutions list;
  list.filter.state = {PublicState::active, PublicState::failed};
  list.filter.tags = {{"a&b", "c=d"}};
  list.cursor = "x+y";
  list.order = ListOrder::oldest_first;
  EXPECT_EQ(shown(list),
            "GET /v1/executions?state=active&state=failed&tag.a%26b=c%3Dd&sort=-created&cursor=x%2By&limit=50");
  EXPECT_EQ(shown(ListExecutions{.order = ListOrder::priority}), "GET /v1/executions?sort=priority&limit=50");
}

TEST(ClientWireCall, bytes_that_are_no_characters_do_not_spoil_a_batch) {
  EXPECT_EQ(shown(CancelTask{"h", "a\xff" "b"}), "POST /v1/worker/cancel {\"handle\":\"h\",\"reason\":\"a\xef\xbf\xbd" "b\"}");
}

}  // namespace
}  // namespace ff::client
