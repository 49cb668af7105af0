// Every route of a real server against whatever can be wrong with a request, driven by the table of routes: a problem
// with the right status and code, never a fault of ours, and nothing is written. A new route is covered by being one.

#include "process/server_process.h"
#include "process/tokens.h"
#include "server/route_match.h"
#include "server/target.h"

namespace ff::test {
namespace {

using server::Body;
using server::Route;
using server::Scope;

constexpr std::size_t kBodyMax = 1024 * 1024;

class ProcessBadInput : public ::testing::Test {
 protected:
  // One server for all: what a test leaves behind is what another would find.
  static void SetUpTestSuite() {
    world_ = std::make_unique<WorldOfOne>();
    world_->start();
  }
  static void TearDownTestSuite() { world_.reset(); }

  struct WorldOfOne {
    Sandbox box;
    std::unique_ptr<Tokens> tokens;
    std::unique_ptr<ServerProcess> server;
    std::string admin, reader, worker, foreign;
    std::string id, handle;

    void start() {
      tokens = std::make_unique<Tokens>("sqlite:" + box.path("flowfabric.db").string());
      admin = tokens->create({"admin"});
      reader = tokens->create({"read"});
      worker = tokens->create({"worker"});
      foreign = tokens->create({"operator", "worker"}, "elsewhere");
      server = std::make_unique<ServerProcess>(box);
      const std::string body = R"({"execution_kind":"job","payload":1})";
      id = server->post("/v1/executions", body, admin).text_at("execution_id");
      const Told claimed = server->post("/v1/worker/claim", claim_body("w1", R"(,"lease_ttl_ms":3600000)"), admin);
      handle = std::string(claimed.at("tasks").at(0).at("handle").as_string());
      // One more, so that there is something to claim, and an entry in the list of what operators did.
      EXPECT_EQ(server->post("/v1/executions", body, admin).status, 201);
      EXPECT_EQ(server->post("/v1/lanes/default/resume", "{}", admin).status, 200);
    }
  };

  void SetUp() override { before_ = everything(); }
  void TearDown() override {
    EXPECT_EQ(everything(), before_) << "something was written";
    EXPECT_EQ(server().get("/livez").status, 200);
    EXPECT_THAT(server().log(), Not(HasSubstr(R"("level":"error")")));
  }

  static const ServerProcess& server() { return *world_->server; }
  static const std::string& admin() { return world_->admin; }

  /// What no refused request may change. Counters of time and rate are left out.
  static std::string everything() {
    std::string all;
    for (const char* target : {"/v1/executions?limit=500", "/v1/leases?limit=500", "/v1/admin/audit?limit=500", "/v1/workers"})
      all += server().get(target, admin()).text + "\n";
    all += server().get(path_of(world_->id), admin()).text;
    const Told lanes = server().get("/v1/lanes", admin());
    for (const json::value& lane : lanes.at("items").as_array()) all += json::serialize(lane.at("lane"));
    return all;
  }

  static bool reads_json(const Route& route) { return route.body == Body::object || route.body == Body::tags; }
  static bool is_in_path(const Route& route, const std::string& field) {
    return route.pattern.find("{" + field + "}") != route.pattern.npos;
  }
  /// Its address, with every field filled in so that it would be found.
  static std::string target_of(const Route& route, const std::string& replaced = "", const std::string& by = "") {
    std::string target;
    for (const auto& part : server::pattern_parts(route.pattern)) {
      target += "/";
      if (!part.is_field) target += part.text;
      else if (part.text == replaced) target += by;
      else if (part.text == "execution_id") target += server::percent_encoded(world_->id);
      else target += "default";
    }
    return target;
  }
  static Told send_to(const Route& route, const std::string& body, const std::string& token) {
    return server().call(std::string(route.method), target_of(route), body, token);
  }
  /// A body that would be right but for what a test makes wrong in it.
  static json::object right_body(const Route& route) {
    json::object body;
    server::Schemas schemas;
    if (route.body != Body::object) return body;
    for (const auto& field : route.fields(schemas)) {
      if (!field.required || is_in_path(route, field.name)) continue;
      const json::value* type = field.schema.is_object() ? field.schema.as_object().if_contains("type") : nullptr;
      if (field.name == "handle") body["handle"] = world_->handle;
      else if (field.name == "execution_id") body[field.name] = world_->id;
      else if (type && *type == "integer") body[field.name] = 1;
      else if (type && *type == "array") body[field.name] = json::array{};
      else if (type && *type == "object") body[field.name] = json::object{};
      else body[field.name] = "x";
    }
    if (route.name == "delay") body["delay_ms"] = 1;  // one of two, so neither is required
    return body;
  }
  static std::string body_text(const Route& route, const json::object& body) {
    if (route.batch != server::Batch::only) return json::serialize(body);
    return R"({"items":[)" + json::serialize(body) + "]}";
  }
  /// The problem, of the whole or, of many, of the one item.
  static json::object problem_in(const Route& route, const Told& got) {
    if (got.status == 200 && route.batch == server::Batch::only) return got.at("items").at(0).at("problem").as_object();
    return got.body.is_object() ? got.body.as_object() : json::object{};
  }

