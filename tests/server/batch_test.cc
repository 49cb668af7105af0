// 07, section 4: many in one request.

#include "server/server_world.h"

namespace ff::test {
namespace {

class ServerBatch : public ServerTest {
 protected:
  static std::vector<std::int64_t> statuses(const Got& got) {
    std::vector<std::int64_t> out;
    for (const auto& item : got.at("items").as_array()) out.push_back(item.at("status").as_int64());
    return out;
  }
};

TEST_F(ServerBatch, T19_a_thousand_with_refusals_in_the_middle) {
  std::string items;
  for (int i = 0; i < 1000; ++i) {
    if (i > 0) items += ",";
    if (i % 100 == 50) items += R"({"execution_kind":"job","typo":1})";
    else if (i % 100 == 51) items += "7";
    else items += fmt::format(R"({{"execution_kind":"job","tags":{{"n":"{}"}},"payload":[{}]}})", i, i);
  }
  const Got got = post("/v1/executions", "{\"items\":[" + items + "]}");
  ASSERT_EQ(got.status, 200);
  const json::array& answers = got.at("items").as_array();
  ASSERT_EQ(answers.size(), 1000U);
  for (int i = 0; i < 1000; ++i) {
    const json::value& answer = answers[static_cast<std::size_t>(i)];
    if (i % 100 == 50 || i % 100 == 51) {
      EXPECT_EQ(answer.at("status"), 400);
      EXPECT_EQ(answer.at("problem").at("code"), "invalid_input");
      EXPECT_EQ(answer.at("problem").at("context").at("field"), i % 100 == 50 ? "typo" : "body");
    } else {
      EXPECT_EQ(answer.at("status"), 201);
      EXPECT_EQ(answer.at("result").at("tags").at("n"), std::to_string(i).c_str());
      EXPECT_EQ(answer.at("result").at("payload").at(0), i);
    }
  }
  EXPECT_EQ(list_all().size(), 980U);
}

TEST_F(ServerBatch, T19_the_body_as_a_whole) {
  std::string many = "{\"items\":[";
  for (int i = 0; i < 1001; ++i) many += (i ? ",{}" : "{}");
  EXPECT_EQ(post("/v1/executions", many + "]}").problem(), "invalid_input items too_many");
  EXPECT_EQ(post("/v1/executions", R"({"items":{}})").problem(), "invalid_input items wrong_type");
  EXPECT_EQ(post("/v1/executions", R"({"items":[],"execution_kind":"a"})").problem(),
            "invalid_input execution_kind unknown_field");
  EXPECT_EQ(post("/v1/executions", R"({"items":[{"execution_kind":"a"}]})", {{"Idempotency-Key", "k"}}).problem(),
            "invalid_input Idempotency-Key with_items");
  EXPECT_EQ(post("/v1/executions", R"({"items":[]})").text, R"({"items":[]})");
  EXPECT_TRUE(list_all().empty());
}

TEST_F(ServerBatch, each_item_has_its_own_key) {
  const std::string body =
      R"({"items":[{"execution_kind":"a","idempotency_key":"k"},{"execution_kind":"a","idempotency_key":"l"}]})";
  EXPECT_EQ(statuses(post("/v1/executions", body)), (std::vector<std::int64_t>{201, 201}));
  EXPECT_EQ(statuses(post("/v1/executions", body)), (std::vector<std::int64_t>{200, 200}));
  EXPECT_EQ(list_all().size(), 2U);
}

TEST_F(ServerBatch, verbs_for_many) {
  const std::string a = created(), b = created();
  auto ids = [&](const std::string& more = "") {
    return fmt::format(R"({{"items":[{{"execution_id":"{}"{}}},{{"execution_id":"nonsense"{}}},{{"execution_id":"{}"{}}}]}})",
                       a, more, more, b, more);
  };
  EXPECT_EQ(statuses(post("/v1/executions/priority", ids(R"(,"priority":5)"))), (std::vector<std::int64_t>{200, 400, 200}));
  EXPECT_EQ(statuses(post("/v1/executions/delete", ids())), (std::vector<std::int64_t>{409, 400, 409}));
  const Got cancelled = post("/v1/executions/cancel", ids(R"(,"reason":"all")"));
  EXPECT_EQ(statuses(cancelled), (std::vector<std::int64_t>{200, 400, 200}));
  EXPECT_EQ(cancelled.at("items").at(2).at("result").at("cancellation_reason"), "all");
  EXPECT_EQ(statuses(post("/v1/executions/replay", ids())), (std::vector<std::int64_t>{200, 400, 200}));
  post("/v1/executions/cancel", ids());
  EXPECT_EQ(statuses(post("/v1/executions/delete", ids())), (std::vector<std::int64_t>{204, 400, 204}));
  EXPECT_TRUE(list_all().empty());
  EXPECT_EQ(post("/v1/executions/cancel", "{}").problem(), "invalid_input items missing");
}

TEST_F(ServerBatch, T34_worker_calls_may_mix_executions) {
  created();
  created();
  const std::string first = claimed(), second = claimed();
  const std::string body =
      fmt::format(R"({{"items":[{{"handle":"{}"}},{{"handle":"altered"}},{{"handle":"{}"}}]}})", first, second);
  EXPECT_EQ(statuses(post("/v1/worker/renew", body)), (std::vector<std::int64_t>{200, 400, 200}));
  EXPECT_EQ(statuses(post("/v1/worker/progress", body)), (std::vector<std::int64_t>{200, 400, 200}));
  const Got done = post("/v1/worker/complete", body);
  EXPECT_EQ(statuses(done), (std::vector<std::int64_t>{200, 400, 200}));
  EXPECT_EQ(done.at("items").at(0).at("result").at("public_state"), "completed");
  EXPECT_EQ(done.at("items").at(1).at("problem").at("code"), "invalid_handle");
}

}  // namespace
}  // namespace ff::test
