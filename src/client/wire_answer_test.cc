#include "client/wire_answer.h"

#include <gtest/gtest.h>

namespace ff::client {
namespace {

namespace json = core::json;

template <class Reply>
Result<Reply> read(const std::string& text) {
  const json::value body = json::parse(text);
  return read_reply(WireAnswer{.status = 200, .body = &body, .text = text, .content_type = "application/json"}, As<Reply>());
}

TEST(ClientWireAnswer, replies) {
  auto changed = read<Changed>(
      R"({"execution_id":"{fp:7}:018f0000-0000-7000-8000-000000000001","public_state":"cancelled","unchanged":true,"new":[1]})");
  ASSERT_TRUE(changed) << "what a newer server adds is ignored";
  EXPECT_EQ(changed->public_state, PublicState::cancelled);
  EXPECT_TRUE(changed->unchanged);
  auto page = read<Page<LeaseItem>>(R"({"items":[{"lease_epoch":3}],"next_cursor":"c"})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->items.at(0).lease_epoch, 3U);
  EXPECT_EQ(page->next_cursor, "c");
  EXPECT_TRUE(read<Done>("{}"));
  EXPECT_FALSE(read_reply(WireAnswer{.status = 204}, As<std::optional<Blob>>())->has_value());
}

TEST(ClientWireAnswer, what_cannot_be_read_is_an_error) {
  EXPECT_EQ(read<Changed>(R"({"execution_id":"{fp:7}:018f0000-0000-7000-8000-000000000001","public_state":"flying"})").error().code, ErrorCode::store_refused);
  EXPECT_EQ(read<Changed>(R"({"items":[]})").error().code, ErrorCode::store_refused);
  EXPECT_EQ(read<Changed>("[]").error().code, ErrorCode::store_refused);
  EXPECT_EQ(read<Page<Event>>(R"({"item":[]})").error().code, ErrorCode::store_refused);
  EXPECT_EQ(read<std::vector<ClaimedTask>>(R"({"tasks":[{"handle":7}]})").error().code, ErrorCode::store_refused);
  EXPECT_EQ(read<std::vector<ClaimedTask>>(R"({"tasks":[{"payload":{"base64":"?"}}]})").error().code, ErrorCode::store_refused);
}

TEST(ClientWireAnswer, payloads_of_tasks_come_out_byte_for_byte) {
  const auto tasks = read<std::vector<ClaimedTask>>(
      R"({"more": [{}], "tasks" :[ {"handle":"a","payload": {"x":  1.50,"y":"]}\"" }}, {"handle":"b","payload":{"base64":"AP8="}},)"
      R"({"handle":"c"},{"handle":"d","payload":null},{"payload":{"base64":1}}]})");
  ASSERT_TRUE(tasks) << tasks.error().message;
  ASSERT_EQ(tasks->size(), 5U);
  EXPECT_EQ((*tasks)[0].payload, R"({"x":  1.50,"y":"]}\"" })");
  EXPECT_EQ((*tasks)[1].payload, std::string("\0\xff", 2));
  EXPECT_EQ((*tasks)[2].payload, std::nullopt);
  EXPECT_EQ((*tasks)[3].payload, "null");
  EXPECT_EQ((*tasks)[4].payload, R"({"base64":1})");
}

TEST(ClientWireAnswer, problems_are_the_errors_of_the_engine) {
  const Error error = read_problem(
      409,
      R"({"code":"stale_lease","detail":"Another worker holds it.","retry_after_ms":25,)"
      R"("context":{"lease_epoch":4,"execution_id":"x","list":["a","b"]}})",
      0, "The server");
  EXPECT_EQ(error.code, ErrorCode::stale_lease);
  EXPECT_EQ(error.message, "Another worker holds it.");
  EXPECT_EQ(error.context.number("lease_epoch"), 4);
  EXPECT_EQ(error.context.text("execution_id"), "x");
  EXPECT_EQ(error.context.number("retry_after_ms"), 25);
  EXPECT_EQ(std::get<std::vector<std::string>>(*error.context.find("list")).size(), 2U);
  EXPECT_EQ(read_problem(404, R"({"code":"cave_not_found"})", 0, "").code, ErrorCode::route_not_found) << "a newer code";
}

TEST(ClientWireAnswer, refusals_by_somebody_in_between) {
  EXPECT_EQ(read_problem(502, "<html>", 0, "The server at x").code, ErrorCode::store_unavailable);
  const Error busy = read_problem(503, "", 7, "The server at x");
  EXPECT_TRUE(busy.retryable());
  EXPECT_EQ(busy.context.number("retry_after_ms"), 7'000);
  const Error foreign = read_problem(404, "<html>", 0, "The server at x");
  EXPECT_EQ(foreign.code, ErrorCode::store_refused);
  EXPECT_EQ(foreign.context.text("reason"), "not_flowfabric");
  EXPECT_NE(foreign.message.find("The server at x"), std::string::npos);
}

TEST(ClientWireAnswer, answers_to_a_batch) {
  const json::value body = json::parse(R"({"items":[{"status":200},{"status":409}]})");
  EXPECT_NE(batch_answers(body, 2), nullptr);
  EXPECT_EQ(batch_answers(body, 3), nullptr);
  EXPECT_EQ(batch_answers(json::parse(R"({"items":{}})"), 0), nullptr);
}

}  // namespace
}  // namespace ff::client
