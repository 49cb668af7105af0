// 07, section 3: stored tokens at real servers.

#include "process/server_process.h"
#include "process/tokens.h"

#include <csignal>
#include <fstream>
#include <thread>

namespace ff::test {
namespace {

class ProcessTokens : public ::testing::Test {
 protected:
  std::string store() const { return "sqlite:" + box.path("flowfabric.db").string(); }
  static std::string submit_body(const std::string& more = "") { return R"({"execution_kind":"job")" + more + "}"; }
  /// Every file of the folder: the database with its log, the outputs of the servers.
  std::string all_files() const {
    std::string bytes;
    for (const auto& entry : std::filesystem::directory_iterator(box.path("."))) {
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(file), {});
    }
    return bytes;
  }

  Sandbox box;
};

TEST_F(ProcessTokens, T4_a_stored_token_lets_a_server_serve_everybody) {
  Tokens tokens(store());
  const std::string reader = tokens.create({"read"});
  ServerProcess server(box, {"--listen", "0.0.0.0:0"});
  EXPECT_THAT(server.out(), HasSubstr("tokens are asked for"));
  EXPECT_EQ(server.get("/v1/executions").status, 401);
  EXPECT_EQ(server.get("/v1/executions", reader).status, 200);
}

TEST_F(ProcessTokens, T11_a_token_opens_what_its_scopes_say) {
  Tokens tokens(store());
  const std::string reader = tokens.create({"read"}), submitter = tokens.create({"submit"}),
                    worker = tokens.create({"worker"}), operator_ = tokens.create({"operator"}),
                    admin = tokens.create({"admin"});
  ServerProcess server(box);
  const Told created = server.post("/v1/executions", submit_body(), submitter);
  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.text_at("creator_identity"), "test") << "the token's name";
  const std::string id = created.text_at("execution_id");
  const Told refused = server.post("/v1/executions", submit_body(), reader);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.code(), "forbidden");
  EXPECT_EQ(refused.at("context").at("required_scope"), "submit");
  EXPECT_EQ(server.get(path_of(id), reader).status, 200);
  EXPECT_EQ(server.get(path_of(id), worker).status, 403);
  EXPECT_EQ(server.post("/v1/worker/claim", claim_body(), submitter).status, 403);
  EXPECT_EQ(server.post("/v1/worker/claim", claim_body(), worker).at("tasks").as_array().size(), 1U);
  EXPECT_EQ(server.post(path_of(id, "/cancel"), "{}", submitter).status, 403);
  EXPECT_EQ(server.post(path_of(id, "/cancel"), "{}", operator_).status, 200);
  EXPECT_EQ(server.get("/v1/admin/audit", operator_).status, 403);
  const Told audit = server.get("/v1/admin/audit", admin);
  ASSERT_EQ(audit.status, 200) << audit.text;
  EXPECT_THAT(audit.text, HasSubstr(engine::read_token_text(operator_)->token_id.to_string())) << "who cancelled it";
}

TEST_F(ProcessTokens, T12_namespaces_do_not_see_each_other) {
  Tokens tokens(store());
  const std::vector<std::string> scopes = {"operator", "worker"};
  const std::string a = tokens.create(scopes, "a"), b = tokens.create(scopes, "b"), all = tokens.create({"admin"});
  ServerProcess server(box);
  const Told created = server.post("/v1/executions", submit_body(), a);
  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("namespace"), "a");
  const std::string id = created.text_at("execution_id");
  EXPECT_EQ(server.post("/v1/executions", submit_body(R"(,"namespace":"a")"), b).status, 403);
  for (const char* rest : {"", "/payload", "/result", "/attempts", "/history", "/wait?wait_ms=0"}) {
    const Told hidden = server.get(path_of(id, rest), b);
    EXPECT_EQ(hidden.status, 404) << rest << hidden.text;
    EXPECT_EQ(hidden.code(), "execution_not_found") << rest;
  }
  EXPECT_EQ(server.post(path_of(id, "/cancel"), "{}", b).status, 404);
  EXPECT_EQ(server.call("DELETE", path_of(id), "", b).status, 204) << "what is not there is gone already";
  EXPECT_TRUE(server.get("/v1/executions", b).at("items").as_array().empty());
  EXPECT_TRUE(server.get("/v1/executions?namespace=a", b).at("items").as_array().empty());
  EXPECT_EQ(server.get("/v1/executions", a).at("items").as_array().size(), 1U);
  EXPECT_EQ(server.get("/v1/executions", all).at("items").as_array().size(), 1U);
  EXPECT_TRUE(server.post("/v1/worker/claim", claim_body("b1"), b).at("tasks").as_array().empty());
  const Told claimed = server.post("/v1/worker/claim", claim_body("a1"), a);
  ASSERT_EQ(claimed.at("tasks").as_array().size(), 1U) << claimed.text;
  // A handle opens nothing for a token of another namespace.
  const std::string by_handle = handle_body(std::string(claimed.at("tasks").at(0).at("handle").as_string()));
  EXPECT_EQ(server.post("/v1/worker/complete", by_handle, b).code(), "execution_not_found");
  EXPECT_EQ(server.post("/v1/worker/renew", by_handle, a).status, 200);
  EXPECT_TRUE(server.get("/v1/leases", b).at("items").as_array().empty());
  EXPECT_EQ(server.post("/v1/lanes/default/pause", "{}", a).status, 403) << "lanes belong to all";
}

