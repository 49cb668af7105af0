#include "server/bearer.h"

namespace ff::server {

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

}  // namespace ff::server
