#include "server/schema_checker.h"

#include <algorithm>
#include <regex>

namespace ff::test {
namespace {

bool has_type(const json::value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_int64() || value.is_uint64();
  if (type == "number") return value.is_number();
  return false;
}

bool has_some_type(const json::value& value, const json::value& type) {
  if (type.is_string()) return has_type(value, type.as_string());
  return std::any_of(type.as_array().begin(), type.as_array().end(),
                     [&](const json::value& one) { return has_type(value, one.as_string()); });
}

bool below(const json::value& a, const json::value& b) {
  if (a.is_uint64() || b.is_uint64()) {
    if (a.is_int64() && a.get_int64() < 0) return true;
    if (b.is_int64() && b.get_int64() < 0) return false;
    auto number = [](const json::value& v) {
      return v.is_uint64() ? v.get_uint64() : static_cast<std::uint64_t>(v.as_int64());
    };
    return number(a) < number(b);
  }
  return a.as_int64() < b.as_int64();
}

constexpr std::string_view kKnownWords[] = {
    "type",     "properties", "required",  "items",     "enum",     "allOf",    "oneOf", "anyOf", "$ref",
    "format",   "pattern",    "minimum",   "maximum",   "minLength", "maxLength", "minItems",  "maxItems",
    "default",  "description", "additionalProperties"};

}  // namespace

const json::value* SchemaChecker::resolve(std::string_view reference) const {
  constexpr std::string_view kPrefix = "#/components/schemas/";
  if (!reference.starts_with(kPrefix)) return nullptr;
  return document_.at("components").at("schemas").as_object().if_contains(reference.substr(kPrefix.size()));
}

const json::value* SchemaChecker::answer_schema(std::string_view pattern, std::string_view method, int status) const {
  const json::value* path = document_.at("paths").as_object().if_contains(pattern);
  if (!path) return nullptr;
  std::string word(method == "HEAD" ? "GET" : method);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  const json::value* operation = path->as_object().if_contains(word);
  if (!operation) return nullptr;
  const json::object& responses = operation->at("responses").as_object();
  const json::value* response = responses.if_contains(std::to_string(status));
  if (!response) response = responses.if_contains("default");
  const json::value* content = response->as_object().if_contains("content");
  if (!content) return nullptr;
  for (const char* type : {"application/json", "application/problem+json"})
    if (const json::value* media = content->as_object().if_contains(type)) return &media->at("schema");
  return nullptr;
}

std::vector<std::string> SchemaChecker::faults(const json::value& value, const json::value& schema) const {
  std::vector<std::string> out;
  check(value, schema, "$", out);
  return out;
}

void SchemaChecker::check(const json::value& value, const json::value& schema, const std::string& path,
                          std::vector<std::string>& out) const {
  const json::object& words = schema.as_object();
  for (const auto& [word, rule] : words)
    if (std::find(std::begin(kKnownWords), std::end(kKnownWords), word) == std::end(kKnownWords))
      out.push_back(path + ": the checker does not know " + std::string(word));
  if (const json::value* reference = words.if_contains("$ref")) {
    const json::value* target = resolve(reference->as_string());
    return target ? check(value, *target, path, out) : out.push_back(path + ": nothing at the reference");
  }
  if (const json::value* either = words.if_contains("oneOf")) {
    int matching = 0;
    std::vector<std::string> last;
    for (const auto& one : either->as_array()) {
      std::vector<std::string> tried;
      check(value, one, path, tried);
      if (tried.empty()) ++matching;
      else last = tried;
    }
    if (matching == 0) out.insert(out.end(), last.begin(), last.end());
    if (matching > 1) out.push_back(path + ": more than one of oneOf matches");
  }
  if (const json::value* some = words.if_contains("anyOf")) {
    std::vector<std::string> last;
    const bool fits = std::any_of(some->as_array().begin(), some->as_array().end(), [&](const json::value& one) {
      last.clear();
      check(value, one, path, last);
      return last.empty();
    });
    if (!fits) out.insert(out.end(), last.begin(), last.end());
  }
  if (const json::value* type = words.if_contains("type"); type && !has_some_type(value, *type))
    return out.push_back(path + ": is not " + json::serialize(*type));
  if (const json::value* all = words.if_contains("enum"))
    if (std::find(all->as_array().begin(), all->as_array().end(), value) == all->as_array().end())
      out.push_back(path + ": is not in the enum");
  if (value.is_number() && !value.is_double()) {
    if (const json::value* least = words.if_contains("minimum"); least && below(value, *least))
      out.push_back(path + ": below its minimum");
    if (const json::value* most = words.if_contains("maximum"); most && below(*most, value))
      out.push_back(path + ": above its maximum");
  }
  if (const json::value* pattern = words.if_contains("pattern"); pattern && value.is_string())
    if (!std::regex_match(std::string(value.as_string()), std::regex(std::string(pattern->as_string()))))
      out.push_back(path + ": does not match its pattern");
  if (const json::value* items = words.if_contains("items"); items && value.is_array())
    for (std::size_t i = 0; i < value.as_array().size(); ++i)
      check(value.as_array()[i], *items, fmt::format("{}[{}]", path, i), out);
  if (value.is_object()) check_object(value.as_object(), words, path, out);
}

void SchemaChecker::check_object(const json::object& value, const json::object& schema, const std::string& path,
                                 std::vector<std::string>& out) const {
  if (const json::value* required = schema.if_contains("required"))
    for (const auto& name : required->as_array())
      if (!value.contains(name.as_string())) out.push_back(path + ": lacks " + std::string(name.as_string()));
  if (const json::value* properties = schema.if_contains("properties"))
    for (const auto& [name, rule] : properties->as_object())
      if (const json::value* item = value.if_contains(name)) check(*item, rule, path + "." + std::string(name), out);
  if (const json::value* others = schema.if_contains("additionalProperties"); others && others->is_object())
    for (const auto& [name, item] : value) check(item, *others, path + "." + std::string(name), out);
  const json::value* parts = schema.if_contains("allOf");
  std::vector<std::string> names;
  bool open = !schema.contains("properties") && !parts;
  collect(schema, names, open);
  if (!open)
    for (const auto& [name, item] : value)
      if (std::find(names.begin(), names.end(), name) == names.end())
        out.push_back(path + ": has the undocumented member " + std::string(name));
  if (!parts) return;
  for (const auto& part : parts->as_array()) {
    std::vector<std::string> found;
    check(value, part, path, found);
    // What one part does not name, another may.
    for (const auto& fault : found)
      if (!fault.starts_with(path + ": has the undocumented")) out.push_back(fault);
  }
}

void SchemaChecker::collect(const json::object& schema, std::vector<std::string>& names, bool& open) const {
  if (const json::value* reference = schema.if_contains("$ref"))
    if (const json::value* target = resolve(reference->as_string())) collect(target->as_object(), names, open);
  if (const json::value* properties = schema.if_contains("properties"))
    for (const auto& [name, rule] : properties->as_object()) names.emplace_back(name);
  if (const json::value* parts = schema.if_contains("allOf"))
    for (const auto& part : parts->as_array()) collect(part.as_object(), names, open);
  if (const json::value* others = schema.if_contains("additionalProperties"); others && others->is_object()) open = true;
}

}  // namespace ff::test
