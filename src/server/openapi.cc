#include "server/openapi.h"

#include "server/route_match.h"
#include "version.h"

#include <set>

namespace ff::server {
namespace {

namespace json = core::json;

std::set<std::string_view> path_fields(const Route& route) {
  std::set<std::string_view> names;
  for (const auto& part : pattern_parts(route.pattern))
    if (part.is_field) names.insert(part.text);
  return names;
}

json::value parameter(const SchemaField& field, std::string_view place) {
  json::object out;
  // A tag filter is one parameter per key.
  const bool tags = place == "query" && field.name == "tags";
  out["name"] = tags ? "tag" : json::string(field.name);
  out["in"] = json::string(place);
  out["required"] = place == "path" || field.required;
  if (tags) {
    out["description"] = "One parameter per tag: tag.<key>=<value>.";
    out["style"] = "form";
    out["explode"] = true;
  }
  out["schema"] = field.schema;
  return out;
}

json::value content(std::string_view type, json::value schema) {
  json::object media;
  media["schema"] = std::move(schema);
  json::object out;
  out[type] = std::move(media);
  return out;
}

json::value problem_schema(Schemas& schemas) {
  return schemas.named("Problem", [](json::object& schema) {
    json::array codes;
#define FF_CODE(name, category, kind, http, retry) codes.push_back(#name);
    FF_ERROR_CODES(FF_CODE)
#undef FF_CODE
    json::object code{{"type", "string"}};
    code["enum"] = std::move(codes);
    schema = object_schema({{"type", text_schema("uri"), true},
                            {"title", text_schema(), true},
                            {"status", integer_schema(400, 599), true},
                            {"detail", text_schema(), true},
                            {"code", std::move(code), true},
                            {"retryable", {{"type", "boolean"}}, true},
                            {"retry_after_ms", integer_schema(0, INT64_MAX), false},
                            {"context", {{"type", "object"}}, true}})
                 .as_object();
  });
}

json::value request_schema(const Route& route, Schemas& schemas) {
  const auto in_path = path_fields(route);
  std::vector<SchemaField> fields;
  for (auto& field : route.fields(schemas))
    if (!in_path.contains(field.name)) fields.push_back(std::move(field));
  if (route.body == Body::tags) return fields.at(0).schema;
  if (route.method == "POST" && !route.takes_key) fields.push_back({"idempotency_key", text_schema(), false});
  json::value one = object_schema(fields);
  if (route.blob) {
    json::object any{{"description", "Any JSON value, kept byte for byte; {\"base64\": ...} stands for the decoded bytes."}};
    one.as_object()["properties"].as_object()[route.blob] = std::move(any);
  }
  one.as_object()["additionalProperties"] = false;
  if (route.batch == Batch::none) return one;
  json::value items = list_schema(one);
  items.as_object()["maxItems"] = core::kBatchMax;
  json::value many = object_schema({{"items", std::move(items), true}});
  many.as_object()["additionalProperties"] = false;
  if (route.batch == Batch::only) return many;
  return {{"oneOf", {std::move(one), std::move(many)}}};
}

/// What it gives: to some the bare outcome.
json::value reply_schema(const Route& route, Schemas& schemas) {
  if (!route.minimal) return route.reply(schemas);
  return {{"anyOf", {route.reply(schemas), route.minimal(schemas)}}};
}

json::value batch_schema(const Route& route, Schemas& schemas) {
  std::vector<SchemaField> item{{"status", integer_schema(200, 599), true}, {"problem", problem_schema(schemas), false}};
  if (route.reply) item.push_back({"result", reply_schema(route, schemas), false});
  return object_schema({{"items", list_schema(object_schema(item)), true}});
}

json::value described(std::string_view text, std::optional<json::value> body) {
  json::object out;
  out["description"] = json::string(text);
  if (body) out["content"] = std::move(*body);
  return out;
}

json::value responses(const Route& route, Schemas& schemas) {
  json::object out;
  const bool is_raw = !route.reply && route.status == 200;
  if (route.batch == Batch::only) {
    out["200"] = described("One result or problem per item, in order.",
                           content("application/json", batch_schema(route, schemas)));
  } else if (is_raw) {
    out["200"] = described("The bytes, with their content type.", content("*/*", json::object{}));
    out["204"] = described("There are none.", std::nullopt);
  } else if (!route.reply) {
    out[std::to_string(route.status)] = described("Done.", std::nullopt);
  } else {
    json::value body = content("application/json", reply_schema(route, schemas));
    if (route.streams) body.as_object()["text/event-stream"] = {{"schema", text_schema()}};
    out[std::to_string(route.status)] = described(route.status == 201 ? "Created." : "Done.", body);
    if (route.status == 201) out["200"] = described("It was there already.", body);
    if (!route.scope && route.pattern != "/livez" && route.pattern != "/openapi.json")
      out["503"] = described("Not ready.", body);
    if (route.batch == Batch::also) {
      json::value either{{"anyOf", {reply_schema(route, schemas), batch_schema(route, schemas)}}};
      out["200"] = described("Done; of many, one result or problem per item, in order.",
                             content("application/json", std::move(either)));
    }
  }
  out["default"] = described("A problem.", content("application/problem+json", problem_schema(schemas)));
  return out;
}

json::value operation(const Route& route, Schemas& schemas) {
  json::object out;
  out["operationId"] = json::string(route.name);
  out["summary"] = json::string(route.summary);
  if (route.scope) {
    out["security"] = {json::object{{"bearer", json::array{json::string(name_of(*route.scope))}}}};
  } else {
    out["security"] = json::array{};
  }
  json::array parameters;
  const auto in_path = path_fields(route);
  const bool query = route.body == Body::none || route.body == Body::bytes;
  for (const auto& field : route.fields(schemas)) {
    if (in_path.contains(field.name)) parameters.push_back(parameter(field, "path"));
    else if (query && !(route.body == Body::bytes && field.name == "content_type"))
      parameters.push_back(parameter(field, "query"));
  }
  if (route.minimal) {
    json::value prefer = parameter({"Prefer", text_schema(), false}, "header");
    prefer.as_object()["description"] = "return=minimal: the bare outcome instead of the whole execution.";
    parameters.push_back(std::move(prefer));
  }
  if (route.method == "POST") parameters.push_back(parameter({"Idempotency-Key", text_schema(), false}, "header"));
  if (!parameters.empty()) out["parameters"] = std::move(parameters);
  if (route.body == Body::bytes) {
    json::object body{{"required", true}};
    body["content"] = content("*/*", json::object{});
    out["requestBody"] = std::move(body);
  } else if (route.body != Body::none) {
    json::object body;
    body["content"] = content("application/json", request_schema(route, schemas));
    out["requestBody"] = std::move(body);
  }
  out["responses"] = responses(route, schemas);
  return out;
}

}  // namespace

json::object openapi_document() {
  Schemas schemas;
  json::object paths;
  for (const Route& route : routes()) {
    std::string method(route.method);
    std::transform(method.begin(), method.end(), method.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    json::value& path = paths[route.pattern];
    if (path.is_null()) path.emplace_object();
    path.get_object()[method] = operation(route, schemas);
  }
  json::object info{{"title", "FlowFabric"}, {"version", kVersion}};
  info["description"] = "A durable execution engine: submit work, hand it to workers under leases, know what happened.";
  info["license"] = {{"name", "Apache License 2.0"}, {"identifier", "Apache-2.0"}};
  json::object components;
  components["schemas"] = schemas.components();
  components["securitySchemes"] = {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}};
  json::object document{{"openapi", "3.1.0"}};
  document["info"] = std::move(info);
  document["servers"] = {json::object{{"url", "/"}, {"description", "The server that this document comes from."}}};
  document["paths"] = std::move(paths);
  document["components"] = std::move(components);
  return document;
}

const std::string& openapi_text() {
  static const std::string text = core::json::serialize(openapi_document());
  return text;
}

}  // namespace ff::server
