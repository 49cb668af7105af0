#include "server/admission.h"

namespace ff::server {
namespace {

constexpr std::size_t kPerHeaderBytes = 4;        ///< colon, space, end of line
constexpr std::size_t kPerRequestLineBytes = 12;  ///< spaces, version, end of line

std::uint64_t declared_bytes(const Headers& headers) {
  const std::string* length = find_header(headers, "Content-Length");
  std::uint64_t bytes = 0;
  if (length) {
    auto read = std::from_chars(length->data(), length->data() + length->size(), bytes);
    if (read.ec == std::errc::result_out_of_range) return UINT64_MAX;
  }
  return bytes;
}

core::Fault check_content_type(const Request& request) {
  const std::string* type = find_header(request.headers, "Content-Type");
  if (type && media_type(*type) == "application/json") return std::nullopt;
  return core::invalid_input("Content-Type", "wrong_type",
                             "This address takes JSON. Send it with the header Content-Type: application/json.");
}

core::Fault add_path(Input& input, const Match& match) {
  for (const auto& [name, text] : match.fields) {
    if (!input.fields.emplace(name, core::json::string(text)).second)
      return core::invalid_input(name, "unknown_field",
                                 fmt::format("'{}' is given by the path; leave it out of the body.", name));
  }
  return std::nullopt;
}

Result<Input> read_object(const Request& request) {
  if (request.body.empty()) return Input{};
  if (auto fault = check_content_type(request)) return std::unexpected(std::move(*fault));
  return input_of(request.body);
}

Result<Input> read_tags(const Request& request) {
  if (auto fault = check_content_type(request)) return std::unexpected(std::move(*fault));
  auto parsed = core::parse_json(request.body);
  if (!parsed) return std::unexpected(parsed.error());
  Input input;
  input.fields["tags"] = std::move(*parsed);
  return input;
}

Result<Input> read_bytes(Request& request) {
  Input input;
  const std::string* type = find_header(request.headers, "Content-Type");
  if (type || !request.body.empty())
    input.body = Blob{std::move(request.body), type ? *type : "application/octet-stream"};
  return input;
}

Result<Input> read_body(Body body, Request& request) {
  switch (body) {
    case Body::none: return Input{};
    case Body::object: return read_object(request);
    case Body::tags: return read_tags(request);
    case Body::bytes: return read_bytes(request);
  }
  return Input{};
}

}  // namespace

bool headers_fit(const Request& request, const Limits& limits) {
  if (request.headers.size() > kHeadersMax) return false;
  std::size_t bytes = request.method.size() + request.target.size() + kPerRequestLineBytes;
  for (const auto& [name, value] : request.headers) bytes += name.size() + value.size() + kPerHeaderBytes;
  return bytes <= limits.header_max_bytes;
}

core::Fault check_body_size(const Request& request, const Limits& limits) {
  const std::uint64_t bytes = std::max<std::uint64_t>(request.body.size(), declared_bytes(request.headers));
  if (bytes <= limits.body_max_bytes) return std::nullopt;
  return too_large(limits);
}

Error too_large(const Limits& limits) {
  return {ErrorCode::payload_too_large,
          fmt::format("The body has more than {} bytes, which are the most. Keep large data elsewhere and send a reference.",
                      limits.body_max_bytes),
          {{"limit_bytes", static_cast<std::int64_t>(limits.body_max_bytes)}}};
}

core::Fault check_scope(const Route& route, const Principal& principal) {
  if (!route.scope || principal.scopes.allows(*route.scope)) return std::nullopt;
  const std::string scope(name_of(*route.scope));
  return Error{ErrorCode::forbidden, fmt::format("This call needs a token with the scope '{}'.", scope),
               {{"required_scope", scope}}};
}

Error unauthorized() {
  return {ErrorCode::unauthorized,
          "This call needs a valid token: send the header Authorization: Bearer <token>. `ff token create` makes one.",
          {}};
}

Error draining() {
  return {ErrorCode::draining, "This server is shutting down. Repeat the call: another one, or the next, will serve it.", {}};
}

Result<std::optional<std::string>> idempotency_key(const Headers& headers) {
  const std::string* key = find_header(headers, "Idempotency-Key");
  if (!key) return std::nullopt;
  if (is_printable(*key, core::kIdempotencyKeyBytesMax)) return *key;
  return std::unexpected(core::invalid_input(
      "Idempotency-Key", "out_of_range",
      fmt::format("The header Idempotency-Key has to be 1 to {} printable characters.", core::kIdempotencyKeyBytesMax)));
}

Result<Input> read_input(const Route& route, const Match& match, const Target& target, Request& request) {
  auto key = idempotency_key(request.headers);
  if (!key) return std::unexpected(key.error());
  auto input = read_body(route.body, request);
  if (!input) return input;
  if (route.body == Body::object || route.body == Body::tags) {
    if (!target.query.empty())
      return std::unexpected(input_error({target.query[0].first, core::JsonFault::unknown_member, {}}));
  } else {
    input->query = target.query;
    if (route.body == Body::bytes)
      for (const auto& [name, text] : target.query)
        if (name == "content_type")
          return std::unexpected(core::invalid_input(name, "unknown_field",
                                                     "The header Content-Type labels the payload; leave it out of the query."));
  }
  const bool many = route.batch != Batch::none && input->fields.contains("items");
  if (*key && many)
    return std::unexpected(core::invalid_input("Idempotency-Key", "with_items",
                                               "Of many, each item has its own idempotency_key; leave out the header."));
  if (*key && route.takes_key) {
    const core::json::value* own = input->fields.if_contains("idempotency_key");
    if (own && *own != core::json::string(**key))
      return std::unexpected(core::invalid_input("idempotency_key", "conflict",
                                                 "The header and the field give different keys; give one of them."));
    input->fields["idempotency_key"] = core::json::string(**key);
  }
  if (many) return input;
  if (auto fault = add_path(*input, match)) return std::unexpected(std::move(*fault));
  return input;
}

std::uint64_t wait_ms_of(const Input& input) {
  std::uint64_t wait = 0;
  if (const core::json::value* given = input.fields.if_contains("wait_ms"); given && given->is_int64())
    wait = static_cast<std::uint64_t>(std::max<std::int64_t>(0, given->get_int64()));
  for (const auto& [name, text] : input.query)
    if (name == "wait_ms") std::from_chars(text.data(), text.data() + text.size(), wait);
  return std::min<std::uint64_t>(wait, core::kWaitMsMax);
}

}  // namespace ff::server
