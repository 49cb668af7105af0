#include "cli/blob.h"

#include "engine/handles.h"

namespace ff::cli {
namespace {

std::string base64(std::string_view bytes) {
  std::string text = engine::base64url(bytes);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

}  // namespace

core::json::value blob_value(const Blob& blob) {
  if (blob.content_type == "application/json") {
    boost::json::error_code error;
    auto parsed = core::json::parse(blob.bytes, error);
    if (!error) return parsed;
  }
  core::json::object object;
  object["base64"] = base64(blob.bytes);
  return object;
}

}  // namespace ff::cli
