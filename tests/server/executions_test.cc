// 07, 6.2: executions over HTTP.

#include "server/server_world.h"

namespace ff::test {
namespace {

constexpr const char* kOwnId = "{fp:3}:01890000-0000-7000-8000-000000000001";

class ServerExecutions : public ServerTest {};

TEST_F(ServerExecutions, T23_create_answers_with_the_execution_and_its_address) {
  const Got got = post("/v1/executions", R"({"execution_kind":"resize","lane_id":"default","priority":7,
    "tags":{"customer":"42"},"payload":{"w": 1.0,  "h":2},"policy":{"max_reclaim_count":2}})");
  EXPECT_EQ(got.status, 201);
  const std::string id = got.text_at("execution_id");
  EXPECT_EQ(got.header("location"), path(id));
  EXPECT_EQ(got.header("idempotent-replay"), "");
  EXPECT_EQ(got.text_at("public_state"), "waiting");
  EXPECT_EQ(got.at("priority"), 7);
  EXPECT_EQ(got.at("policy").at("max_reclaim_count"), 2);
  EXPECT_EQ(got.at("payload_bytes"), 18);
  EXPECT_THAT(got.text, HasSubstr(R"("payload":{"w": 1.0,  "h":2})"));
  EXPECT_NE(got.at("why").at("text").as_string().size(), 0U);
  EXPECT_EQ(get(path(id)).body, got.body);
  EXPECT_EQ(get("/v1/executions/" + id).body, got.body) << "raw and encoded ids are equal";
}

TEST_F(ServerExecutions, T23_repeats_get_the_first_execution) {
  const std::string own = fmt::format(R"({{"execution_kind":"a","execution_id":"{}"}})", kOwnId);
  EXPECT_EQ(post("/v1/executions", own).status, 201);
  const Got again = post("/v1/executions", own);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.header("idempotent-replay"), "true");
  const Got first = post("/v1/executions", R"({"execution_kind":"a"})", {{"Idempotency-Key", "k1"}});
  EXPECT_EQ(first.status, 201);
  const Got repeat = post("/v1/executions", R"({"execution_kind":"a","idempotency_key":"k1"})");
  EXPECT_EQ(repeat.status, 200);
  EXPECT_EQ(repeat.text_at("execution_id"), first.text_at("execution_id"));
  const Got other = post("/v1/executions", R"({"execution_kind":"b"})", {{"Idempotency-Key", "k1"}});
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.text_at("code"), "idempotency_conflict");
}

TEST_F(ServerExecutions, T23_two_keys_or_a_key_and_an_id_are_refused) {
  EXPECT_EQ(post("/v1/executions", R"({"execution_kind":"a","idempotency_key":"x"})", {{"Idempotency-Key", "y"}}).problem(),
            "invalid_input idempotency_key conflict");
  EXPECT_EQ(post("/v1/executions", fmt::format(R"({{"execution_kind":"a","execution_id":"{}"}})", kOwnId),
                 {{"Idempotency-Key", "y"}})
                .problem(),
            "invalid_input idempotency_key with_execution_id");
  for (const std::string& bad : {std::string(), std::string(513, 'k'), std::string("a\nb")})
    EXPECT_EQ(post("/v1/executions", R"({"execution_kind":"a"})", {{"Idempotency-Key", bad}}).problem(),
              "invalid_input Idempotency-Key out_of_range");
  EXPECT_TRUE(list_all().empty());
}

