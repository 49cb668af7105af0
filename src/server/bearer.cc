#include "server/bearer.h"

#include "engine/handles.h"

namespace ff::server {
namespace {

using Digest = std::array<std::uint8_t, 32>;

bool is_same(const Digest& left, const Digest& right) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) difference |= static_cast<std::uint8_t>(left[i] ^ right[i]);
  return difference == 0;
}

}  // namespace

std::optional<std::string_view> bearer_token(const Headers& headers) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string* given = find_header(headers, "Authorization");
  if (!given || given->size() <= kScheme.size()) return std::nullopt;
  std::string_view text = *given;
  if (!same_word(text.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text.empty() ? std::nullopt : std::optional(text);
}

std::function<void(const Request&, Authenticated)> one_token(std::string_view token) {
  return [digest = engine::sha256(token)](const Request& request, Authenticated done) {
    const auto given = bearer_token(request.headers);
    if (!given || !is_same(engine::sha256(*given), digest)) return done(std::nullopt);
    Principal principal;
    principal.actor = "api_token";
    principal.name = "api_token";
    done(std::move(principal));
  };
}

}  // namespace ff::server
