#include "server/schema.h"

#include "core/validate.h"

namespace ff::server {
namespace {

struct Bounds {
  std::string_view field;
  std::int64_t least;
  std::int64_t most;
};

constexpr Bounds kNumbers[] = {
    {"limit", 0, core::kPageMax},
    {"wait_ms", 0, core::kWaitMsMax},
    {"max", 1, core::kClaimMax},
    {"lease_ttl_ms", core::kLeaseTtlMsMin, core::kLeaseTtlMsMax},
    {"progress_pct", 0, 100},
};
constexpr Bounds kTexts[] = {
    {"lane_id", 1, core::kLaneBytesMax},        {"namespace", 1, core::kNameBytesMax},
    {"execution_kind", 1, core::kNameBytesMax}, {"worker_id", 1, core::kNameBytesMax},
    {"worker_instance_id", 1, core::kNameBytesMax}, {"reason", 0, core::kNameBytesMax},
    {"content_type", 0, core::kNameBytesMax},   {"creator_identity", 0, core::kNameBytesMax},
    {"category", 0, core::kNameBytesMax},       {"idempotency_key", 0, core::kIdempotencyKeyBytesMax},
};
constexpr Bounds kLists[] = {
    {"lanes", 0, core::kClaimLanesMax},
    {"kinds", 0, core::kClaimKindsMax},
};

template <std::size_t N>
void add(core::json::object& schema, std::string_view field, const Bounds (&table)[N], const char* least,
         const char* most) {
  for (const Bounds& bounds : table)
    if (bounds.field == field) {
      schema[least] = bounds.least;
      schema[most] = bounds.most;
    }
}

}  // namespace

std::string short_name(const std::string& type) {
  const std::size_t colon = type.rfind(':');
  return colon == std::string::npos ? type : type.substr(colon + 1);
}

core::json::value integer_schema(std::int64_t least, std::uint64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

core::json::value text_schema(std::string_view format) {
  core::json::object schema{{"type", "string"}};
  if (!format.empty()) schema["format"] = core::json::string(format);
  return schema;
}

core::json::value list_schema(core::json::value items) { return {{"type", "array"}, {"items", std::move(items)}}; }

core::json::value reference_to(std::string_view name) {
  return {{"$ref", core::json::string(fmt::format("#/components/schemas/{}", name))}};
}

core::json::value object_schema(const std::vector<SchemaField>& fields) {
  core::json::object properties;
  core::json::array required;
  for (const auto& field : fields) {
    properties[field.name] = field.schema;
    if (field.required) required.push_back(core::json::string(field.name));
  }
  core::json::object schema{{"type", "object"}};
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

void add_bounds(SchemaField& field) {
  core::json::object& schema = field.schema.as_object();
  const core::json::value* type = schema.if_contains("type");
  if (!type) return;
  if (*type == "integer") add(schema, field.name, kNumbers, "minimum", "maximum");
  if (*type == "string") add(schema, field.name, kTexts, "minLength", "maxLength");
  if (*type == "array") add(schema, field.name, kLists, "minItems", "maxItems");
}

}  // namespace ff::server
