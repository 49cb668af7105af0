// Every route against whatever can be wrong with a request: a problem that says what, and nothing is written.

#include "server/server_world.h"

namespace ff::test {
namespace {

/// Every route, with its fields filled in so that it would be found.
class ServerRefusals : public ServerTest {
 protected:
  std::string target_of(const server::Route& route) {
    std::string target;
    for (const auto& part : server::pattern_parts(route.pattern)) {
      target += "/";
      if (!part.is_field) target += part.text;
      else target += part.text == "execution_id" ? server::percent_encoded(id_) : "default";
    }
    return target;
  }
  static bool reads_json(const server::Route& route) {
    return route.body == server::Body::object || route.body == server::Body::tags;
  }
  static bool has_id(const server::Route& route) { return route.pattern.find("{execution_id}") != route.pattern.npos; }
  Got send_to(const server::Route& route, const std::string& body) {
    return call(std::string(route.method), target_of(route), body);
  }
  void SetUp() override {
    id_ = created(R"("payload":1)");
    before_ = everything();
  }
  void TearDown() override {
    EXPECT_EQ(everything(), before_);
    EXPECT_THAT(log, IsEmpty());
  }
  /// A problem that belongs to the caller, never one of ours.
  static void expect_problem(const Got& got, int status, const std::string& code) {
    EXPECT_EQ(got.status, status) << got.text;
    EXPECT_EQ(got.header("content-type"), "application/problem+json");
    ASSERT_TRUE(got.body.is_object()) << got.text;
    EXPECT_EQ(got.at("code"), code.c_str()) << got.text;
    EXPECT_EQ(got.at("status"), status);
  }

