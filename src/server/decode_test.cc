#include "server/decode.h"

#include <gtest/gtest.h>

namespace ff::server {
namespace {

/// `reason field` of what is wrong with it, or `fine`.
template <class T>
std::string fault_of(std::string_view body) {
  auto input = input_of(body);
  if (!input) return std::string(input.error().context.text("reason"));
  auto request = decode<T>(std::move(*input));
  if (request) return "fine";
  return fmt::format("{} {}", request.error().context.text("reason"), request.error().context.text("field"));
}

template <class T>
Result<T> from_query(std::vector<std::pair<std::string, std::string>> query) {
  Input input;
  input.query = std::move(query);
  return decode<T>(std::move(input));
}

TEST(ServerDecode, T17_what_is_wrong_is_named) {
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":"k"})"), "fine");
  EXPECT_EQ(fault_of<Submission>(R"({})"), "missing execution_kind");
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":"k","lane":"x"})"), "unknown_field lane");
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":7})"), "wrong_type execution_kind");
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":"k","priority":1.0})"), "wrong_type priority");
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":"k","delay_ms":-1})"), "out_of_range delay_ms");
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":"k","execution_id":"nonsense"})"), "unknown_value execution_id");
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":"k","tags":{"a":1}})"), "wrong_type tags.a");
  EXPECT_EQ(fault_of<Submission>(R"({"execution_kind":"k","priority":null})"), "wrong_type priority");
  EXPECT_EQ(fault_of<ConfigureLane>(R"({"lane_id":"l","fairness":"kind"})"), "unknown_value fairness");
  EXPECT_EQ(fault_of<ClaimRequest>(R"({"worker_id":"w","worker_instance_id":"i","lanes":["a",2]})"),
            "wrong_type lanes[1]");
  EXPECT_EQ(fault_of<RenewLease>("{"), "malformed_json");
  EXPECT_EQ(fault_of<RenewLease>(""), "malformed_json");
  EXPECT_EQ(fault_of<RenewLease>(R"({"handle":"a","handle":"b"})"), "duplicate_member");
  EXPECT_EQ(fault_of<RenewLease>(R"({"handle":"a"} x)"), "malformed_json");
  EXPECT_EQ(fault_of<RenewLease>("[]"), "wrong_type");
}

TEST(ServerDecode, T17_large_integers_survive) {
  auto input = input_of(R"({"handle":"h","delay_ms":18446744073709551615})");
  auto request = decode<DelayTask>(std::move(*input));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->delay_ms, UINT64_MAX);
}

TEST(ServerDecode, T18_a_json_payload_is_kept_byte_for_byte) {
  const std::string payload = "{ \"b\" : [1.0,  2e3, \"\\u0041\\\"}\"],\n\"a\": null }";
  const std::string body = R"({"execution_kind":"k", "payload" : )" + payload + " , \"lane_id\":\"l\"}";
  auto request = decode<Submission>(*input_of(body));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->payload, payload);
  EXPECT_EQ(request->content_type, "application/json");
  EXPECT_EQ(request->lane_id, "l");
  EXPECT_EQ(decode<Submission>(*input_of(R"({"execution_kind":"k","payload":null})"))->payload, "null");
  EXPECT_FALSE(decode<Submission>(*input_of(R"({"execution_kind":"k"})"))->payload);
}

TEST(ServerDecode, T18_bytes_travel_as_base64) {
  Bytes all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string body = fmt::format(R"({{"handle":"h","result":{{"base64":"{}"}}}})", base64(all));
  auto request = decode<CompleteTask>(*input_of(body));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->result, all);
  EXPECT_EQ(request->content_type, "application/octet-stream");
  EXPECT_EQ(decode<CompleteTask>(*input_of(R"({"handle":"h","content_type":"image/png","result":{"base64":"AA=="}})"))
                ->content_type,
            "image/png");
  EXPECT_EQ(fault_of<CompleteTask>(R"({"handle":"h","result":{"base64":"A"}})"), "not_base64 result.base64");
  EXPECT_EQ(fault_of<CompleteTask>(R"({"handle":"h","result":1,"content_type":5})"), "wrong_type content_type");
  EXPECT_EQ(decode<CompleteTask>(*input_of(R"({"handle":"h","result":{"base64":"AA==","x":1}})"))->result,
            R"({"base64":"AA==","x":1})");
}

TEST(ServerDecode, a_deep_payload_is_only_a_payload) {
  for (const char* name : {"base64", "other"}) {
    const std::string deep = fmt::format(R"({{"{}":{}{}}})", name, std::string(62, '['), std::string(62, ']'));
    auto request = decode<CompleteTask>(*input_of(R"({"handle":"h","result":)" + deep + "}"));
    ASSERT_TRUE(request) << name;
    EXPECT_EQ(request->result, deep);
    EXPECT_EQ(blob_text(deep, "application/json"), deep);
  }
}

TEST(ServerDecode, a_policy_has_its_own_words) {
  auto wrong = decode<Submission>(*input_of(R"({"execution_kind":"k","policy":{"max_retrys":1}})"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_policy_json);
  EXPECT_EQ(wrong.error().context.text("detail"), "unknown_member:max_retrys");
  EXPECT_FALSE(decode<Submission>(*input_of(R"({"execution_kind":"k","policy":"{}"})")));
  auto fine = decode<Submission>(*input_of(R"({"execution_kind":"k","policy":{"max_reclaim_count":2}})"));
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine->policy->max_reclaim_count, 2U);
}

TEST(ServerDecode, a_query_is_read_by_the_same_types) {
  auto request = from_query<Submission>({{"execution_kind", "k"},
                                         {"priority", "-5"},
                                         {"tag.a", "1"},
                                         {"tag.b.c", "x y"},
                                         {"policy", R"({"max_reclaim_count":2})"}});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->priority, -5);
  EXPECT_EQ(request->tags, (Tags{{"a", "1"}, {"b.c", "x y"}}));
  EXPECT_EQ(request->policy->max_reclaim_count, 2U);
  auto fault = [](auto query) { return from_query<ListLeases>(query).error().message; };
  using Query = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(fault(Query{{"limit", "many"}}), "'limit' has to be an integer.");
  EXPECT_EQ(fault(Query{{"limit", ""}}), "'limit' has to be an integer.");
  EXPECT_EQ(fault(Query{{"limit", "1"}, {"limit", "2"}}), "'limit' is given twice; give it once.");
  EXPECT_EQ(fault(Query{{"wroker", "w"}}), "There is no field 'wroker' here. Correct its name or leave it out.");
  EXPECT_EQ(fault(Query{{"tag.a", "w"}}), "There is no field 'tag.a' here. Correct its name or leave it out.");
  EXPECT_EQ(from_query<ListLeases>({{"limit", "7"}})->limit, 7U);
}

TEST(ServerDecode, null_removes_a_tag) {
  Input input;
  input.fields = core::json::parse(R"({"execution_id":"{fp:0}:00000000-0000-7000-8000-000000000000",
                                       "tags":{"a":null,"b":"x"}})").as_object();
  auto request = decode<SetTags>(std::move(input));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->tags.at("a"), std::nullopt);
  EXPECT_EQ(request->tags.at("b"), "x");
}

}  // namespace
}  // namespace ff::server
