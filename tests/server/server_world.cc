#include "server/server_world.h"

#include "server/openapi.h"

#include <atomic>

namespace ff::test {
namespace {

/// Holds an answer against the document.
void check_documented(const Request& request, const Got& got) {
  auto target = server::parse_target(request.target);
  if (!target || got.text.empty() || got.body.is_null()) return;
  auto match = server::match_route(request.method, target->segments);
  const json::value* schema = nullptr;
  if (match) {
    schema = api_document().answer_schema(match->route->pattern, match->route->method, got.status);
    if (!schema && !match->route->reply) return;  // raw bytes
  } else {
    schema = api_document().resolve("#/components/schemas/Problem");
  }
  ASSERT_NE(schema, nullptr) << request.method << " " << request.target << " " << got.status;
  const auto faults = api_document().faults(got.body, *schema);
  EXPECT_THAT(faults, IsEmpty()) << request.method << " " << request.target << "\n" << got.text;
}

Got got_of(Response response) {
  Got got;
  got.status = response.status;
  got.headers = std::move(response.headers);
  got.text = std::move(response.body);
  boost::json::error_code error;
  json::value parsed = json::parse(got.text, error);
  if (!error) got.body = std::move(parsed);
  return got;
}

}  // namespace

const SchemaChecker& api_document() {
  static const SchemaChecker checker(json::parse(server::openapi_text()).as_object());
  return checker;
}

std::string Got::problem() const {
  if (!body.is_object() || !body.as_object().contains("code")) return fmt::format("no problem: {} {}", status, text);
  std::string out(body.at("code").as_string());
  for (const char* name : {"field", "reason"})
    if (const json::value* found = body.at("context").as_object().if_contains(name))
      out += " " + std::string(found->as_string());
  return out;
}

Request json_request(std::string method, std::string target, std::string body) {
  Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::move(body);
  return request;
}

void ServerTest::start_server(server::ServerOptions options) {
  auto ids = std::make_shared<std::atomic<int>>(0);
  if (!options.mint_request_id) options.mint_request_id = [ids] { return fmt::format("req-{}", ++*ids); };
  if (!options.steady_ms) options.steady_ms = [this] { return now(); };
  // Asked on threads of the engine, which may not call the engine.
  if (!options.steady_us)
    options.steady_us = [] { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::microseconds(1); };
  options.log = [this](LogLevel, std::string_view message, std::span<const LogField> fields) {
    std::lock_guard guard(log_mutex);
    log.emplace_back(message);
    for (const auto& field : fields) log.back() += fmt::format(" {}={}", field.name, field.value);
  };
  api = std::make_unique<server::Server>(fabric.backend(), std::move(options));
}

Pending ServerTest::handle(Request request, server::Server::Send send) {
  Pending pending;
  std::string body = std::exchange(request.body, "");
  api->begin(std::move(request), [&](std::expected<server::Ticket, Response> begun) {
    if (begun)
      pending = api->handle(std::move(*begun), std::move(body), std::move(send));
    else
      send(std::move(begun.error()));
  });
  return pending;
}

std::optional<Response> ServerTest::refused_early(Request head) {
  std::optional<Response> refusal;
  head.body.clear();
  api->begin(std::move(head), [&](std::expected<server::Ticket, Response> begun) {
    if (!begun) refusal = std::move(begun.error());
  });
  return refusal;
}

std::pair<Pending, std::future<Got>> ServerTest::start(Request request) {
  auto promise = std::make_shared<std::promise<Got>>();
  auto future = promise->get_future();
  Pending pending = handle(request, [promise, request](Response response) {
    Got got = got_of(std::move(response));
    check_documented(request, got);
    promise->set_value(std::move(got));
  });
  return {std::move(pending), std::move(future)};
}

Got ServerTest::send(Request request) {
  auto [pending, future] = start(std::move(request));
  return future.get();
}

Got ServerTest::call(const std::string& method, const std::string& target, const std::string& body, Headers headers) {
  Request request = json_request(method, target, body);
  request.headers.insert(request.headers.end(), headers.begin(), headers.end());
  return send(std::move(request));
}

std::string ServerTest::created(const std::string& members) {
  const Got got = post("/v1/executions", fmt::format(R"({{"execution_kind":"job"{}{}}})", members.empty() ? "" : ",", members));
  EXPECT_EQ(got.status, 201) << got.text;
  return got.text_at("execution_id");
}

std::string ServerTest::claimed() {
  const Got got = post("/v1/worker/claim", R"({"worker_id":"w","worker_instance_id":"w1","lanes":["default"]})");
  EXPECT_EQ(got.status, 200) << got.text;
  const json::array& tasks = got.at("tasks").as_array();
  EXPECT_EQ(tasks.size(), 1U);
  return tasks.empty() ? "" : std::string(tasks[0].at("handle").as_string());
}

std::string ServerTest::everything() {
  std::string text;
  for (const auto& item : list_all()) text += core::to_json_text(item) + "\n";
  const auto lanes = must(fabric.lanes());
  for (const auto& lane : lanes.items) text += core::to_json_text(lane.lane) + "\n";
  return text;
}

}  // namespace ff::test
