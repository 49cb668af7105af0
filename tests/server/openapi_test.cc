// The OpenAPI document describes what the route table serves.

#include "server/server_world.h"

namespace ff::test {
namespace {

/// Calls `visit` for every object in the document.
void walk(const json::value& value, const std::function<void(const json::object&)>& visit) {
  if (value.is_object()) {
    visit(value.as_object());
    for (const auto& [name, item] : value.as_object()) walk(item, visit);
  } else if (value.is_array()) {
    for (const auto& item : value.as_array()) walk(item, visit);
  }
}

TEST(ServerOpenApi, every_route_is_in_it_with_its_scope) {
  const json::object& document = api_document().document();
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  std::size_t operations = 0;
  for (const auto& [path, methods] : document.at("paths").as_object()) operations += methods.as_object().size();
  EXPECT_EQ(operations, server::routes().size());
  for (const auto& route : server::routes()) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    const json::value& operation = document.at("paths").at(route.pattern).at(method);
    EXPECT_EQ(operation.at("operationId"), std::string(route.name).c_str());
    const std::string scope = route.scope ? fmt::format(R"([{{"bearer":["{}"]}}])", server::name_of(*route.scope)) : "[]";
    EXPECT_EQ(json::serialize(operation.at("security")), scope) << route.name;
    EXPECT_TRUE(operation.at("responses").as_object().contains("default"));
    EXPECT_EQ(operation.as_object().contains("requestBody"), route.body != server::Body::none) << route.name;
    // Every field of the path is a parameter.
    for (const auto& part : server::pattern_parts(route.pattern)) {
      if (!part.is_field) continue;
      bool found = false;
      for (const auto& parameter : operation.at("parameters").as_array())
        found = found || (parameter.at("name") == std::string(part.text).c_str() && parameter.at("in") == "path");
      EXPECT_TRUE(found) << route.name << " " << part.text;
    }
  }
}

TEST(ServerOpenApi, every_reference_leads_somewhere) {
  int references = 0;
  walk(json::value(api_document().document()), [&](const json::object& object) {
    const json::value* reference = object.if_contains("$ref");
    if (!reference) return;
    ++references;
    const json::value* target = api_document().resolve(reference->as_string());
    ASSERT_NE(target, nullptr) << reference->as_string();
    EXPECT_FALSE(target->as_object().empty()) << reference->as_string();
  });
  EXPECT_GT(references, 100);
}

TEST(ServerOpenApi, names_of_schemas_are_names) {
  for (const auto& [name, schema] : api_document().document().at("components").at("schemas").as_object())
    for (char c : std::string_view(name)) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c))) << name;
}

TEST(ServerOpenApi, required_fields_enums_defaults_and_bounds) {
  const json::object& paths = api_document().document().at("paths").as_object();
  const json::value& claim = paths.at("/v1/worker/claim").at("post").at("requestBody").at("content").at("application/json").at("schema");
  EXPECT_EQ(json::serialize(claim.at("required")), R"(["worker_id","worker_instance_id"])");
  EXPECT_EQ(claim.at("properties").at("max").at("maximum"), 1000);
  EXPECT_EQ(claim.at("properties").at("max").at("minimum"), 1);
  EXPECT_EQ(claim.at("properties").at("max").at("default"), 1);
  EXPECT_EQ(claim.at("properties").at("wait_ms").at("maximum"), 60'000);
  EXPECT_EQ(claim.at("additionalProperties"), false);
  const json::value* state = api_document().resolve("#/components/schemas/PublicState");
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(state->at("enum").as_array().size(), 12U);
  const json::value& create = paths.at("/v1/executions").at("post").at("requestBody").at("content").at("application/json").at("schema");
  EXPECT_EQ(create.at("oneOf").as_array().size(), 2U);
  EXPECT_TRUE(create.at("oneOf").at(0).at("properties").as_object().contains("payload"));
  EXPECT_EQ(create.at("oneOf").at(1).at("properties").at("items").at("maxItems"), 1000);
}

TEST(ServerOpenApi, the_checker_finds_what_does_not_match) {
  const json::value* problem = api_document().resolve("#/components/schemas/Problem");
  ASSERT_NE(problem, nullptr);
  auto faults = [&](const char* text) { return api_document().faults(json::parse(text), *problem); };
  const std::string fine =
      R"("type":"t","title":"x","status":400,"detail":"d","code":"invalid_input","retryable":false,"context":{})";
  EXPECT_THAT(faults(("{" + fine + "}").c_str()), IsEmpty());
  EXPECT_THAT(faults(("{" + fine + ",\"more\":1}").c_str()), ElementsAre(HasSubstr("undocumented")));
  EXPECT_THAT(faults("{}"), Not(IsEmpty()));
  EXPECT_THAT(faults("[]"), ElementsAre(HasSubstr("is not \"object\"")));
  std::string wrong = "{" + fine + "}";
  wrong.replace(wrong.find("400"), 3, "200");
  EXPECT_THAT(faults(wrong.c_str()), ElementsAre(HasSubstr("minimum")));
  wrong.replace(wrong.find("invalid_input"), 13, "nonsense");
  EXPECT_EQ(faults(wrong.c_str()).size(), 2U);
}

class ServerDocument : public ServerTest {};

TEST_F(ServerDocument, it_is_served) {
  const Got got = get("/openapi.json");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, json::value(api_document().document()));
}

}  // namespace
}  // namespace ff::test