  static void expect_problem(const Told& got, int status, const std::string& code) {
    EXPECT_EQ(got.status, status) << got.text;
    EXPECT_EQ(got.header("content-type"), "application/problem+json") << got.text;
    EXPECT_EQ(got.code(), code) << got.text;
    if (!got.body.is_object()) return;
    EXPECT_EQ(got.at("status"), status);
    EXPECT_FALSE(got.text_at("detail").empty());
    EXPECT_FALSE(got.header("x-request-id").empty());
  }
  static void expect_invalid(const Route& route, const Told& got, const std::string& named) {
    const json::object problem = problem_in(route, got);
    ASSERT_TRUE(problem.contains("code")) << got.status << got.text;
    EXPECT_EQ(problem.at("status"), 400) << got.text;
    EXPECT_THAT(json::serialize(problem), HasSubstr(named));
  }

  static std::unique_ptr<WorldOfOne> world_;
  std::string before_;
};

std::unique_ptr<ProcessBadInput::WorldOfOne> ProcessBadInput::world_;

TEST_F(ProcessBadInput, T10_without_a_token_or_with_a_wrong_one) {
  int guarded = 0;
  for (const Route& route : server::routes()) {
    SCOPED_TRACE(route.name);
    if (!route.scope) {
      EXPECT_NE(send_to(route, "", "").status, 401);
      continue;
    }
    ++guarded;
    const std::string body = reads_json(route) ? body_text(route, right_body(route)) : "";
    expect_problem(send_to(route, body, ""), 401, "unauthorized");
    expect_problem(send_to(route, body, "ff_wrong"), 401, "unauthorized");
  }
  EXPECT_GT(guarded, 40);
}

TEST_F(ProcessBadInput, T11_with_a_token_that_may_not) {
  for (const Route& route : server::routes()) {
    if (!route.scope) continue;
    SCOPED_TRACE(route.name);
    const std::string body = reads_json(route) ? body_text(route, right_body(route)) : "";
    const bool reads = *route.scope == Scope::read;
    const Told got = send_to(route, body, reads ? world_->worker : world_->reader);
    expect_problem(got, 403, "forbidden");
    EXPECT_EQ(got.at("context").at("required_scope"), json::string(server::name_of(*route.scope)));
  }
}

TEST_F(ProcessBadInput, T12_with_a_token_of_another_namespace) {
  for (const Route& route : server::routes()) {
    if (!is_in_path(route, "execution_id")) continue;
    SCOPED_TRACE(route.name);
    std::string body = reads_json(route) ? body_text(route, right_body(route)) : "";
    if (route.body == Body::tags) body = R"({"a":"b"})";
    const Told got = server().call(std::string(route.method),
                                   target_of(route) + (route.body == Body::bytes ? "?execution_kind=job" : ""), body,
                                   world_->foreign);
    // What is not there is gone already.
    const bool may_be_gone = route.method == "DELETE";
    EXPECT_TRUE(got.status == 404 || got.status == 409 || (may_be_gone && got.status == 204)) << got.status << got.text;
    EXPECT_THAT(got.text, Not(HasSubstr("\"payload\"")));
  }
}

TEST_F(ProcessBadInput, T17_bodies_that_are_no_json_object) {
  const std::string deep = R"({"x":)" + std::string(64, '[') + std::string(64, ']') + "}";
  for (const Route& route : server::routes()) {
    if (!reads_json(route)) continue;
    SCOPED_TRACE(route.name);
    for (const std::string& bad : {std::string("{"), std::string("{\"a\":}"), std::string("nonsense"), std::string("{} {}"),
                                   std::string("\xff"), std::string("{\"a\":1,\"a\":2}"), std::string("[]"), std::string("1"),
                                   std::string("null"), std::string("\"x\""), deep})
      expect_problem(send_to(route, bad, admin()), 400, "invalid_input");
  }
}

TEST_F(ProcessBadInput, T17_unknown_fields) {
  for (const Route& route : server::routes()) {
    SCOPED_TRACE(route.name);
    if (route.body == Body::object) {
      json::object body = right_body(route);
      body["no_such_field"] = 1;
      expect_invalid(route, send_to(route, body_text(route, body), admin()), "no_such_field");
    }
    const std::string text = reads_json(route) ? "{}" : "";
    const Told query = server().call(std::string(route.method), target_of(route) + "?no_such_field=1", text, admin());
    expect_problem(query, 400, "invalid_input");
    EXPECT_EQ(query.at("context").at("field"), "no_such_field");
  }
}

TEST_F(ProcessBadInput, T17_every_field_of_another_type_and_every_required_one_missing) {
  server::Schemas schemas;
  int fields = 0;
  for (const Route& route : server::routes()) {
    if (route.body != Body::object) continue;
    for (const auto& field : route.fields(schemas)) {
      if (is_in_path(route, field.name)) continue;
      SCOPED_TRACE(std::string(route.name) + " " + field.name);
      json::object body = right_body(route);
      body[field.name] = json::array{json::array{1.5}};
      expect_invalid(route, send_to(route, body_text(route, body), admin()), field.name);
      body[field.name] = 1.5;
      expect_invalid(route, send_to(route, body_text(route, body), admin()), field.name);
      if (field.required) {
        body.erase(field.name);
        expect_invalid(route, send_to(route, body_text(route, body), admin()), field.name);
      }
      ++fields;
    }
  }
  EXPECT_GT(fields, 60);
}

TEST_F(ProcessBadInput, T22_bad_ids) {
  for (const Route& route : server::routes()) {
    for (const auto& part : server::pattern_parts(route.pattern)) {
      if (!part.is_field) continue;
      SCOPED_TRACE(std::string(route.name) + " " + std::string(part.text));
      std::string body = reads_json(route) ? body_text(route, right_body(route)) : "";
      if (route.body == Body::tags) body = R"({"a":"b"})";
      const bool is_execution = part.text == "execution_id";
      const std::string uuid = "01890000-0000-7000-8000-000000000001";
      for (const std::string& bad : {std::string("x"), "{fp:-1}:" + uuid, std::string("{fp:1}:0189"), "{fp:01}:" + uuid,
                                     "%7Bfp:65536%7D:" + uuid, std::string("%00"), std::string("%zz"), std::string(300, 'a'),
                                     std::string("%ff")}) {
        if (!is_execution && (bad == "x" || bad.find("fp") != bad.npos)) continue;  // these are names like any other
        const std::string query = route.body == Body::bytes ? "?execution_kind=job" : "";
        const Told got = server().call(std::string(route.method),
                                       target_of(route, std::string(part.text), bad) + query, body, admin());
        if (is_execution)
          expect_problem(got, 400, "invalid_input");
        else
          EXPECT_TRUE(got.status == 400 || got.status == 404) << bad << got.status << got.text;
      }
    }
  }
}

TEST_F(ProcessBadInput, T34_bad_handles) {
  int routes = 0;
  for (const Route& route : server::routes()) {
    json::object body = right_body(route);
    if (!body.contains("handle")) continue;
    ++routes;
    SCOPED_TRACE(route.name);
    const std::string good = world_->handle;
    std::vector<std::string> bad = {"", "x", good.substr(0, good.size() / 2), good + "A", std::string(5'000, 'A')};
    for (std::size_t at = 0; at < good.size(); at += 17) {
      bad.push_back(good);
      bad.back()[at] = good[at] == 'A' ? 'B' : 'A';
    }
    for (const std::string& handle : bad) {
      body["handle"] = handle;
      expect_problem(send_to(route, json::serialize(body), admin()), 400, "invalid_handle");
      // Of many, it is the item's problem.
      if (route.batch == server::Batch::none) continue;
      const Told many = send_to(route, R"({"items":[)" + json::serialize(body) + "]}", admin());
      ASSERT_EQ(many.status, 200) << many.text;
      EXPECT_EQ(many.at("items").at(0).at("problem").at("code"), "invalid_handle");
    }
    body["handle"] = good;
    const Told foreign = send_to(route, json::serialize(body), world_->foreign);
    expect_problem(foreign, 404, "execution_not_found");
  }
  EXPECT_GE(routes, 7);
}

TEST_F(ProcessBadInput, T16_bodies_over_the_limit) {
  const std::string large(kBodyMax + 1, ' ');
  for (const Route& route : server::routes()) {
    SCOPED_TRACE(route.name);
    HttpClient http = server().client();
    const server::Headers headers = bearer(admin());
    // The declared length is enough; the body is never sent.
    std::string head = HttpClient::request_text(std::string(route.method), target_of(route), large, headers);
    head.resize(head.size() - large.size());
    ASSERT_TRUE(http.send(head));
    const Told got = told(http.read_answer());
    expect_problem(got, 413, "payload_too_large");
    EXPECT_EQ(got.at("context").at("limit_bytes"), kBodyMax);
  }
  // In chunks it is measured as it comes.
  HttpClient http = server().client();
  ASSERT_TRUE(http.send("POST /v1/executions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " +
                        admin() + "\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  for (int i = 0; i < 17 && http.send(chunk); ++i) {
  }
  expect_problem(told(http.read_answer()), 413, "payload_too_large");
}

TEST_F(ProcessBadInput, T22_methods_that_no_route_has) {
  for (const Route& route : server::routes()) {
    SCOPED_TRACE(route.name);
    const Told got = server().call("PROPFIND", target_of(route), "", admin());
    expect_problem(got, 405, "method_not_allowed");
    EXPECT_THAT(got.header("allow"), HasSubstr(std::string(route.method)));
    EXPECT_EQ(server().call(std::string(route.method), target_of(route) + "/", "", admin()).status, 404);
  }
}

}  // namespace
}  // namespace ff::test
