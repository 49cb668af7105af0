#include "server/decode.h"

namespace ff::server {
namespace {

const RawMember* find(const std::vector<RawMember>& raw, std::string_view name) {
  for (const auto& member : raw)
    if (member.name == name) return &member;
  return nullptr;
}

}  // namespace

core::Fault put_once(core::json::object& fields, std::string_view name, core::json::value value) {
  if (fields.emplace(name, std::move(value)).second) return std::nullopt;
  const std::string shown(name.substr(0, 140));
  return core::invalid_input(shown, "duplicate_member", fmt::format("'{}' is given twice; give it once.", shown));
}

Result<std::optional<Policy>> take_policy(Input& input) {
  const core::json::value* given = input.fields.if_contains("policy");
  if (!given) return std::nullopt;
  // In a body it is an object, in a query the text of one.
  const RawMember* raw = find(input.raw, "policy");
  auto policy = parse_policy(!raw && given->is_string() ? std::string(given->get_string()) : core::json::serialize(*given));
  if (!policy) return std::unexpected(policy.error());
  input.fields.erase("policy");
  return std::move(*policy);
}

Result<std::optional<Blob>> take_blob(Input& input, std::string_view name) {
  if (input.body) return std::move(input.body);
  const RawMember* raw = find(input.raw, name);
  if (!raw) return std::nullopt;
  std::optional<std::string> content_type;
  const core::json::value* given = input.fields.if_contains("content_type");
  if (given && given->is_string() && !given->get_string().empty()) content_type = std::string(given->get_string());
  auto blob = blob_of(name, raw->text, content_type);
  if (!blob) return std::unexpected(blob.error());
  input.fields.erase(name);
  return std::move(*blob);
}

Result<Input> input_of(core::json::value&& parsed, std::string_view text) {
  if (!parsed.is_object()) return std::unexpected(input_error({"", core::JsonFault::wrong_type, "a JSON object"}));
  Input input;
  input.fields = std::move(parsed.get_object());
  input.raw = raw_members(text);
  return input;
}

Result<Input> input_of(std::string_view text) {
  auto parsed = core::parse_json(text);
  if (!parsed) return std::unexpected(parsed.error());
  return input_of(std::move(*parsed), text);
}

}  // namespace ff::server