TEST_F(ProcessTokens, T10_every_kind_of_bad_token_gets_the_same_answer) {
  Tokens tokens(store());
  const std::string good = tokens.create({"admin"}), revoked = tokens.create({"admin"}),
                    expired = tokens.create({"admin"}, std::nullopt, 1);
  tokens.revoke(revoked);
  ServerProcess server(box);
  const std::string expected = server.get("/v1/executions").text;
  std::string altered = good;
  altered.back() = altered.back() == 'A' ? 'B' : 'A';
  for (const std::string& bad : {revoked, expired, altered, std::string("nonsense"), good.substr(0, good.size() - 1)})
    for (const char* target : {"/v1/executions", "/v1/nothing"}) {
      const Told refused = server.get(target, bad);
      EXPECT_EQ(refused.status, 401);
      EXPECT_EQ(refused.text, expected);
      EXPECT_EQ(refused.header("www-authenticate"), "Bearer");
    }
  EXPECT_EQ(server.get("/v1/executions", good).status, 200);
}

TEST_F(ProcessTokens, T13_a_revocation_holds_at_every_server_after_five_seconds) {
  Tokens tokens(store());
  const std::string token = tokens.create({"read"});
  (void)tokens.create({"read"});  // so that tokens are asked for afterwards, whatever becomes of the first
  ServerProcess one(box), two(box);
  for (ServerProcess* server : {&one, &two}) ASSERT_EQ(server->get("/v1/executions", token).status, 200);
  // One that is made later is known soon.
  const std::string late = tokens.create({"read"});
  for (ServerProcess* server : {&one, &two})
    EXPECT_TRUE(eventually([&] { return server->get("/v1/executions", late).status == 200; }));
  tokens.revoke(token);
  std::this_thread::sleep_for(std::chrono::milliseconds(5'050));
  for (ServerProcess* server : {&one, &two}) {
    EXPECT_EQ(server->get("/v1/executions", token).status, 401);
    EXPECT_EQ(server->get("/v1/executions", late).status, 200);
  }
}

TEST_F(ProcessTokens, T13_no_file_and_no_answer_holds_a_token) {
  std::vector<std::string> texts;
  {
    Tokens tokens(store());
    for (const char* scope : {"admin", "worker", "read"}) texts.push_back(tokens.create({scope}));
    texts.emplace_back("bootstrap-s3cret-token");
    ServerProcess server(box, {"--api-token", texts.back(), "--log-level", "trace"});
    std::string answers;
    for (const std::string& text : texts)
      for (const char* target : {"/v1/executions", "/v1/nothing", "/v1/admin/audit", "/v1/info", "/metrics"})
        answers += server.get(target, text).text;
    answers += server.post("/v1/executions", submit_body(), texts[0]).text;
    answers += server.post("/v1/executions", "{", texts[0]).text;
    answers += server.post("/v1/worker/claim", claim_body(), texts[1]).text;
    answers += server.get("/v1/executions", texts[0] + "x").text;
    for (const std::string& text : texts) EXPECT_THAT(answers, Not(HasSubstr(text.substr(text.size() - 20))));
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait().code, 0);
  }
  const std::string files = all_files();
  EXPECT_THAT(files, HasSubstr("SQLite format 3"));
  for (const std::string& text : texts) EXPECT_EQ(files.find(text.substr(text.size() - 20)), files.npos);
}

}  // namespace
}  // namespace ff::test