TEST_F(ServerExecutions, T18_raw_put_keeps_every_byte) {
  Request request;
  request.method = "PUT";
  request.target = path(kOwnId) + "?execution_kind=a&tag.x=y&priority=3&policy=%7B%22max_reclaim_count%22:5%7D";
  for (int i = 0; i < 256; ++i) request.body += static_cast<char>(i);
  request.headers = {{"Content-Type", "image/png"}};
  const Got got = send(request);
  EXPECT_EQ(got.status, 201) << got.text;
  EXPECT_EQ(got.at("tags").at("x"), "y");
  EXPECT_EQ(got.at("policy").at("max_reclaim_count"), 5);
  EXPECT_TRUE(got.at("payload").as_object().contains("base64"));
  const Got bytes = get(path(kOwnId, "/payload"));
  EXPECT_EQ(bytes.text, request.body);
  EXPECT_EQ(bytes.header("content-type"), "image/png");
  EXPECT_EQ(bytes.header("etag").empty(), false);
  const Got part = call("GET", path(kOwnId, "/payload"), "", {{"Range", "bytes=65-67"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.text, "ABC");
  request.target += "&content_type=x";
  EXPECT_EQ(send(request).problem(), "invalid_input content_type unknown_field");
}

TEST_F(ServerExecutions, a_large_payload_is_fetched_by_itself) {
  const std::string text = "\"" + std::string(64 * 1024, 'x') + "\"";
  const Got got = post("/v1/executions", R"({"execution_kind":"a","payload":)" + text + "}");
  EXPECT_EQ(got.status, 201);
  EXPECT_FALSE(got.body.as_object().contains("payload"));
  EXPECT_EQ(got.at("payload_bytes"), text.size());
  EXPECT_EQ(get(path(got.text_at("execution_id"), "/payload")).text, text);
}

TEST_F(ServerExecutions, results_become_visible_with_the_end) {
  const std::string id = created();
  EXPECT_EQ(get(path(id, "/result")).status, 204);
  EXPECT_EQ(get(path(id, "/payload")).status, 204);
  const std::string handle = claimed();
  const Got done = post("/v1/worker/complete", fmt::format(R"({{"handle":"{}","result":[1, 2]}})", handle));
  EXPECT_EQ(done.text_at("public_state"), "completed");
  EXPECT_EQ(get(path(id, "/result")).text, "[1, 2]");
  EXPECT_THAT(get(path(id)).text, HasSubstr(R"("result":[1, 2])"));
  EXPECT_EQ(get(path(id, "/attempts")).at("items").as_array().size(), 1U);
  EXPECT_GE(get(path(id, "/history?limit=1")).at("items").as_array().size(), 1U);
}

TEST_F(ServerExecutions, T25_lists_are_filtered_and_paged) {
  for (int i = 0; i < 5; ++i) created(fmt::format(R"("tags":{{"n":"{}"}})", i % 2));
  EXPECT_EQ(get("/v1/executions").at("items").as_array().size(), 5U);
  EXPECT_EQ(get("/v1/executions?tag.n=1").at("items").as_array().size(), 2U);
  EXPECT_EQ(get("/v1/executions?state=waiting&state=failed&kind=job&lane=default").at("items").as_array().size(), 5U);
  EXPECT_EQ(get("/v1/executions?state=failed").at("items").as_array().size(), 0U);
  EXPECT_EQ(get("/v1/executions?limit=0").at("items").as_array().size(), 0U);
  std::set<std::string> seen;
  std::string target = "/v1/executions?limit=2&sort=-created";
  std::string cursor;
  for (int page = 0; page < 4; ++page) {
    const Got got = get(target + (cursor.empty() ? "" : "&cursor=" + server::percent_encoded(cursor)));
    for (const auto& item : got.at("items").as_array()) seen.emplace(item.at("execution_id").as_string());
    if (!got.body.as_object().contains("next_cursor")) break;
    cursor = got.text_at("next_cursor");
  }
  EXPECT_EQ(seen.size(), 5U);
  EXPECT_EQ(get("/v1/executions?sort=priority").at("items").as_array().size(), 5U);
  EXPECT_EQ(get("/v1/executions?sort=colour").problem(), "invalid_input sort unknown_value");
  EXPECT_EQ(get("/v1/executions?limit=501").problem(), "invalid_input limit out_of_range");
  EXPECT_EQ(get("/v1/executions?colour=red").problem(), "invalid_input colour unknown_field");
  EXPECT_EQ(get("/v1/executions?state=lost").problem(), "invalid_input state[0] unknown_value");
  EXPECT_EQ(get("/v1/executions?sort=name").problem(), "invalid_input sort unknown_value");
  EXPECT_EQ(get("/v1/executions?cursor=%21").text_at("code"), "invalid_offset");
}

TEST_F(ServerExecutions, T26_wait_ends_with_the_execution_or_with_the_time) {
  const std::string id = created();
  EXPECT_EQ(get(path(id, "/wait")).text_at("lifecycle_phase"), "runnable");
  EXPECT_EQ(get(path(id, "/wait?wait_ms=20")).text_at("lifecycle_phase"), "runnable");
  EXPECT_EQ(get(path(id, "/wait?wait_ms=60001")).problem(), "invalid_input wait_ms out_of_range");
  auto [pending, future] = start(json_request("GET", path(id, "/wait?wait_ms=60000"), ""));
  EXPECT_EQ(pending.deadline_ms(), 90'000U);
  EXPECT_EQ(post(path(id, "/cancel"), "").status, 200);
  EXPECT_EQ(future.get().text_at("lifecycle_phase"), "terminal");
  EXPECT_EQ(get(path(id, "/wait?wait_ms=60000")).text_at("public_state"), "cancelled");
}

/// However a wait ends, what it held is let go of.
TEST_F(ServerExecutions, T26_nothing_is_kept_of_a_wait) {
  std::mutex mutex;
  std::vector<std::weak_ptr<void>> calls;
  server::ServerOptions options;
  options.acting_for = [&](const core::Caller&) {
    auto call = std::make_shared<std::shared_ptr<api::Backend>>(fabric.backend());
    std::lock_guard guard(mutex);
    calls.push_back(call);
    return std::shared_ptr<api::Backend>(call, call->get());
  };
  start_server(std::move(options));
  const std::string id = created();
  auto all_gone = [&] {
    std::lock_guard guard(mutex);
    return std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call.expired(); });
  };
  const std::string claim =
      R"({"worker_id":"w","worker_instance_id":"w1","lanes":["other"],"wait_ms":60000})";
  // A read that nobody wants any more ends with its time; a claim at once.
  auto waits = [&](int wait_ms) {
    return std::vector{json_request("GET", path(id, fmt::format("/wait?wait_ms={}", wait_ms)), ""),
                       json_request("GET", path(id, fmt::format("/history?wait_ms={}", wait_ms)), ""),
                       json_request("POST", "/v1/worker/claim", claim)};
  };
  for (const Request& request : waits(500)) {
    auto [pending, future] = start(request);
    pending.expire();
    EXPECT_EQ(future.get().text_at("code"), "timeout");
  }
  EXPECT_TRUE(eventually(all_gone)) << "their time is over";
  for (const Request& request : waits(500)) {
    auto [pending, future] = start(request);
    EXPECT_TRUE(pending.abandon());
  }
  EXPECT_TRUE(eventually(all_gone)) << "the callers have gone";
  {
    auto [pending, future] = start(waits(60'000)[0]);
    auto [history, more] = start(waits(60'000)[1]);
    EXPECT_EQ(post(path(id, "/cancel"), "").status, 200);
    EXPECT_EQ(future.get().text_at("lifecycle_phase"), "terminal");
    EXPECT_EQ(more.get().status, 200);
  }
  EXPECT_TRUE(eventually(all_gone)) << "it has happened";
  {
    auto [pending, future] = start(waits(60'000)[2]);
    api->drain();
    EXPECT_EQ(future.get().status, 200);
  }
  EXPECT_TRUE(eventually(all_gone)) << "the server shuts down";
}

TEST_F(ServerExecutions, T22_what_does_not_exist) {
  for (const char* rest : {"", "/wait", "/payload", "/result", "/attempts", "/history"}) {
    EXPECT_EQ(get(path(kOwnId, rest)).text_at("code"), "execution_not_found") << rest;
    EXPECT_EQ(get(path("nonsense", rest)).problem(), "invalid_input execution_id unknown_value") << rest;
    EXPECT_EQ(get(path("{fp:9999}:01890000-0000-7000-8000-000000000001", rest)).status, 400) << rest;
  }
}

TEST_F(ServerExecutions, T22_head_has_the_headers_of_get) {
  const std::string id = created();
  const Got whole = get(path(id));
  const Got head = call("HEAD", path(id));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.text, "");
  EXPECT_EQ(head.header("content-length"), std::to_string(whole.text.size()));
}

TEST_F(ServerExecutions, a_trace_is_kept_and_handed_to_the_worker) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(post("/v1/executions", R"({"execution_kind":"job"})", {{"traceparent", trace}}).text_at("traceparent"), trace);
  const Got got = post("/v1/worker/claim", R"({"worker_id":"w","worker_instance_id":"w1","lanes":["default"]})");
  EXPECT_EQ(got.at("tasks").at(0).at("execution").at("traceparent"), trace.c_str());
}

}  // namespace
}  // namespace ff::test
