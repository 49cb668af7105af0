#include "server/blob.h"

#include "engine/handles.h"
#include "server/http.h"
#include "server/json_text.h"

namespace ff::server {
namespace {

/// What stands under `base64`, if the JSON value is an object with this one member, a text.
std::optional<std::string> encoded_text(std::string_view json) {
  const auto member = sole_member(json);
  if (!member || member->name != "base64" || !member->text.starts_with('"')) return std::nullopt;
  return std::string(core::json::parse(member->text).as_string());
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text = engine::base64url(bytes);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.find_first_of("-_") != text.npos) return std::nullopt;  // the other alphabet
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string url(text);
  std::replace(url.begin(), url.end(), '+', '-');
  std::replace(url.begin(), url.end(), '/', '_');
  return engine::from_base64url(url);
}

Result<Blob> blob_of(std::string_view field, std::string_view json, const std::optional<std::string>& content_type) {
  const auto text = encoded_text(json);
  if (!text) return Blob{Bytes(json), content_type.value_or("application/json")};
  auto bytes = from_base64(*text);
  if (!bytes)
    return std::unexpected(
        core::invalid_input(fmt::format("{}.base64", field), "not_base64",
                            fmt::format("'{}.base64' is not base64 (RFC 4648, with padding).", field)));
  return Blob{std::move(*bytes), content_type.value_or("application/octet-stream")};
}

std::string blob_text(std::string_view bytes, std::string_view content_type) {
  // JSON that looks like the encoded form would be taken for it, so it is encoded.
  if (media_type(content_type) == "application/json" && core::fits_into_json(bytes) && !encoded_text(bytes))
    return std::string(bytes);
  return fmt::format("{{\"base64\":\"{}\"}}", base64(bytes));
}

}  // namespace ff::server
