// 07, 6.7: the worker protocol over HTTP only.

#include "server/server_world.h"

namespace ff::test {
namespace {

class ServerWorker : public ServerTest {
 protected:
  Got by_handle(const std::string& verb, const std::string& handle, const std::string& more = "") {
    return post("/v1/worker/" + verb,
                fmt::format(R"({{"handle":"{}"{}{}}})", handle, more.empty() ? "" : ",", more));
  }
  static Request claim_request(const std::string& more = "") {
    return json_request("POST", "/v1/worker/claim",
                        R"({"worker_id":"w","worker_instance_id":"w1","lanes":["default"])" + more + "}");
  }
};

TEST_F(ServerWorker, T34_a_task_from_claim_to_end) {
  const std::string id = created(R"("payload":{"a": 1},"tags":{"t":"x"})");
  const Got got = send(claim_request(R"(,"max":5,"capabilities":["gpu"],"kinds":["job"],"lease_ttl_ms":60000)"));
  ASSERT_EQ(got.at("tasks").as_array().size(), 1U);
  const json::value& task = got.at("tasks").at(0);
  EXPECT_EQ(task.at("kind"), "fresh");
  EXPECT_EQ(task.at("execution").at("execution_id"), id.c_str());
  EXPECT_EQ(task.at("attempt").at("attempt_index"), 0);
  EXPECT_EQ(task.at("lease_expires_at_ms"), now() + 60'000);
  EXPECT_THAT(got.text, HasSubstr(R"("payload":{"a": 1})"));
  const std::string handle(task.at("handle").as_string());

  EXPECT_EQ(by_handle("renew", handle, R"("lease_ttl_ms":5000)").at("lease_expires_at_ms"), now() + 5'000);
  EXPECT_EQ(by_handle("progress", handle, R"("progress_pct":50,"progress_message":"half")").text, "{}");
  EXPECT_EQ(get(path(id)).at("progress_pct"), 50);
  EXPECT_EQ(by_handle("progress", handle, R"("progress_pct":101)").text_at("code"), "invalid_input");
  const Got done = by_handle("complete", handle, R"("result":"ok")");
  EXPECT_EQ(done.text_at("execution_id"), id);
  EXPECT_EQ(done.text_at("public_state"), "completed");
  EXPECT_EQ(by_handle("complete", handle, R"("result":"ok")").body, done.body) << "a lost answer, then a repeat";
}

TEST_F(ServerWorker, T34_fail_delay_cancel_and_wait_children) {
  created(R"("policy":{"retry_policy":{"max_retries":1,"backoff":{"type":"fixed","delay_ms":1000}}})");
  const Got retry = by_handle("fail", claimed(), R"("message":"broken","class":"transient")");
  EXPECT_EQ(retry.text_at("status"), "retry_scheduled");
  EXPECT_EQ(retry.at("delay_until_ms"), now() + 1'000);
  EXPECT_EQ(retry.at("next_attempt_index"), 1);
  advance(1'001);
  EXPECT_EQ(by_handle("fail", claimed(), R"("message":"broken")").text_at("status"), "failed");

  created();
  const Got delayed = by_handle("delay", claimed(), R"("delay_ms":2000)");
  EXPECT_EQ(delayed.text_at("public_state"), "delayed");
  EXPECT_EQ(delayed.at("delay_until_ms"), now() + 2'000);
  advance(2'001);
  const std::string handle = claimed();
  EXPECT_EQ(by_handle("cancel", handle).problem(), "invalid_input reason missing");
  EXPECT_EQ(by_handle("cancel", handle, R"("reason":"enough")").text_at("public_state"), "cancelled");
}

TEST_F(ServerWorker, T34_a_handle_that_was_altered_is_refused_before_any_read) {
  created();
  const std::string handle = claimed();
  const std::string before = everything();
  for (const auto& [verb, more] : std::map<std::string, std::string>{{"renew", ""},
                                                                     {"progress", ""},
                                                                     {"complete", ""},
                                                                     {"fail", R"("message":"m")"},
                                                                     {"delay", R"("delay_ms":0)"},
                                                                     {"wait-children", ""},
                                                                     {"cancel", R"("reason":"r")"}}) {
    EXPECT_EQ(by_handle(verb, handle.substr(0, handle.size() - 1), more).text_at("code"), "invalid_handle") << verb;
    EXPECT_EQ(by_handle(verb, "", more).text_at("code"), "invalid_handle") << verb;
  }
  for (std::size_t i = 0; i < handle.size(); ++i) {
    std::string altered = handle;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    const Got got = by_handle("complete", altered);
    EXPECT_EQ(got.text_at("code"), "invalid_handle") << i;
    EXPECT_EQ(got.text.find(altered), got.text.npos) << "a handle is as good as a password";
  }
  EXPECT_EQ(everything(), before);
  EXPECT_EQ(by_handle("renew", handle).status, 200);
}

TEST_F(ServerWorker, T36_a_renewal_tells_what_became_of_the_task) {
  const std::string id = created();
  const std::string handle = claimed();
  post(path(id, "/cancel"), "");
  const Got got = by_handle("renew", handle);
  EXPECT_EQ(got.status, 409);
  EXPECT_EQ(got.text_at("code"), "execution_not_active");
  EXPECT_EQ(got.at("context").at("terminal_outcome"), "cancelled");
}

TEST_F(ServerWorker, nothing_to_claim_is_an_empty_list) {
  EXPECT_EQ(send(claim_request()).text, R"({"tasks":[]})");
  EXPECT_EQ(send(claim_request(R"(,"wait_ms":20)")).text, R"({"tasks":[]})");
  EXPECT_EQ(send(claim_request(R"(,"max":0)")).problem(), "invalid_input max out_of_range");
  EXPECT_EQ(send(claim_request(R"(,"max":1001)")).problem(), "invalid_input max out_of_range");
  EXPECT_EQ(send(claim_request(R"(,"items":[])")).problem(), "invalid_input items unknown_field");
}

TEST_F(ServerWorker, a_claim_waits_for_work) {
  auto [pending, future] = start(claim_request(R"(,"wait_ms":60000)"));
  EXPECT_EQ(pending.deadline_ms(), 90'000U);
  const std::string id = created();
  EXPECT_EQ(future.get().at("tasks").at(0).at("execution").at("execution_id"), id.c_str());
}

TEST_F(ServerWorker, a_claim_repeated_with_its_key_gets_the_same_tasks) {
  created();
  created();
  Request request = claim_request();
  request.headers.emplace_back("Idempotency-Key", "c1");
  const Got first = send(request);
  EXPECT_EQ(send(request).at("tasks").at(0).at("handle"), first.at("tasks").at(0).at("handle"));
}

TEST_F(ServerWorker, T35_a_caller_that_has_gone_is_handed_nothing) {
  auto [pending, future] = start(claim_request(R"(,"wait_ms":60000)"));
  pending.abandon();
  const std::string id = created();
  // Whatever the claim had taken meanwhile is given back at once.
  EXPECT_TRUE(eventually([&] {
    auto tasks = must(fabric.claim(request("w2")));
    return tasks.size() == 1 && tasks[0].execution.execution_id.to_string() == id;
  }));
  EXPECT_THROW(future.get(), std::future_error) << "the way to the caller was let go of, unused";
}

TEST_F(ServerWorker, T35_leases_of_an_answer_that_was_not_delivered_are_given_back) {
  const std::string id = created();
  auto claim = [&](Headers headers) {
    Request request = claim_request();
    request.headers.insert(request.headers.end(), headers.begin(), headers.end());
    std::promise<Response> promise;
    handle(request, [&](Response response) { promise.set_value(std::move(response)); });
    return promise.get_future().get();
  };
  Response lost = claim({});
  ASSERT_TRUE(lost.undelivered);
  EXPECT_EQ(get(path(id)).text_at("public_state"), "active");
  lost.undelivered();
  EXPECT_TRUE(eventually([&] { return get(path(id)).text_at("public_state") != "active"; }));
  Response keyed = claim({{"Idempotency-Key", "c9"}});
  EXPECT_THAT(keyed.body, HasSubstr("handle"));
  EXPECT_FALSE(keyed.undelivered) << "the caller asks again with its key";
}

TEST_F(ServerWorker, past_the_deadline_the_answer_is_a_timeout) {
  auto [pending, future] = start(claim_request(R"(,"wait_ms":60000)"));
  pending.expire();
  const Got got = future.get();
  EXPECT_EQ(got.status, 504);
  EXPECT_EQ(got.text_at("code"), "timeout");
  pending.expire();  // once is enough
  auto [fast, answered] = start(json_request("GET", "/livez", ""));
  fast.expire();
  EXPECT_EQ(answered.get().status, 200);
}

TEST_F(ServerWorker, T40_a_drain_ends_waiting_claims_and_lets_tasks_finish) {
  created();
  const std::string handle = claimed();
  auto [pending, future] = start(claim_request(R"(,"wait_ms":60000)"));
  api->drain();
  EXPECT_EQ(future.get().text, R"({"tasks":[]})");
  const Got refused = send(claim_request());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.text_at("code"), "draining");
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_EQ(post("/v1/executions", R"({"execution_kind":"a"})").status, 503);
  EXPECT_EQ(get("/v1/executions").status, 503);
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/livez").status, 200);
  EXPECT_EQ(get("/v1/info").at("draining"), true);
  EXPECT_EQ(by_handle("renew", handle).status, 200);
  EXPECT_EQ(by_handle("complete", handle).text_at("public_state"), "completed");
}

TEST_F(ServerWorker, T40_a_drain_answers_waiting_reads_with_what_there_is) {
  const std::string id = created();
  auto [pending, future] = start(json_request("GET", path(id, "/wait?wait_ms=60000"), ""));
  EXPECT_TRUE(pending.is_waiting());
  api->drain();
  const Got got = future.get();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.text_at("public_state"), "waiting");
  EXPECT_FALSE(pending.is_waiting());
  EXPECT_FALSE(pending.abandon()) << "the answer came first";
}

TEST_F(ServerWorker, a_wait_that_begins_during_a_drain_is_none) {
  // The head was let in before the drain, the body came after it.
  std::optional<server::Ticket> ticket;
  Request request = claim_request(R"(,"wait_ms":60000)");
  api->begin(request, [&](std::expected<server::Ticket, Response> begun) { ticket = std::move(*begun); });
  api->drain();
  std::promise<std::string> answer;
  api->handle(std::move(*ticket), request.body, [&](Response response) { answer.set_value(response.body); });
  EXPECT_EQ(answer.get_future().get(), R"({"tasks":[]})");
}

}  // namespace
}  // namespace ff::test
