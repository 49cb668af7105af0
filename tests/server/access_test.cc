// 07, sections 3, 5 and 7: who may call what, what a failing engine looks like, probes.

#include "server/failing_backend.h"
#include "server/problem.h"
#include "server/setting_table.h"
#include "server/server_world.h"

namespace ff::test {
namespace {

class ServerAccess : public ServerTest {
 protected:
  /// A server on which the token is the name of its only scope; `none` has none.
  void with_tokens() {
    server::ServerOptions options;
    options.authenticate = known_at_once([](const Request& request) -> std::optional<Principal> {
      const std::string* given = server::find_header(request.headers, "Authorization");
      Principal principal;
      principal.scopes = Scopes();
      if (!given) return std::nullopt;
      if (*given == "none") return principal;
      for (Scope scope : {Scope::read, Scope::submit, Scope::signal, Scope::worker, Scope::operator_, Scope::admin})
        if (*given == server::name_of(scope)) {
          principal.scopes = Scopes().with(scope);
          principal.name = *given;
          return principal;
        }
      return std::nullopt;
    });
    start_server(std::move(options));
  }
  static std::string target_of(const server::Route& route) {
    std::string target(route.pattern);
    for (const char* field : {"{execution_id}", "{lane_id}", "{worker_instance_id}"})
      if (const std::size_t at = target.find(field); at != target.npos)
        target.replace(at, std::string(field).size(), "%7Bfp:0%7D:01890000-0000-7000-8000-00000000ffff");
    return target;
  }
  static std::string_view value_of(std::string_view field) {
    if (field == "priority") return "1";
    if (field == "lanes") return R"(["x"])";
    return R"("x")";
  }
  /// Sends something to every route that asks the engine, and looks at each answer; how many there were.
  int check_error(FailingBackend& failing, const Error& error) {
    failing.error = error;
    const bool hidden = server::is_for_the_log(error);
    int answers = 0;
    for (const auto& route : server::routes()) {
      if (!route.scope || route.batch == server::Batch::only || route.name == "create_execution_raw" || route.name == "drain") continue;
      std::string body;
      if (route.body == server::Body::tags) body = R"({"a":"b"})";
      if (route.body == server::Body::object) {
        server::Schemas schemas;
        for (const auto& field : route.fields(schemas))
          if (field.required && route.pattern.find("{" + field.name + "}") == route.pattern.npos)
            body += fmt::format("{}\"{}\":{}", body.empty() ? "{" : ",", field.name, value_of(field.name));
        body += body.empty() ? "{}" : "}";
      }
      const std::size_t logged = log.size();
      const Got got = call(std::string(route.method), target_of(route), body);
      EXPECT_EQ(got.status, traits(error.code).http_status) << route.name << got.text;
      EXPECT_EQ(got.text_at("code"), std::string(traits(error.code).name)) << route.name;
      EXPECT_EQ(got.at("retryable"), traits(error.code).retryable);
      EXPECT_EQ(got.text.find("s3cret"), got.text.npos) << got.text;
      EXPECT_EQ(got.text.find("SELECT") == got.text.npos, hidden) << got.text;
      EXPECT_EQ(log.size() - logged, hidden ? 1U : 0U) << route.name;
      EXPECT_EQ(got.text_at("detail").find(got.header("x-request-id")) != std::string::npos, hidden) << got.text;
      ++answers;
    }
    return answers;
  }
  Got as(const std::string& token, const std::string& method, const std::string& target, const std::string& body = "") {
    return call(method, target, body, {{"Authorization", token}});
  }
};

TEST_F(ServerAccess, T10_who_is_unknown_learns_nothing) {
  with_tokens();
  const Got missing = get("/v1/executions");
  EXPECT_EQ(missing.status, 401);
  EXPECT_EQ(missing.header("www-authenticate"), "Bearer");
  const std::string body = missing.text;
  EXPECT_EQ(as("wrong", "GET", "/v1/executions").text, body);
  EXPECT_EQ(get("/v1/nothing").text, body);
  EXPECT_EQ(call("PATCH", "/v1/executions").text, body);
  EXPECT_EQ(get("/%zz").text, body);
  EXPECT_EQ(post("/v1/executions", std::string(2 * 1024 * 1024, 'x')).text, body) << "before the body is looked at";
  EXPECT_EQ(body.find("wrong"), body.npos);
  for (const char* open : {"/livez", "/readyz", "/healthz", "/openapi.json"}) EXPECT_NE(get(open).status, 401) << open;
}

TEST_F(ServerAccess, a_token_that_has_to_be_looked_up_is_waited_for) {
  std::vector<server::Authenticated> asked;
  server::ServerOptions options;
  options.authenticate = [&](const Request&, server::Authenticated done) { asked.push_back(std::move(done)); };
  start_server(std::move(options));
  std::vector<int> statuses;
  auto begin = [&] {
    api->begin(json_request("GET", "/v1/executions", ""), [&](std::expected<server::Ticket, Response> begun) {
      statuses.push_back(begun ? 0 : begun.error().status);
    });
  };
  for (int i = 0; i < 3; ++i) begin();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_THAT(statuses, IsEmpty());
  asked[1](std::nullopt);
  asked[0](Principal{});
  asked[2](std::unexpected(Error{ErrorCode::store_unavailable, "SELECT s3cret", {}}));
  EXPECT_THAT(statuses, ElementsAre(401, 0, 503));
  EXPECT_THAT(log, ElementsAre(HasSubstr("target=audit"), HasSubstr("s3cret"))) << "what could not be found out is for the log";
  EXPECT_EQ(get("/livez").status, 200) << "nobody is asked for what is open";
  EXPECT_EQ(asked.size(), 3U);
}

TEST_F(ServerAccess, T16_the_rate_of_a_token) {
  server::ServerOptions options;
  options.rate_limit_per_token = 1;
  options.authenticate = known_at_once([](const Request& request) -> std::optional<Principal> {
    const std::string* token = server::find_header(request.headers, "Authorization");
    if (!token) return std::nullopt;
    Principal principal;
    principal.actor = *token;
    if (*token == "reader") principal.scopes = Scopes().with(Scope::read);
    return principal;
  });
  start_server(std::move(options));
  EXPECT_EQ(as("a", "GET", "/v1/executions").status, 200);
  EXPECT_EQ(as("a", "GET", "/v1/nothing").status, 404) << "comes before the limit and does not count";
  EXPECT_EQ(as("a", "GET", "/v1/executions").status, 200);
  const Got beyond = as("a", "POST", "/v1/executions", std::string(2 * 1024 * 1024, 'x'));
  EXPECT_EQ(beyond.status, 429) << "before the body is looked at";
  EXPECT_EQ(beyond.text_at("code"), "rate_limit_exceeded");
  EXPECT_EQ(beyond.header("retry-after"), "1");
  EXPECT_EQ(beyond.at("retryable"), true);
  EXPECT_EQ(as("b", "GET", "/v1/executions").status, 200) << "another token";
  EXPECT_EQ(as("reader", "POST", "/v1/executions").status, 403);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(as("a", "GET", "/livez").status, 200) << "no token is needed there";
  advance(1'000);
  EXPECT_EQ(as("a", "GET", "/v1/executions").status, 200);
}

TEST_F(ServerAccess, pages_of_other_origins_do_not_drive_a_server_without_tokens) {
  Request request = json_request("POST", "/v1/executions", R"({"execution_kind":"a"})");
  request.door.reach = server::Reach::loopback;
  request.headers.emplace_back("Host", "localhost:9090");
  EXPECT_EQ(send(request).status, 201);
  request.headers.emplace_back("Origin", "https://evil.example");
  EXPECT_EQ(send(request).status, 403);
  request.target = "/livez";
  request.method = "GET";
  EXPECT_EQ(send(request).status, 403) << "everywhere";
  server::ServerOptions options;
  options.authenticate = known_at_once([](const Request&) { return std::optional(Principal{}); });
  start_server(std::move(options));
  EXPECT_EQ(send(request).status, 200) << "with tokens a page has none to send";
}

TEST_F(ServerAccess, T11_every_route_with_every_single_scope) {
  with_tokens();
  const Scope all[] = {Scope::read, Scope::submit, Scope::signal, Scope::worker, Scope::operator_, Scope::admin};
  auto included = [](Scope has, Scope wanted) {
    if (has == wanted || has == Scope::admin) return true;
    return has == Scope::operator_ && (wanted == Scope::read || wanted == Scope::submit || wanted == Scope::signal);
  };
  for (const auto& route : server::routes()) {
    for (Scope scope : all) {
      const Got got = as(std::string(server::name_of(scope)), std::string(route.method), target_of(route));
      const bool allowed = !route.scope || included(scope, *route.scope);
      EXPECT_EQ(got.status == 403, !allowed) << route.name << " " << server::name_of(scope) << " " << got.text;
      if (allowed) continue;
      EXPECT_EQ(got.at("context").at("required_scope"), std::string(server::name_of(*route.scope)).c_str());
    }
    const int without = as("none", std::string(route.method), target_of(route)).status;
    EXPECT_EQ(without == 403, route.scope.has_value()) << route.name;
  }
}

TEST_F(ServerAccess, scopes_of_the_table_are_those_of_the_page) {
  std::map<std::string_view, std::string> by_scope;
  for (const auto& route : server::routes())
    by_scope[route.scope ? server::name_of(*route.scope) : "open"] += fmt::format(" {}", route.name);
  EXPECT_EQ(by_scope["open"], " livez readyz healthz openapi metrics docs");
  EXPECT_EQ(by_scope["admin"], " list_audit drain");
  EXPECT_EQ(by_scope["submit"], " create_execution create_execution_raw set_tags");
  EXPECT_EQ(by_scope["worker"], " claim renew progress complete fail delay wait_children cancel_task register_worker heartbeat_worker"
            " deregister_worker");
  EXPECT_EQ(by_scope["read"],
            " list_executions get_execution wait_for_execution get_payload get_result list_attempts read_history list_lanes"
            " get_lane list_leases list_workers info");
}

TEST_F(ServerAccess, T12_a_token_with_a_namespace_sees_and_changes_its_own) {
  const std::string foreign = created(R"("namespace":"theirs")");
  server::ServerOptions options;
  options.authenticate = known_at_once([](const Request&) {
    Principal principal;
    principal.namespace_ = "ours";
    principal.actor = "token-7";
    return std::optional(principal);
  });
  start_server(std::move(options));
  const Got own = post("/v1/executions", R"({"execution_kind":"job"})");
  EXPECT_EQ(own.text_at("namespace"), "ours");
  const Got elsewhere = post("/v1/executions", R"({"execution_kind":"job","namespace":"theirs"})");
  EXPECT_EQ(elsewhere.status, 403);
  EXPECT_EQ(elsewhere.text_at("code"), "forbidden");
  for (const char* rest : {"", "/wait", "/payload", "/result", "/attempts", "/history"})
    EXPECT_EQ(get(path(foreign, rest)).text_at("code"), "execution_not_found") << rest;
  for (const char* rest : {"/cancel", "/replay", "/revoke", "/complete"})
    EXPECT_EQ(post(path(foreign, rest), "").text_at("code"), "execution_not_found") << rest;
  EXPECT_EQ(get("/v1/executions").at("items").as_array().size(), 1U);
  EXPECT_EQ(get("/v1/executions?namespace=theirs").at("items").as_array().size(), 0U);
  EXPECT_EQ(post("/v1/lanes/default/pause", "").status, 403);
  EXPECT_EQ(get("/v1/lanes/default").status, 200);
  const Got claim = post("/v1/worker/claim", R"({"worker_id":"w","worker_instance_id":"w1","lanes":["default"],"max":9})");
  ASSERT_EQ(claim.at("tasks").as_array().size(), 1U);
  EXPECT_EQ(claim.at("tasks").at(0).at("execution").at("namespace"), "ours");
  EXPECT_EQ(get("/v1/leases").at("items").as_array().size(), 1U);
  EXPECT_EQ(get("/v1/leases?namespace=theirs").at("items").as_array().size(), 0U);
  post(path(own.text_at("execution_id"), "/cancel"), "");
  const Got history = get(path(own.text_at("execution_id"), "/history"));
  EXPECT_THAT(history.text, HasSubstr(R"("actor":"token-7")"));
  EXPECT_EQ(get(ExecutionId::parse(foreign).value()).state.public_state, PublicState::waiting);
}

TEST_F(ServerAccess, T14_pages_of_other_origins) {
  const Headers ask = {{"Origin", "https://a.example"}, {"Access-Control-Request-Method", "POST"}};
  const Headers from_a = {{"Origin", "https://a.example"}};
  EXPECT_EQ(call("OPTIONS", "/v1/executions", "", ask).status, 405);
  EXPECT_EQ(call("GET", "/livez", "", from_a).header("access-control-allow-origin"), "");

  server::ServerOptions options;
  options.cors_origins = {"https://a.example", "https://b.example"};
  options.authenticate = known_at_once([](const Request&) { return std::optional<Principal>(); });
  start_server(std::move(options));
  const Got may = call("OPTIONS", "/v1/executions", "", ask);
  EXPECT_EQ(may.status, 204) << "without a token";
  EXPECT_EQ(may.header("access-control-allow-origin"), "https://a.example");
  EXPECT_EQ(may.header("access-control-max-age"), "600");
  EXPECT_THAT(may.header("access-control-allow-methods"), HasSubstr("PATCH"));
  EXPECT_THAT(may.header("access-control-allow-headers"), HasSubstr("idempotency-key"));
  EXPECT_EQ(may.header("vary"), "Origin");
  EXPECT_EQ(call("GET", "/livez", "", from_a).header("access-control-allow-origin"), "https://a.example");
  const Got refused = call("GET", "/v1/executions", "", from_a);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.header("access-control-allow-origin"), "https://a.example") << "so that the page can read why";
  EXPECT_EQ(call("OPTIONS", "/livez", "", {{"Origin", "https://c.example"}, {"Access-Control-Request-Method", "GET"}}).status, 401);

  options = {};
  options.cors_origins = {"*"};
  start_server(std::move(options));
  const Got any = call("GET", "/livez", "", from_a);
  EXPECT_EQ(any.header("access-control-allow-origin"), "*");
  EXPECT_EQ(any.header("access-control-allow-credentials"), "");
}

TEST_F(ServerAccess, the_creator_is_the_tokens_name_unless_told) {
  with_tokens();
  EXPECT_EQ(as("operator", "POST", "/v1/executions", R"({"execution_kind":"a"})").text_at("creator_identity"), "operator");
  EXPECT_EQ(as("submit", "POST", "/v1/executions", R"({"execution_kind":"a","creator_identity":"me"})")
                .text_at("creator_identity"),
            "me");
}

TEST_F(ServerAccess, T21_every_error_of_an_engine_through_every_route) {
  auto failing = std::make_shared<FailingBackend>();
  server::ServerOptions options;
  options.acting_for = [failing](const core::Caller&) { return failing; };
  start_server(std::move(options));
  int answers = 0;
#define FF_CODE(name, category, kind, http, retry) \
  answers += check_error(*failing, {ErrorCode::name, "SELECT password FROM x", {{"token", std::string("s3cret")}}});
  FF_ERROR_CODES(FF_CODE)
#undef FF_CODE
  EXPECT_GT(answers, 1000);
}

TEST_F(ServerAccess, T39_probes) {
  EXPECT_EQ(get("/livez").text, R"({"live":true})");
  const Got boot = get("/readyz");
  EXPECT_EQ(boot.status, 503);
  EXPECT_EQ(boot.at("ready"), false);
  EXPECT_EQ(boot.at("reasons").as_array().size(), 2U);
  api->health().booted();
  api->look();
  EXPECT_TRUE(eventually([&] { return get("/readyz").status == 200; }));
  EXPECT_EQ(get("/healthz").text, R"({"ready":true,"reasons":[]})");
}

TEST_F(ServerAccess, every_sweep_has_a_setting_for_its_interval) {
  for (const auto& sweep : must(fabric.info()).sweeps)
    EXPECT_NE(server::find_setting(sweep.sweep + "_interval_ms"), nullptr) << sweep.sweep;
  std::size_t settings = 0;
  for (const auto& setting : server::setting_table()) settings += setting.name.ends_with("_interval_ms") ? 1 : 0;
  EXPECT_EQ(settings, must(fabric.info()).sweeps.size() + 1) << "one more: poll_interval_ms";
}

TEST_F(ServerAccess, T43_each_door_serves_its_own) {
  auto at = [&](server::Door door, const std::string& target) {
    Request request = json_request("GET", target, "");
    request.door = door;
    return send(request).status;
  };
  const server::Door api_only{.api = true, .admin = false}, admin_only{.api = false, .admin = true};
  EXPECT_EQ(at(api_only, "/v1/executions"), 200);
  EXPECT_EQ(at(admin_only, "/v1/executions"), 404);
  EXPECT_EQ(at(admin_only, "/livez"), 200);
  EXPECT_EQ(at(api_only, "/livez"), 200);
  EXPECT_EQ(at(api_only, "/v1/admin/drain"), 404);
  EXPECT_EQ(at(admin_only, "/v1/admin/drain"), 405);
}

TEST_F(ServerAccess, T41_a_drain_that_is_asked_for) {
  EXPECT_EQ(post("/v1/admin/drain", "").text_at("code"), "route_not_found") << "nobody is there who could do it";
  std::vector<std::pair<std::optional<std::uint32_t>, bool>> asked;
  server::ServerOptions options;
  options.drain = [&](std::optional<std::uint32_t> grace_ms, bool ends) { asked.emplace_back(grace_ms, ends); };
  start_server(std::move(options));
  EXPECT_EQ(post("/v1/admin/drain", "").status, 202);
  EXPECT_EQ(post("/v1/admin/drain", R"({"grace_ms":500,"exit":false})").text, R"({"draining":true})");
  EXPECT_EQ(post("/v1/admin/drain", R"({"grace_ms":-1})").problem(), "invalid_input grace_ms out_of_range");
  EXPECT_EQ(post("/v1/admin/drain", R"({"grace_ms":3600001})").problem(), "invalid_input grace_ms out_of_range");
  EXPECT_THAT(asked, ElementsAre(std::pair(std::optional<std::uint32_t>(), true), std::pair(std::optional(500U), false)));
}

TEST_F(ServerAccess, the_page_of_all_calls_names_every_one) {
  const Got page = get("/docs");
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  for (const auto& route : server::routes()) EXPECT_THAT(page.text, HasSubstr(std::string(route.pattern)));
  EXPECT_EQ(page.text.find("<script"), page.text.npos);
}

TEST_F(ServerAccess, info_tells_what_runs) {
  const Got got = get("/v1/info");
  EXPECT_EQ(got.text_at("store"), "memory");
  EXPECT_EQ(got.at("limits").at("body_max_bytes"), 1024 * 1024);
  EXPECT_EQ(got.at("draining"), false);
  EXPECT_EQ(got.at("server_time_ms"), now());
}

}  // namespace
}  // namespace ff::test
