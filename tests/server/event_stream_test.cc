// Server-sent events without a network: what is told, when it ends, how it is resumed.

#include "server/server_world.h"

namespace ff::test {
namespace {

class ServerEvents : public ServerTest {
 protected:
  /// The stream that a request opens.
  std::shared_ptr<server::BodyStream> open(const std::string& target, Headers headers = {}) {
    Request request = json_request("GET", target, "");
    request.headers = std::move(headers);
    std::promise<Response> promise;
    handle(request, [&](Response response) { promise.set_value(std::move(response)); });
    Response response = promise.get_future().get();
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(*server::find_header(response.headers, "Content-Type"), "text/event-stream");
    EXPECT_EQ(server::find_header(response.headers, "Content-Length"), nullptr);
    return response.stream;
  }
  static std::future<std::optional<std::string>> ask(server::BodyStream& stream) {
    auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
    auto future = promise->get_future();
    stream.next([promise](std::optional<std::string> part) { promise->set_value(std::move(part)); });
    return future;
  }
  /// Everything until the end.
  static std::string read_all(server::BodyStream& stream) {
    std::string text;
    while (auto part = ask(stream).get()) text += *part;
    return text;
  }
  static std::vector<std::string> fields(const std::string& text, const std::string& name) {
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = text.find(name + ": ", at)) != text.npos; ++at)
      if (at == 0 || text[at - 1] == '\n')
        found.push_back(text.substr(at + name.size() + 2, text.find('\n', at) - at - name.size() - 2));
    return found;
  }
};

const Headers kAccept = {{"Accept", "application/json;q=0.1, Text/Event-Stream"}};

TEST_F(ServerEvents, T28_events_of_an_execution_that_has_ended_and_then_the_end) {
  const std::string id = created();
  post("/v1/worker/complete", R"({"handle":")" + claimed() + "\"}");
  const std::string text = read_all(*open(path(id, "/history"), kAccept));
  EXPECT_THAT(fields(text, "event"), ElementsAre("lease", "lease", "completion")) << text;
  const json::array items = get(path(id, "/history")).at("items").as_array();
  const auto data = fields(text, "data");
  ASSERT_EQ(data.size(), items.size());
  for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(json::parse(data[i]), items[i]);
}

TEST_F(ServerEvents, T28_resumes_after_the_last_one_that_was_seen) {
  const std::string id = created();
  post("/v1/worker/complete", R"({"handle":")" + claimed() + "\"}");
  const auto ids = fields(read_all(*open(path(id, "/history"), kAccept)), "id");
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_THAT(fields(read_all(*open(path(id, "/history?follow=true"), {{"Last-Event-ID", ids[0]}})), "id"),
              ElementsAre(ids[1], ids[2]));
  EXPECT_THAT(fields(read_all(*open(path(id, "/history?follow=true&cursor=" + ids[1]))), "id"), ElementsAre(ids[2]));
  EXPECT_EQ(read_all(*open(path(id, "/history"), {{"Accept", "text/event-stream"}, {"Last-Event-ID", ids[2]}})), "");
  EXPECT_EQ(call("GET", path(id, "/history"), "", {{"Accept", "text/event-stream"}, {"Last-Event-ID", "x"}}).status, 400);
  EXPECT_EQ(call("GET", path("{fp:0}:01890000-0000-7000-8000-00000000ffff", "/history?follow=true")).status, 404);
}

TEST_F(ServerEvents, goes_on_until_the_execution_has_ended) {
  const std::string id = created();
  auto stream = open(path(id, "/history"), kAccept);
  auto first = ask(*stream);
  const std::string handle = claimed();
  EXPECT_THAT(fields(*first.get(), "event"), ElementsAre("lease"));
  auto second = ask(*stream);
  post("/v1/worker/complete", R"({"handle":")" + handle + "\"}");
  EXPECT_THAT(fields(*second.get(), "event"), ElementsAre("lease", "completion"));
  EXPECT_EQ(ask(*stream).get(), std::nullopt);
  EXPECT_EQ(ask(*stream).get(), std::nullopt) << "the end stays the end";
}

TEST_F(ServerEvents, a_long_history_comes_in_bounded_parts) {
  const std::string id = created();
  for (int i = 0; i < 60; ++i) {
    post("/v1/worker/delay", R"({"delay_ms":0,"handle":")" + claimed() + "\"}");
    advance(1'000);
  }
  post(path(id, "/cancel"), "");
  auto stream = open(path(id, "/history"), kAccept);
  std::size_t events = 0, parts = 0;
  while (auto part = ask(*stream).get()) {
    const std::size_t count = fields(*part, "event").size();
    EXPECT_LE(count, 100U);
    events += count;
    ++parts;
  }
  EXPECT_GT(parts, 1U);
  std::size_t all = 0;
  std::string cursor;
  while (true) {
    const Got page = get(path(id, "/history?limit=500" + cursor));
    all += page.at("items").as_array().size();
    if (!page.body.as_object().contains("next_cursor")) break;
    cursor = "&cursor=" + page.text_at("next_cursor");
  }
  EXPECT_EQ(events, all);
}

TEST_F(ServerEvents, a_shutdown_ends_it_with_the_last_place) {
  const std::string id = created();
  claimed();
  auto stream = open(path(id, "/history"), kAccept);
  const std::string first = *ask(*stream).get();
  auto waiting = ask(*stream);
  stream->finish();
  EXPECT_EQ(waiting.get(), "id: " + fields(first, "id").back() + "\n\n");
  EXPECT_EQ(ask(*stream).get(), std::nullopt);

  auto unasked = open(path(id, "/history"), kAccept);
  unasked->finish();
  EXPECT_EQ(ask(*unasked).get(), first) << "what was read is told";
  EXPECT_EQ(ask(*unasked).get(), "id: " + fields(first, "id").back() + "\n\n");
  EXPECT_EQ(ask(*unasked).get(), std::nullopt);
}

TEST_F(ServerEvents, nobody_is_told_anything_after_it_was_closed) {
  auto stream = open(path(created(), "/history"), kAccept);
  auto waiting = ask(*stream);
  stream->close();
  EXPECT_THROW(waiting.get(), std::future_error);
  std::weak_ptr gone = stream;
  stream.reset();
  EXPECT_TRUE(eventually([&] { return gone.expired(); })) << "waiting does not keep it";
}

TEST_F(ServerEvents, a_head_request_opens_none) {
  Request request = json_request("HEAD", path(created(), "/history"), "");
  request.headers = kAccept;
  std::promise<Response> promise;
  handle(request, [&](Response response) { promise.set_value(std::move(response)); });
  EXPECT_EQ(promise.get_future().get().stream, nullptr);
}

}  // namespace
}  // namespace ff::test
