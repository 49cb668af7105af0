#include "server/blob.h"

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
  // JSON that looks like the encoded form would be taken for it, and blanks around it would be lost: both are encoded.
  constexpr std::string_view kBlanks = " \t\r\n";
  const bool is_bare = !bytes.empty() && kBlanks.find(bytes.front()) == kBlanks.npos && kBlanks.find(bytes.back()) == kBlanks.npos;
  if (is_bare && media_type(content_type) == "application/json" && core::fits_into_json(bytes) && !encoded_text(bytes))
    return std::string(bytes);
  return fmt::format("{{\"base64\":\"{}\"}}", base64(bytes));
}

}  // namespace ff::server