  std::string id_, before_;
};

TEST_F(ServerRefusals, malformed_json) {
  for (const auto& route : server::routes()) {
    if (!reads_json(route)) continue;
    SCOPED_TRACE(route.name);
    for (const char* bad : {"{", "{\"a\":}", "nonsense", "{} {}", "\xff", "{\"a\":1,\"a\":2}", "{\"a\":01}", "'a'"})
      expect_problem(send_to(route, bad), 400, "invalid_input");
    std::string deep = "{\"x\":" + std::string(64, '[') + std::string(64, ']') + "}";
    expect_problem(send_to(route, deep), 400, "invalid_input");
  }
}

TEST_F(ServerRefusals, bodies_that_are_no_object) {
  for (const auto& route : server::routes()) {
    if (!reads_json(route)) continue;
    SCOPED_TRACE(route.name);
    for (const char* bad : {"[]", "1", "null", "\"x\"", "true"}) expect_problem(send_to(route, bad), 400, "invalid_input");
  }
}

TEST_F(ServerRefusals, T17_unknown_fields_in_bodies_and_queries) {
  for (const auto& route : server::routes()) {
    SCOPED_TRACE(route.name);
    if (route.body == server::Body::object) {
      const Got got = send_to(route, R"({"no_such_field":1})");
      expect_problem(got, 400, "invalid_input");
      // Of many only `items` is known, and it is missing.
      EXPECT_EQ(got.at("context").at("field"), route.batch == server::Batch::only ? "items" : "no_such_field");
    }
    const Got query = call(std::string(route.method), target_of(route) + "?no_such_field=1", reads_json(route) ? "{}" : "");
    expect_problem(query, 400, "invalid_input");
    EXPECT_EQ(query.at("context").at("field"), "no_such_field");
  }
}

TEST_F(ServerRefusals, T17_every_field_refuses_another_type) {
  server::Schemas schemas;
  int fields = 0;
  for (const auto& route : server::routes()) {
    if (route.body != server::Body::object) continue;
    for (const auto& field : route.fields(schemas)) {
      if (route.pattern.find("{" + field.name + "}") != route.pattern.npos) continue;
      SCOPED_TRACE(fmt::format("{} {}", route.name, field.name));
      // A list of lists fits no field, and neither does a number with a fraction.
      for (const char* wrong : {"[[1.5]]", "1.5"}) {
        std::string body = fmt::format(R"({{"{}":{}}})", field.name, wrong);
        if (route.batch == server::Batch::only) body = R"({"items":[)" + body + "]}";
        const Got got = send_to(route, body);
        if (route.batch == server::Batch::only) {
          EXPECT_EQ(got.at("items").at(0).at("status"), 400) << got.text;
          continue;
        }
        EXPECT_EQ(got.status, 400) << got.text;
        EXPECT_THAT(got.text_at("detail") + got.problem(), HasSubstr(field.name));
      }
      ++fields;
    }
  }
  EXPECT_GT(fields, 60);
}

TEST_F(ServerRefusals, missing_fields_are_named) {
  server::Schemas schemas;
  for (const auto& route : server::routes()) {
    if (route.body != server::Body::object || route.batch == server::Batch::only) continue;
    SCOPED_TRACE(route.name);
    for (const auto& field : route.fields(schemas)) {
      if (!field.required || route.pattern.find("{" + field.name + "}") != route.pattern.npos) continue;
      EXPECT_EQ(send_to(route, "{}").problem(), "invalid_input " + field.name + " missing");
      break;
    }
  }
}

TEST_F(ServerRefusals, T22_bad_ids) {
  for (const auto& route : server::routes()) {
    if (!has_id(route)) continue;
    SCOPED_TRACE(route.name);
    for (const char* bad : {"x", "{fp:1}", "{fp:-1}:01890000-0000-7000-8000-000000000001", "{fp:1}:0189",
                            "{fp:01}:01890000-0000-7000-8000-000000000001", "%7Bfp:65536%7D:01890000-0000-7000-8000-000000000001",
                            "{fp:300}:01890000-0000-7000-8000-000000000001"}) {
      std::string target = target_of(route);
      target.replace(target.find(server::percent_encoded(id_)), server::percent_encoded(id_).size(), bad);
      const bool tags = route.body == server::Body::tags;
      std::string body = tags ? R"({"a":"b"})" : "";
      if (route.name == "change_priority") body = R"({"priority":1})";
      if (route.name == "operator_fail") body = R"({"message":"m"})";
      if (route.name == "create_execution_raw") target += "?execution_kind=k";
      const Got got = call(std::string(route.method), target, body);
      expect_problem(got, 400, "invalid_input");
      EXPECT_EQ(got.at("context").at("field"), "execution_id") << bad;
    }
  }
}

TEST_F(ServerRefusals, T16_bodies_over_the_limit) {
  const std::string large(1024 * 1024 + 1, ' ');
  for (const auto& route : server::routes()) {
    SCOPED_TRACE(route.name);
    const Got got = send_to(route, large);
    expect_problem(got, 413, "payload_too_large");
    EXPECT_EQ(got.at("context").at("limit_bytes"), 1024 * 1024);
    // The declared length is enough.
    Request head = json_request(std::string(route.method), target_of(route), "");
    head.headers.emplace_back("content-length", "1048577");
    EXPECT_EQ(send(head).status, 413);
    EXPECT_EQ(refused_early(head)->status, 413);
  }
  Request fits = json_request("POST", "/v1/executions", "{" + std::string(1024 * 1024 - 2, ' ') + "}");
  EXPECT_EQ(send(fits).problem(), "invalid_input execution_kind missing");
  EXPECT_FALSE(refused_early(fits));
}

TEST_F(ServerRefusals, content_types_that_are_no_json) {
  for (const auto& route : server::routes()) {
    if (!reads_json(route)) continue;
    SCOPED_TRACE(route.name);
    for (const char* type : {"text/plain", "application/x-www-form-urlencoded", ""}) {
      Request request = json_request(std::string(route.method), target_of(route), "{}");
      request.headers = {{"Content-Type", type}};
      EXPECT_EQ(send(request).problem(), "invalid_input Content-Type wrong_type");
      request.headers.clear();
      EXPECT_EQ(send(request).problem(), "invalid_input Content-Type wrong_type");
    }
  }
  Request fine = json_request("POST", "/v1/executions", "{}");
  fine.headers = {{"content-type", "Application/JSON; charset=utf-8"}};
  EXPECT_EQ(send(fine).problem(), "invalid_input execution_kind missing");
}

TEST_F(ServerRefusals, T16_headers_over_the_limit_get_a_bare_answer) {
  Request request = json_request("GET", "/livez", "");
  auto status = [&](std::size_t bytes) {
    request.headers = {{"X", std::string(bytes, 'a')}};
    return send(request);
  };
  const std::size_t rest = std::string("GET").size() + std::string("/livez").size() + 12 + 1 + 4;
  EXPECT_EQ(status(16 * 1024 - rest).status, 200);
  const Got beyond = status(16 * 1024 - rest + 1);
  EXPECT_EQ(beyond.status, 431);
  EXPECT_EQ(beyond.text, "");
  request.headers.assign(100, {"a", "b"});
  EXPECT_EQ(send(request).status, 200);
  request.headers.assign(101, {"a", "b"});
  EXPECT_EQ(send(request).status, 431);
  EXPECT_EQ(refused_early(request)->status, 431);
}

TEST_F(ServerRefusals, T22_unknown_paths_and_methods) {
  expect_problem(get("/v1/nothing"), 404, "route_not_found");
  expect_problem(get("/v1/executions/"), 404, "route_not_found");
  const Got got = call("DELETE", "/v1/executions");
  expect_problem(got, 405, "method_not_allowed");
  EXPECT_EQ(got.header("allow"), "GET, HEAD, POST");
  expect_problem(call("get", "/livez"), 405, "method_not_allowed");
  expect_problem(get("/%zz"), 400, "invalid_input");
  expect_problem(get(""), 400, "invalid_input");
}

TEST_F(ServerRefusals, T22_the_request_id_is_echoed_when_it_can_be) {
  EXPECT_EQ(call("GET", "/livez", "", {{"X-Request-Id", "mine 1"}}).header("x-request-id"), "mine 1");
  EXPECT_THAT(get("/livez").header("x-request-id"), HasSubstr("req-"));
  for (const std::string& bad : {std::string(), std::string("a\r\nSet-Cookie: x"), std::string(129, 'a')})
    EXPECT_THAT(call("GET", "/livez", "", {{"X-Request-Id", bad}}).header("x-request-id"), HasSubstr("req-"));
  EXPECT_EQ(call("GET", "/nowhere", "", {{"X-Request-Id", std::string(128, 'a')}}).header("x-request-id"),
            std::string(128, 'a'));
}

}  // namespace
}  // namespace ff::test
