#include "client/blob.h"

#include "core/base64.h"

namespace ff::client {
namespace {

constexpr std::string_view kJson = "application/json";
/// A body has 64 levels at most, some of them above the payload.
constexpr std::size_t kDepthMax = 48;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// At least as deep as it really is: brackets within texts count too.
std::size_t depth_of(std::string_view json) {
  std::size_t depth = 0, deepest = 0;
  for (char c : json) {
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return deepest;
}

/// It can stand in a body as it is, and comes out of it as it was.
bool travels_as_text(std::string_view bytes) {
  if (bytes.empty() || is_blank(bytes.front()) || is_blank(bytes.back()) || depth_of(bytes) > kDepthMax) return false;
  const auto value = core::parse_json(bytes);
  return value && !is_encoded(*value);
}

}  // namespace

bool is_encoded(const core::json::value& value) {
  const core::json::object* object = value.if_object();
  return object && object->size() == 1 && object->contains("base64") && object->at("base64").is_string();
}

void add_blob(ObjectOut& object, std::string_view name, const Bytes& bytes, const std::optional<std::string>& content_type) {
  const bool says_json = !content_type || *content_type == kJson;
  if (says_json && travels_as_text(bytes)) {
    object.name(name) += bytes;
  } else {
    std::string& out = object.name(name);
    out += "{\"base64\":\"";
    out += core::base64(bytes);
    out += "\"}";
    if (!content_type) object.add("content_type", kJson);  // what it counts as when nobody says otherwise
  }
  object.add("content_type", content_type);
}

std::optional<Bytes> bytes_of(const core::json::value& value, std::string_view text) {
  if (!is_encoded(value)) return Bytes(text);
  const core::json::string& encoded = value.get_object().at("base64").get_string();
  return core::from_base64(std::string_view(encoded));
}

}  // namespace ff::client
