#include "server/request_key.h"

#include "engine/handles.h"

#include <map>

namespace ff::server {
namespace {

constexpr std::string_view kField = "idempotency_key";
/// Where keys of callers stand that belong to no namespace.
constexpr std::string_view kNamespace = "default";

Error no_key(std::string_view field) {
  return core::invalid_input(field, "out_of_range",
                             fmt::format("'{}' has to be 1 to {} printable characters.", field,
                                         core::kIdempotencyKeyBytesMax));
}

}  // namespace

Result<std::optional<std::string>> take_key(const Route& route, Input& input, const Headers& headers) {
  if (route.method != "POST" || route.takes_key) return std::nullopt;
  std::optional<std::string> key;
  if (const core::json::value* field = input.fields.if_contains(kField)) {
    if (!field->is_string() || !is_printable(field->get_string(), core::kIdempotencyKeyBytesMax))
      return std::unexpected(no_key(kField));
    key = std::string(field->get_string());
    input.fields.erase(kField);
  }
  const std::string* header = find_header(headers, "Idempotency-Key");
  if (!header) return key;
  if (!is_printable(*header, core::kIdempotencyKeyBytesMax)) return std::unexpected(no_key("Idempotency-Key"));
  if (key && *key != *header)
    return std::unexpected(core::invalid_input(kField, "conflict",
                                               "The header and the field give different keys; give one of them."));
  return *header;
}

Bytes digest_of(const Input& input) {
  std::map<std::string_view, std::string> sorted;
  for (const auto& member : input.fields) sorted[member.key()] = core::json::serialize(member.value());
  std::string said;
  for (const auto& [name, value] : sorted) said.append(name).append(1, '\0').append(value).append(1, '\0');
  const auto digest = engine::sha256(said);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Ctx under_key(const Ctx& context, std::shared_ptr<core::RequestKey> key) {
  auto keyed = std::make_shared<Context>(*context);
  keyed->caller.key = std::move(key);
  keyed->backend = keyed->acting_for(keyed->caller);
  return keyed;
}

void run_call(const Route& route, const Ctx& context, Input input, const Headers& headers, Answer answer) {
  auto text = take_key(route, input, headers);
  if (!text) return answer(std::unexpected(text.error()));
  if (!*text) return route.run(context, std::move(input), std::move(answer));
  auto key = std::make_shared<core::RequestKey>();
  key->namespace_ = context->principal.namespace_.value_or(std::string(kNamespace));
  key->key = std::move(**text);
  key->digest = digest_of(input);
  auto told = [key, answer = std::move(answer)](Result<Reply> reply) mutable {
    if (reply && key->repeated) reply->replay = true;
    answer(std::move(reply));
  };
  route.run(under_key(context, key), std::move(input), std::move(told));
}

}  // namespace ff::server
